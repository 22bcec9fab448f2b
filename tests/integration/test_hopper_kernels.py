"""Gluon, TMA and warp-specialised kernels compile for sm_90 with records, as they are launched.

What they record when they run is tested on a GPU, in tests/gpu/test_in_kernel_gluon.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proton.inkernel.compiler.compile_hook import KernelRecords, read_records
from tests.support.recording import absent_gpu, recording
from tests.support.wide import combinations

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

torch: Any = pytest.importorskip("torch")
pytest.importorskip("triton")

from tests.support.hopper_kernels import CASES, ORDINARY, PRODUCER  # noqa: E402

CALLBACKS = Path(__file__).parents[1] / "data" / "callbacks"
ON_ACCESS = f"call-at:file={CALLBACKS}/count_bytes.ll:function=count_bytes:buffer_bytes=16"
ON_BLOCK = f"call-at:file={CALLBACKS}/visits.ll:at=block:function=on_block:buffer_bytes=2048"
ALL = "default+ops+loops+mma+async-wait+memory"
FLUSH = "default:buffer_strategy=flush:buffer_type=global"
MODES = {
    **{name: name for name in ("loops", "cta", "bytes", "memory", ALL, "ops:buffer_type=global")},
    **{"flush": FLUSH, "on access": ON_ACCESS, "on block": ON_BLOCK},
}


@pytest.fixture(autouse=True)
def _compiles_for_an_absent_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    with absent_gpu():
        yield
    for case in CASES.values():
        case.kernel.device_caches.clear()


@cache
def compiled(name: str, mode: str) -> tuple[KernelRecords | None, tuple[str, ...]]:
    """What a kernel records, and the warnings; compiled once for all tests."""
    prepared = (CASES[name].prepare if name in CASES else ORDINARY[name])(torch, "cpu")
    with recording(mode) as warnings:
        kernel = prepared.compile()
    assert kernel.asm["cubin"]
    return read_records(kernel.metadata), tuple(warnings)


def regions_of(name: str, mode: str) -> dict[str, dict[str, Any]]:
    """The regions of a kernel, by name."""
    records, warnings = compiled(name, mode)
    assert warnings == ()
    assert records is not None
    return {region["name"]: region for region in records.record_map["regions"]}


# Every mode meets the kernel that has most in it, and every kernel all kinds of records at once.
@pytest.mark.parametrize(
    ("name", "title"),
    combinations(
        CASES, MODES, kept=lambda name, title: name == "gluon_specialized" or title == ALL
    ),
)
def test_each_mode_records_each_kernel(name: str, title: str) -> None:
    mode = MODES[title]
    records, warnings = compiled(name, mode)
    if name == "specialized" and "default" in mode:
        (warning,) = warnings
        assert "automatic warp specialisation drops the regions 'store'" in warning
        assert (records is None) == (mode == FLUSH), "the rest is recorded"
        return
    assert warnings == ()
    assert records is not None
    assert records.num_warps == CASES[name].warps


@pytest.mark.parametrize("mode", ["bytes", "memory", ON_ACCESS, ON_BLOCK])
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_kernels_compile_with_their_memory_watched(name: str, mode: str) -> None:
    records, warnings = compiled(name, mode)
    assert warnings == ()
    assert records is not None


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.scopes])
def test_scopes_of_the_source_are_nested_as_written(name: str) -> None:
    case, regions = CASES[name], regions_of(name, "default")
    values = {found for found, region in regions.items() if region["kind"] == "value"}
    assert set(regions) - values == set(case.scopes)
    listed = list(regions)
    for inner, outer in case.parents.items():
        assert listed[regions[inner]["parent"]] == outer


@pytest.mark.parametrize(
    ("name", "mode", "kinds"),
    [
        ("gluon_rows", "ops", {"load", "store", "barrier"}),
        ("gluon_tma", "ops", {"copy", "wait", "dot"}),
        ("gluon_tma", "ops:ops=wait,shared", {"wait", "shared"}),
        ("gluon_specialized", "ops", {"copy", "wait", "dot"}),
        ("gluon_specialized", "mma", {"mma", "wait"}),
        ("gluon_specialized", "async-wait", {"copy", "wait", "iteration"}),
        ("made_on_device", "ops", {"copy", "wait", "dot"}),
        ("made_on_host", "ops", {"copy", "wait", "dot", "store"}),
        ("made_on_host", "mma", {"mma", "wait"}),
        ("made_on_host", "async-wait", {"copy", "wait", "iteration"}),
        ("specialized", "ops", {"copy", "wait", "dot", "store", "barrier"}),
    ],
)
def test_operations_are_found(name: str, mode: str, kinds: set[str]) -> None:
    assert {region["kind"] for region in regions_of(name, mode).values()} == kinds


@pytest.mark.parametrize("mode", ["mma", "async-wait"])
def test_a_kernel_without_such_operations_stays_plain(mode: str) -> None:
    assert compiled("gluon_rows", mode) == (None, ())


@pytest.mark.parametrize("mode", ["bytes", "memory"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_read_by_descriptor_is_counted_at_its_barrier(name: str, mode: str) -> None:
    records, _ = compiled(name, mode)
    assert records is not None
    counters = records.record_map["counters"]
    assert {site["kind"] for site in counters} == set(CASES[name].moved)
    # descriptors are several parameters of the compiled kernel, which moves the numbers of others
    tensors = {site["kind"]: site["tensor"] for site in counters}
    assert tensors == {kind: CASES[name].tensors.get(kind, "") for kind in CASES[name].moved}


@pytest.mark.parametrize(
    ("name", "leaders"), [("gluon_specialized", [0, PRODUCER]), ("specialized", [0, 4, 8])]
)
def test_the_first_warp_of_each_partition_records_for_its_group(
    name: str, leaders: list[int]
) -> None:
    records, warnings = compiled(name, "ops:granularity=warp_group")
    assert warnings == ()
    assert records is not None
    assert records.record_map["warps"] == leaders
