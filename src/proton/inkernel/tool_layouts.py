"""How the buffers of a tool's kernels are read: what our passes write, or bytes as they are.

A layout of one's own is any object with `read(buffer)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from proton._native import DeviceBuffer
from proton.inkernel.ir.layout import Geometry, RecordMap
from proton.inkernel.memory_counts import MemoryReport, TensorRange, read_memory, recorded_ctas


class RecordLayout(Protocol):
    """Turns the bytes that a launch left into what a tool works with."""

    def read(self, buffer: ToolBuffer) -> Any:
        """What stands in the buffer; raises UsageError where it cannot be one of these."""


@dataclass(frozen=True)
class ToolBuffer:
    """What one launch of a kernel left, as it came from the GPU.

    Attributes:
        kernel: Its name.
        data: The whole buffer: bytes or alike.
        record_map: What the passes say of it, as in the compiled kernel's metadata.
        grid_ctas: CTAs of the launch.
        layout: The tool's.
        tensors: Memory that the kernel was given, where that is known.
    """

    kernel: str
    data: Any
    record_map: RecordMap
    grid_ctas: int
    layout: RecordLayout
    tensors: tuple[TensorRange, ...] = ()

    @cached_property
    def contents(self) -> Any:
        """The buffer as the tool's layout reads it."""
        return self.layout.read(self)


@dataclass(frozen=True)
class Region:
    """Passages of one region, with what its kernel's record map says of it."""

    name: str
    kind: str
    file: str
    line: int
    count: int
    cycles: float


@dataclass(frozen=True)
class Span:
    """One passage, mark or value on the device's clock, in nanoseconds."""

    name: str
    kind: str
    cta: int
    warp: int
    sm: int
    start_ns: int
    end_ns: int
    value: int | float | None


@dataclass(frozen=True)
class Records:
    """Records of one launch, by region and one by one."""

    regions: tuple[Region, ...]
    spans: tuple[Span, ...]
    losses: Mapping[str, int]


@dataclass(frozen=True)
class RecordsLayout:
    """Records that passes put into the kernel, in rings: regions, marks and values."""

    def read(self, buffer: ToolBuffer) -> Records:
        """The records of all warps, those that closed their buffers."""
        found = buffer.record_map
        geometry = Geometry(
            recorded_ctas(found, buffer.grid_ctas), len(found["warps"]), found["ring_bytes"]
        )
        decoded = DeviceBuffer.decode(buffer.data, geometry, found, spans=True)
        regions, warps = found["regions"], decoded.warps()
        summaries = decoded.regions()

        def described(context: int) -> Mapping[str, Any]:
            region: Mapping[str, Any] = regions[summaries[context].region]
            return region

        return Records(
            regions=tuple(
                Region(
                    name=described(at)["name"],
                    kind=described(at)["kind"],
                    file=described(at)["file"],
                    line=described(at)["line"],
                    count=each.count,
                    cycles=each.cycles,
                )
                for at, each in enumerate(summaries)
            ),
            spans=tuple(
                Span(
                    described(context)["name"],
                    described(context)["kind"],
                    *(warps[warp].cta, warps[warp].warp, warps[warp].sm, start, end, value),
                )
                for context, warp, _, start, end, value in decoded.spans()
            ),
            losses=decoded.losses(),
        )


@dataclass(frozen=True)
class MemoryLayout:
    """Counters of memory accesses and, with `record-memory`, the table of address bins."""

    def read(self, buffer: ToolBuffer) -> MemoryReport:
        """What the launch did to memory."""
        return read_memory(buffer.data, buffer.record_map, buffer.grid_ctas, buffer.tensors)


@dataclass(frozen=True)
class BytesLayout:
    """Bytes that callbacks or passes of the tool's own wrote, `cta_bytes` for each CTA."""

    cta_bytes: int

    def read(self, buffer: ToolBuffer) -> bytes:
        """They, as they are; what is Proton's own stands before them."""
        start = buffer.record_map.get("callback_offset", 0) * buffer.grid_ctas
        end = start + self.cta_bytes * buffer.grid_ctas
        return bytes(memoryview(buffer.data).cast("B")[start:end])
