"""Buffers that tools read, and counts of memory accesses, taken as they come."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from proton.backends.instrumentation import kept_buffers
from proton.backends.instrumentation.kept_buffers import KeptBuffers, LaunchNote, MemorySum
from proton.backends.instrumentation.loaded_kernels import LoadedKernel, ProbeCost
from proton.inkernel.compiler.compile_hook import KernelRecords
from proton.inkernel.memory_counts import MemoryReport, TensorHeat
from proton.inkernel.tool import Tool
from proton.inkernel.tool_layouts import BytesLayout, RecordLayout, ToolBuffer

NO_SESSION: Any = None

GOT: list[ToolBuffer] = []


@dataclass(frozen=True)
class Taker(Tool):
    name: str = field(default="taker", init=False)
    passes: ClassVar[Any] = ("record-ctas",)
    layout: ClassVar[RecordLayout] = BytesLayout(2)

    def on_buffer(self, buffer: ToolBuffer) -> None:
        if buffer.data == b"bad!":
            raise ValueError("spoilt")
        GOT.append(buffer)


def kernel(record_map: dict[str, Any], *tools: Tool) -> LoadedKernel:
    records = KernelRecords("taker", 0, 2, 128, record_map, 4, {})
    return LoadedKernel(5, "k", 1, records, ProbeCost(), tools)


def take(monkeypatch: pytest.MonkeyPatch, loaded: LoadedKernel, *data: bytes) -> list[str]:
    """Have these buffers taken; the warnings."""
    key = (0, 5, 0, False, 0)
    kept = [{"kernel": 5, "note": 0, "grid_ctas": 2, "key": key, "data": each} for each in data]
    recorder = SimpleNamespace(take_kept=lambda sink: kept)
    monkeypatch.setattr(kept_buffers, "_native", SimpleNamespace(InKernel=recorder))
    warnings: list[str] = []
    buffers = KeptBuffers(lambda number: loaded, lambda number: LaunchNote(), warnings.append)
    buffers.take(NO_SESSION)
    assert (buffers.memory_of(key) is not None) == loaded.has_memory
    buffers.forget_phase(0)
    assert buffers.memory_of(key) is None
    return warnings


def test_a_tool_may_flush_when_it_gets_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """`deactivate(flushing=True)` in there once waited for ever."""
    kept = [{"kernel": 5, "note": 0, "grid_ctas": 2, "key": (0, 5, 0, False, 0), "data": b"one!"}]
    left = [kept, []]
    recorder = SimpleNamespace(take_kept=lambda sink: left.pop(0))
    monkeypatch.setattr(kept_buffers, "_native", SimpleNamespace(InKernel=recorder))
    loaded = kernel({}, Taker())
    buffers = KeptBuffers(lambda number: loaded, lambda number: LaunchNote(), lambda text: None)
    monkeypatch.setattr(Taker, "on_buffer", lambda tool, buffer: buffers.take(NO_SESSION))
    taking = threading.Thread(target=buffers.take, args=(None,), daemon=True)
    taking.start()
    taking.join(10)
    assert not taking.is_alive()
    assert left == []


def test_a_tool_gets_every_buffer_though_it_fails_on_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    GOT.clear()
    with caplog.at_level(logging.WARNING, "proton"):
        assert take(monkeypatch, kernel({}, Taker()), b"one!", b"bad!", b"two!") == []
    assert [each.contents for each in GOT] == [b"one!", b"two!"]
    assert [(each.kernel, each.grid_ctas) for each in GOT] == [("k", 2), ("k", 2)]
    assert "spoilt" in caplog.text


def test_a_buffer_that_is_too_short_for_its_counters_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = {"name": "load", "kind": "load", "file": "k.py", "line": 1, "argument": 0, "bytes": 4}
    record_map = {"counters": [site], "counter_bytes": 16, "warps": [0], "ring_bytes": 0}
    (warning,) = take(monkeypatch, kernel(record_map), b"short")
    assert "what kernel 'k' counted cannot be read" in warning


def heat(bin_bytes: int, *bins: int) -> MemoryReport:
    """A launch that accessed one tensor, 4 bytes at a time."""
    count = sum(bins)
    spread = tuple(4 * each for each in bins)
    tensor = TensorHeat("x", 4 * count, 4 * count, 0, count, 4096, bin_bytes, bins, spread)
    return MemoryReport(heat=(tensor,))


def test_heat_maps_of_a_tensor_that_changes_its_size_are_summed_in_the_coarser_bins() -> None:
    total = MemorySum()
    for report in (heat(64, 1, 2, 3, 4, 5), heat(256, 10, 20, 30), heat(64, 7)):
        total.add(report)
    x = total.heat["x"]
    assert (x.bin_bytes, x.bins) == (256, (10 + 10 + 7, 5 + 20, 30))
    assert x.byte_bins == tuple(4 * each for each in x.bins)
    assert (x.accesses, x.bytes) == (sum(x.bins), sum(x.byte_bins)) == (82, 328)


def test_heat_maps_of_a_tensor_that_gets_longer_keep_their_bins() -> None:
    total = MemorySum()
    for report in (heat(64, 1, 2), heat(64, 1, 1, 1)):
        total.add(report)
    assert (total.heat["x"].bin_bytes, total.heat["x"].bins) == (64, (2, 3, 1))
