"""Buffers of launches on the fake driver: where they are, and what others than the recorder read in
them (memory and tools).
"""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

import proton
from proton import _native
from proton.inkernel.tool import Tool
from proton.inkernel.tool_layouts import RecordLayout, RecordsLayout, ToolBuffer
from tests.support.recorded_softmax import ROWS, WARPS, launch_softmax, read, softmax

torch = pytest.importorskip("torch")

TAKEN: list[ToolBuffer] = []


@dataclass(frozen=True)
class Taker(Tool):
    """Keeps what it is given."""

    name: str = field(default="taker", init=False)
    passes: ClassVar[Any] = ("record-around-ops",)
    layout: ClassVar[RecordLayout] = RecordsLayout()

    def on_buffer(self, buffer: ToolBuffer) -> None:
        TAKEN.append(buffer)


def test_accesses_to_memory_are_listed_by_line_and_argument(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation", mode="bytes")
    launch_softmax()
    proton.finalize(session)
    _, (entry,) = read()
    assert [(each["kind"], each["tensor"]) for each in entry["accesses"]] == [
        ("load", "x_ptr"),
        ("store", "y_ptr"),
    ]
    names = [each["name"].partition("@")[0] for each in entry["accesses"]]
    assert names == ["load x_ptr", "store y_ptr"]
    assert entry["launches"] == 1


def test_counters_begin_at_zero_in_memory_that_a_smaller_launch_had(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation", mode="memory")
    x = torch.zeros(ROWS, 64)
    for warps in (1, 16):
        softmax[(ROWS,)](x, x, 64, B=64, num_warps=warps)
        proton.deactivate(session, flushing=True)  # the buffer is free again
        proton.activate(session)
    proton.finalize(session)
    for entry in read()[1]:  # the fake kernel counts nothing; its driver's memory is not zero
        assert [each["accesses"] for each in entry["accesses"]] == [0, 0]
        assert {each["bytes"] for each in entry["heat"]} <= {0}


def test_a_tool_gets_the_buffers_of_its_kernel(launches: Any) -> None:
    TAKEN.clear()
    proton.instrument(softmax, mode=Taker())
    session = proton.start("run", backend="instrumentation", mode="cta")
    launch_softmax()
    launch_softmax()
    proton.finalize(session)
    proton.restore(softmax)
    assert [each.kernel for each in TAKEN] == ["softmax", "softmax"]
    assert TAKEN[0].grid_ctas == ROWS
    assert {region.count for region in TAKEN[0].contents.regions} == {ROWS * WARPS}
    assert [each.name for each in TAKEN[0].tensors] == ["x_ptr", "y_ptr"]


def test_only_launches_whose_rings_the_host_empties_record_into_its_memory(
    launches: Any, monkeypatch: Any
) -> None:
    """Behind one such kernel all others once did, too, for the rest of the process."""
    asked: list[bool] = []

    class Recorder(_native.InKernel):
        @staticmethod
        def allocate(
            bytes: int, alignment: int, stream: int, *, in_host_memory: bool = False
        ) -> int:
            asked.append(in_host_memory)
            return original.allocate(bytes, alignment, stream, in_host_memory=in_host_memory)

    original = _native.InKernel
    monkeypatch.setattr(_native, "InKernel", Recorder)
    flushing = "ops:buffer_strategy=flush:buffer_type=global"
    for mode in ("ops:buffer_type=global", flushing, "ops:buffer_type=global", "cta", flushing):
        session = proton.start("run", backend="instrumentation", mode=mode)
        launch_softmax()
        proton.finalize(session)
    assert asked == [False, True, False, False, True]


def test_tensors_live_no_longer_for_having_been_launched_with(launches: Any) -> None:
    """Once a kernel counted accesses, the last tensors of other kernels stayed for good."""
    for mode in ("bytes", "ops"):
        x = torch.zeros(ROWS, 64)
        session = proton.start("run", backend="instrumentation", mode=mode)
        softmax[(ROWS,)](x, torch.empty_like(x), 64, B=64, num_warps=WARPS)
        proton.finalize(session)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None
