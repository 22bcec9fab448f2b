"""The compile hook: what compiled kernels say of their records, and Triton's caches."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import triton

from proton import _triton
from proton.inkernel.compiler.compile_hook import (
    CompileHook,
    KernelRecords,
    read_records,
    read_warnings,
)
from proton.inkernel.modes.mode_table import MODES
from tests.support.kernels import compiled, matmul, softmax
from tests.support.recording import recording
from tests.support.wide import combinations

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

BLOCKS = {"BM": 128, "BN": 128, "BK": 64}
MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
ROWS = {"x": "*fp32", "y": "*fp32", "n": "i32"}


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


def _matmul(target: str = "90") -> Any:
    return compiled(matmul, MATRICES, BLOCKS, target)


def _softmax(target: str = "90") -> Any:
    return compiled(softmax, ROWS, {"BLOCK": 1024}, target)


def _records(kernel: Any) -> KernelRecords:
    found = read_records(kernel.metadata)
    assert found is not None, read_warnings(kernel.metadata)
    return found


TARGETS = ("80", "90", "100", "gfx90a", "gfx942", "gfx950")
USUAL = ("90", "gfx942")


@pytest.mark.parametrize("target", combinations(TARGETS, kept=USUAL.__contains__))
def test_kernels_are_compiled_with_records_for_every_target(target: str) -> None:
    with recording("ops+loops") as warnings:
        kernel = _matmul(target)
    assert warnings == []
    records = _records(kernel)
    assert records.mode == "ops+loops"
    assert records.num_warps == 4
    kinds = {region["kind"] for region in records.record_map["regions"]}
    assert {"loop", "iteration", "store"} <= kinds
    assert kernel.metadata.profile_scratch_size == records.scratch_bytes
    assert kernel.metadata.profile_scratch_align == records.scratch_align
    text = kernel.asm["ptx" if target.isdecimal() else "amdgcn"]
    assert "proton.record" not in text, "every record is lowered"
    assert kernel.asm["cubin" if target.isdecimal() else "hsaco"]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "call-at"])  # needs a file
def test_every_mode_compiles(mode: str) -> None:
    with recording(mode) as warnings:
        kernel = _matmul()
    assert warnings == []
    if mode == "default":  # the kernel names no scope
        assert read_records(kernel.metadata) is None
        assert kernel.metadata.profile_scratch_size == 0
    else:
        assert _records(kernel).mode == mode


@pytest.mark.parametrize("target", USUAL)
@pytest.mark.parametrize("mode", ["loops+memory", "ops+cta+bytes", "default+mma+async-wait"])
def test_modes_compile_together(mode: str, target: str) -> None:
    with recording(mode) as warnings:
        kernel = _matmul(target)
    assert warnings == []
    assert set(_records(kernel).mode.split("+")) == set(mode.split("+"))


def test_a_cta_writes_one_header_in_mode_cta() -> None:
    with recording("cta"):
        records = _records(_matmul())
    assert records.scratch_bytes == 64
    assert records.record_map["warps"] == [0]
    assert records.record_map["regions"] == []


@pytest.mark.parametrize(
    "options",
    [
        "granularity=warp_2",
        "granularity=warp_group",
        "sampling_strategy=selective:sampling_options=0,2",
        "granularity=cta:sampling_strategy=selective:sampling_options=3",
        "buffer_strategy=flush:buffer_type=global",
        "buffer_strategy=flush:buffer_size=4096",
        "buffer_type=shared:buffer_size=2048",
        "optimizations=time_shift,sched_stores,sched_barriers,clock32",
    ],
)
@pytest.mark.parametrize("target", USUAL)
def test_every_option_reaches_the_kernel(options: str, target: str) -> None:
    with recording(f"ops:{options}") as warnings:
        map_ = _records(_softmax(target)).record_map
    assert warnings == []
    if "warp_2" in options or "0,2" in options:
        assert map_["warps"] == [0, 2]
    if options.startswith("granularity=cta"):
        assert (map_["ctas"], map_["warps"]) == ([3], [0])
    if "flush" in options:
        assert map_["strategy"] == "flush"
        assert map_["memory"] == ("global" if "global" in options else "shared")
    if "buffer_size=2048" in options:
        assert (map_["memory"], map_["stage_bytes"]) == ("shared", 512)
    if "time_shift" in options:
        assert map_["time_shift"] is True


def test_caches_never_mix_plain_and_recorded_kernels() -> None:
    plain = _softmax()
    with recording("ops"):
        recorded, again = _softmax(), _softmax()
    with recording("ops:buffer_type=global"):
        elsewhere = _softmax()
    after = _softmax()
    assert len({plain.hash, recorded.hash, elsewhere.hash}) == 3
    assert (again.hash, after.hash) == (recorded.hash, plain.hash)
    assert after.asm["cubin"] == plain.asm["cubin"]
    assert read_records(after.metadata) is None
    assert _records(again) == _records(recorded)
    assert _records(elsewhere).record_map["memory"] == "global"


def test_a_kernel_with_nothing_to_record_is_the_plain_one() -> None:
    plain = _softmax()
    with recording("default"):
        asked = _softmax()
    assert asked.asm["cubin"] == plain.asm["cubin"]


def test_rings_that_would_cost_a_cta_go_to_global_memory() -> None:
    with recording("ops"):
        kernel = _matmul("gfx942")  # 32 of 64 KiB: a second CTA has no room for rings beside it
    assert _records(kernel).record_map["memory"] == "global"
    with recording("ops:buffer_size=4096"):
        kernel = _matmul("gfx942")
    assert _records(kernel).record_map["memory"] == "shared", "whoever gives a size means it"


def test_options_of_the_kernel_stay_as_they_were() -> None:
    from triton.compiler import ASTSource

    from tests.support.kernels import target_of

    source = ASTSource(softmax, {**ROWS, "BLOCK": "constexpr"}, {"BLOCK": 1024})
    with recording("ops"):
        kernel = triton.compile(source, target=target_of("90"), options={"maxnreg": 64})
    assert kernel.metadata.maxnreg == 64
    assert ".maxnreg 64" in kernel.asm["ptx"]
    assert kernel.metadata.instrumentation_mode == ""


def test_a_hook_of_the_programs_is_called_first_and_is_back_afterwards() -> None:
    seen: list[object] = []

    def theirs(self=None, stages=None, options=None, language=None, capability=None):  # type: ignore[no-untyped-def]
        seen.append(stages)
        return ("theirs", "theirs") if stages is None else None

    knobs = triton.knobs.runtime
    with knobs.scope():
        knobs.add_stages_inspection_hook = theirs
        with recording("ops"):
            key, digest = knobs.add_stages_inspection_hook()
            _records(_softmax())
        assert knobs.add_stages_inspection_hook is theirs
    assert any(stages is not None for stages in seen)
    assert key.startswith("theirs-proton-")
    assert digest.startswith("theirs")


def test_a_hook_that_somebody_put_over_ours_stays() -> None:
    knobs = triton.knobs.runtime
    with knobs.scope():
        hook = CompileHook(lambda text: None)
        hook.install()
        knobs.add_stages_inspection_hook = other = lambda *args: ("", "")
        hook.remove()
        assert knobs.add_stages_inspection_hook is other


def test_tritons_own_instrumentation_goes_first_where_it_has_our_place() -> None:
    if _triton.version_pair() >= (3, 7):
        pytest.skip("keys have a place of their own from 3.7 on")
    knobs = triton.knobs.compilation
    with knobs.scope(), recording("ops") as warnings:
        knobs.instrumentation_mode = "theirs"
        assert knobs.instrumentation_mode == "theirs"
        kernel = _softmax()
    assert read_records(kernel.metadata) is None
    assert warnings == [
        "kernels are compiled without records: Triton's own instrumentation 'theirs' is on; "
        "switch it off (TRITON_INSTRUMENTATION_MODE)"
    ]


def test_metadata_without_records_or_of_another_version_has_none() -> None:
    kind = namedtuple("kind", ["proton"])
    assert read_records({}) is None
    assert read_records(object()) is None
    assert read_records(kind('{"version":99}')) is None
    assert read_warnings({}) == ()
