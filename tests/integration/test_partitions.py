"""Partitions of one, two and four warps: each has rows of its own, in every granularity."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import proton
import proton.language as pl
from proton.inkernel.compiler import stages
from proton.inkernel.compiler.compile_hook import KernelRecords, read_records
from proton.inkernel.llvm import allocation
from tests.support.kernels import compiled
from tests.support.llvm_walk import Walk
from tests.support.recording import recording

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")  # Triton 3.9's own

STARTS = [0, 4, 8, 10]  # Triton numbers larger partitions first; one warp fills up the last group
WARPS = 12


@gluon.jit
def partition(x, name: gl.constexpr, first: gl.constexpr, warps: gl.constexpr):
    at = first + gl.arange(0, 128, gl.BlockedLayout([1], [32], [warps], [0]))
    for turn in range(10):
        with pl.scope(name):
            gl.store(x + at, gl.load(x + at) + turn)


@gluon.jit
def partitioned(x):
    gl.warp_specialize(
        [
            (partition, (x, "four", 0, 4)),
            (partition, (x, "one", 1000, 1)),
            (partition, (x, "two", 2000, 2)),
            (partition, (x, "four more", 3000, 4)),
        ],
        [1, 2, 4],
        [24, 24, 24],
    )


def compile_partitions(mode: str, target: str = "90") -> tuple[KernelRecords, str]:
    """What the kernel records, and its LLVM text."""
    with recording(mode) as warnings:
        kernel = compiled(partitioned, {"x": "*fp32"}, {}, target)
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    assert records.num_warps == WARPS
    return records, kernel.asm["llir"]


def streams(text: str, cta: int = 0) -> dict[int, int]:
    """Warp that records -> its slot in the buffer, as the kernel's own code says."""
    warp = 0
    primitives: dict[str, Any] = {
        "__proton_warp": lambda: warp,
        "__proton_lane": lambda: 0,
        "__proton_cta": lambda: cta,
        "llvm.ctpop.i64": int.bit_count,
    }
    walk = Walk(text, primitives)
    found: dict[int, int] = {}
    for warp in range(WARPS):
        if walk.call("__proton_lead"):
            slot = walk.call("__proton_slot")
            assert slot is not None
            found[warp] = slot
    return found


@pytest.mark.parametrize("target", ["90", "100"])
@pytest.mark.parametrize("kind", ["shared", "global", "global:buffer_strategy=flush"])
def test_each_partition_has_a_leader_with_a_slot_of_its_own(target: str, kind: str) -> None:
    records, text = compile_partitions(f"default:granularity=warp_group:buffer_type={kind}", target)
    assert records.record_map["warps"] == STARTS
    assert streams(text) == {0: 0, 4: 1, 8: 2, 10: 3}
    assert streams(text, cta=2) == {0: 8, 4: 9, 8: 10, 10: 11}


@pytest.mark.parametrize(
    ("granularity", "leaders"),
    [
        ("warp", list(range(WARPS))),
        ("warp_2", [0, 2, 4, 6, 8, 10]),
        ("warp_4", STARTS),
        ("warp_group_2", STARTS),
        ("cta", [0]),
    ],
)
def test_units_of_every_size_begin_anew_in_each_partition(
    granularity: str, leaders: list[int]
) -> None:
    records, text = compile_partitions(f"default:granularity={granularity}")
    assert records.record_map["warps"] == leaders
    assert streams(text) == {warp: slot for slot, warp in enumerate(leaders)}


def test_partitions_are_chosen_by_their_place_among_all() -> None:
    sampled = "default:granularity=warp_group:sampling_strategy=selective:sampling_options=2,3"
    records, text = compile_partitions(sampled)
    assert records.record_map["warps"] == [8, 10]
    assert streams(text) == {8: 0, 10: 1}
    records, _ = compile_partitions("default:granularity=warp_group:buffer_size=4096")
    assert records.record_map["ring_bytes"] == 1024, "a part for each of four"


def test_callbacks_in_all_blocks_make_no_partition_of_warps_that_wait() -> None:
    file = Path(__file__).parents[1] / "data" / "callbacks" / "visits.ll"
    on_block = f"call-at:file={file}:at=block:function=on_block:buffer_bytes=2048"
    records, _ = compile_partitions(f"default:granularity=warp_group+{on_block}")
    assert records.record_map["warps"] == STARTS


def test_a_trace_has_a_lane_for_every_partition(launches: Any) -> None:
    torch = pytest.importorskip("torch")
    mode = "default:granularity=warp_group"
    session = proton.start("run", backend="instrumentation", data="trace", mode=mode)
    partitioned[(2,)](torch.zeros(4000), num_warps=4)
    proton.finalize(session)
    trace = json.loads(Path("run.chrome_trace").read_bytes())
    lanes = {
        (each["pid"], each["tid"])
        for each in trace["traceEvents"]
        if str(each.get("tid")).startswith("warp ") and "dur" in each
    }
    assert lanes == {
        (f"partitioned Core{cta} CTA{cta}", f"warp {warp} (line 0)")
        for cta in range(2)
        for warp in STARTS
    }
    (entry,) = trace["proton"]["in_kernel"]
    assert entry["recorded_warps"] == 2 * len(STARTS)
    assert entry["losses"] == {}


def test_partitions_that_cannot_be_read_are_said_and_the_kernel_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (stages, allocation):
        monkeypatch.setattr(module, "find_partitions", lambda kernel: ())
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with recording("default:granularity=warp_group") as warnings:
        kernel = compiled(partitioned, {"x": "*fp32"}, {}, "90")
    (warning,) = warnings
    assert warning.startswith("kernel 'partitioned': which warps its partitions have cannot be")
    assert warning.endswith("use granularity=warp")
    records = read_records(kernel.metadata)
    assert records is not None
    assert records.record_map["warps"] == [0, 4, 8]
    with recording("default") as warnings:
        compiled(partitioned, {"x": "*fp32"}, {}, "90")
    assert warnings == [], "every warp records"
