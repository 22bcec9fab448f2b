"""Buffers that others than the recorder read, too: counts of memory accesses, and tools.

One for each session; buffers are taken whenever it flushes, and in between by `flush_soon`.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from proton import _native
from proton.backends.instrumentation.loaded_kernels import LoadedKernel
from proton.errors import UsageError
from proton.inkernel.memory_counts import (
    AccessCount,
    MemoryReport,
    TensorHeat,
    TensorRange,
    read_memory,
)
from proton.inkernel.tool import Tool, deliver
from proton.inkernel.tool_layouts import ToolBuffer
from proton.model.in_kernel import FirstAddress

MOST_FIRST_OF_SITE = 64  # first addresses that are kept of one place of a kernel
MOST_FIRST = 1024  # of all its places

Key = tuple[int, int, int, bool, int]  # phase, kernel, context, whether captured, device


@dataclass(frozen=True)
class LaunchNote:
    """What was known of a launch when it was made."""

    tensors: tuple[TensorRange, ...] = ()
    tools: tuple[Tool, ...] = ()  # that get its buffer


@dataclass(frozen=True)
class FirstAddresses:
    """Where the warps of one launch began at one place of a kernel, some of them."""

    found: tuple[FirstAddress, ...] = ()
    warps: int = 0  # that came there


@dataclass
class MemorySum:
    """What all launches of a kernel in one context did to memory; first addresses of the last."""

    sites: list[AccessCount] = field(default_factory=list)
    heat: dict[str, TensorHeat] = field(default_factory=dict)
    losses: Counter[str] = field(default_factory=Counter)
    uncovered: Mapping[str, int] = field(default_factory=dict)
    _last: tuple[MemoryReport, Sequence[TensorRange]] = (MemoryReport(), ())

    def add(self, report: MemoryReport, tensors: Sequence[TensorRange] = ()) -> None:
        """Count one launch more; heat maps of tensors that grow get coarser bins."""
        self._last = report, tensors
        before: list[AccessCount | None] = [*self.sites] or [None] * len(report.counters)
        self.sites = [_sum(old, new) for old, new in zip(before, report.counters, strict=True)]
        for each in report.heat:
            self.heat[each.tensor] = _sum_heat(self.heat.get(each.tensor), each)
        self.losses.update({name: count for name, count in report.losses.items() if count})
        self.uncovered = report.uncovered

    def first_addresses(self) -> list[FirstAddresses]:
        """Where warps of the last launch began, for each of `sites`."""
        return _first_addresses(*self._last)


def _first_addresses(report: MemoryReport, tensors: Sequence[TensorRange]) -> list[FirstAddresses]:
    """First addresses of every place: of the first warps in the buffer, each in its tensor."""
    found: list[list[FirstAddress]] = [[] for _ in report.counters]
    room = MOST_FIRST
    for site, cta, warp, address in report.first_addresses:
        if room and len(found[site]) < MOST_FIRST_OF_SITE:
            room -= 1
            place = _in_tensor(address, tensors, report.counters[site].tensor)
            found[site].append(FirstAddress(cta, warp, *place))
    return [
        FirstAddresses(tuple(each), max(counter.warps, len(each)) if each else 0)
        for each, counter in zip(found, report.counters, strict=True)
    ]


def _in_tensor(address: int, tensors: Sequence[TensorRange], likely: str) -> tuple[str, int]:
    """The tensor around an address and the bytes before it there; views of one memory overlap."""
    around = [each for each in tensors if 0 <= address - each.address < each.size_bytes]
    if not around:
        return "", address
    tensor = next((each for each in around if each.name == likely), around[0])
    return tensor.name, address - tensor.address


def _sum(old: AccessCount | None, new: AccessCount) -> AccessCount:
    if old is None:
        return new
    return replace(
        new,
        accesses=old.accesses + new.accesses,
        bytes=old.bytes + new.bytes,
        warps=old.warps + new.warps,
    )


def _sum_heat(old: TensorHeat | None, new: TensorHeat) -> TensorHeat:
    """Both maps, in bins that those of either fit into: nothing counted is lost."""
    if old is None:
        return new
    bin_bytes = math.lcm(old.bin_bytes, new.bin_bytes)

    def folded(old_bins: Sequence[int], new_bins: Sequence[int]) -> tuple[int, ...]:
        pairs = zip_longest(
            _fold(old_bins, bin_bytes // old.bin_bytes),
            _fold(new_bins, bin_bytes // new.bin_bytes),
            fillvalue=0,
        )
        return tuple(a + b for a, b in pairs)

    return replace(
        new,
        bytes=old.bytes + new.bytes,
        load_bytes=old.load_bytes + new.load_bytes,
        store_bytes=old.store_bytes + new.store_bytes,
        accesses=old.accesses + new.accesses,
        bin_bytes=bin_bytes,
        bins=folded(old.bins, new.bins),
        byte_bins=folded(old.byte_bins, new.byte_bins),
    )


def _fold(bins: Sequence[int], count: int) -> list[int]:
    """Every `count` neighbours as one."""
    return [sum(bins[at : at + count]) for at in range(0, len(bins), count)]


class KeptBuffers:
    """Takes the kept buffers of one session and adds them up, or hands them to their tools.

    Args:
        kernel_of: The kernel of a number.
        note_of: What was known of a launch.
        warn: Called with what cannot be read.
        tools: Of the session itself: they get what equal ones would, of sessions beside it.
    """

    def __init__(
        self,
        kernel_of: Callable[[int], LoadedKernel],
        note_of: Callable[[int], LaunchNote],
        warn: Callable[[str], None],
        tools: Sequence[Tool] = (),
    ) -> None:
        self._kernel_of = kernel_of
        self._note_of = note_of
        self._warn = warn
        self._tools = tuple(tools)
        # buffers arrive one after the other; a tool may flush when it gets one
        self._lock = threading.RLock()
        self._sums: dict[Key, MemorySum] = {}

    def take(self, sink: _native.Session) -> None:
        """Read what has come since the last time."""
        with self._lock:
            for kept in _native.InKernel.take_kept(sink):
                self._read(kept)

    def memory_of(self, key: Key) -> MemorySum | None:
        """What launches of a kernel in a context counted; None where it counts nothing."""
        return self._sums.get(key)

    def forget_phase(self, phase: int) -> None:
        """Nobody will ask for this phase again."""
        with self._lock:
            for key in [each for each in self._sums if each[0] == phase]:
                del self._sums[key]

    def _read(self, kept: Mapping[str, Any]) -> None:
        kernel, note = self._kernel_of(kept["kernel"]), self._note_of(kept["note"])
        record_map, ctas, data = kernel.records.record_map, kept["grid_ctas"], kept["data"]
        if kernel.has_memory:
            total = self._sums.setdefault(kept["key"], MemorySum())
            try:
                total.add(read_memory(data, record_map, ctas, note.tensors), note.tensors)
            except UsageError as error:
                self._warn(f"what kernel {kernel.name!r} counted cannot be read: {error}")
        for equal in note.tools or kernel.tools:
            tool = next((own for own in self._tools if own == equal), equal)
            assert tool.layout is not None
            deliver(
                tool, ToolBuffer(kernel.name, data, record_map, ctas, tool.layout, note.tensors)
            )
