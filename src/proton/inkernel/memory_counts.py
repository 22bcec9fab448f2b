"""What kernels counted about memory, read back: bytes of every load and store, and heat maps.

The counting is that of the passes `count-bytes` and `record-memory`; the decoding is native
(`backends/device_buffer/bins`). A byte counts each time a lane asks for it, from whichever cache it
comes. Copies by descriptor (TMA) have no address in the kernel: those that read count by the bytes
that their barrier expects, those that write not at all; `MemoryReport.uncovered` has their number.
Accesses are told apart by the memory of a launch's arguments (`tensor_ranges`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proton._native import DeviceMemory
from proton.inkernel.ir.layout import RecordMap

MOST_BINS = 1024  # that a heat map of one tensor has; finer ones are joined
MOST_ADDRESSES = 4096
ELSEWHERE = "<elsewhere>"


@dataclass(frozen=True, slots=True)
class TensorRange:
    """Memory of one argument: from its lowest byte to behind its highest."""

    name: str
    address: int
    size_bytes: int
    argument: int | None = None  # its number among the compiled kernel's parameters, if known


def tensor_ranges(names: Sequence[str], arguments: Iterable[object]) -> tuple[TensorRange, ...]:
    """The ranges of those arguments that are tensors.

    Args:
        names: Of the arguments, in order; an argument without one is called by its number.
        arguments: What the kernel was launched with. Tensors are what has `data_ptr()` and a size
            (torch's, and those like them); of a tensor descriptor, its `base`.
    """
    found = []
    for number, argument in enumerate(arguments):
        name = names[number] if number < len(names) else f"arg{number}"
        tensor: Any = argument if hasattr(argument, "data_ptr") else getattr(argument, "base", None)
        size = _size_bytes(tensor)
        if size:
            found.append(TensorRange(name, int(tensor.data_ptr()), size))
    return tuple(found)


def _size_bytes(tensor: Any) -> int:
    """What lies between a tensor's first and last byte; 0 for what is no tensor, or empty."""
    if not (hasattr(tensor, "data_ptr") and hasattr(tensor, "element_size")):
        return 0
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    if any(length == 0 for length in shape):
        return 0
    last = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return (int(last) + 1) * int(tensor.element_size())


@dataclass(frozen=True, slots=True)
class AccessCount:
    """One place of a kernel that reads or writes global memory, over all recorded warps."""

    name: str
    kind: str  # load, copy (to shared memory), store or atomic
    file: str
    line: int
    argument: int | None  # number of the parameter it goes through, where that is known
    tensor: str  # what that is called; "": not known
    accesses: int  # of lanes
    bytes: int
    warps: int  # that came there


@dataclass(frozen=True, slots=True)
class TensorHeat:
    """Accesses to one tensor by address: `bins[n]` counts those `n * bin_bytes` behind `start`."""

    tensor: str
    bytes: int
    load_bytes: int
    store_bytes: int
    accesses: int
    start: int
    bin_bytes: int
    bins: tuple[int, ...]
    byte_bins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What one launch did to memory."""

    counters: tuple[AccessCount, ...] = ()
    heat: tuple[TensorHeat, ...] = ()
    first_addresses: tuple[tuple[int, int, int, int], ...] = ()  # counter, CTA, warp, address
    losses: Mapping[str, int] = field(default_factory=dict)
    uncovered: Mapping[str, int] = field(default_factory=dict)  # what -> instructions


def has_memory(record_map: RecordMap) -> bool:
    """Whether a kernel with this record map counts memory accesses."""
    return "counters" in record_map


def recorded_ctas(record_map: RecordMap, grid_ctas: int) -> int:
    """How many CTAs of a launch have slots in its buffer."""
    if ctas := record_map.get("ctas"):
        return len(ctas)
    every = int(record_map.get("cta_every", 1))
    return (grid_ctas + every - 1) // every


def read_memory(
    buffer: Any,
    record_map: RecordMap,
    grid_ctas: int,
    tensors: Sequence[TensorRange] = (),
) -> MemoryReport:
    """What a launch counted. Releases the GIL while it decodes.

    Args:
        buffer: The launch's whole buffer, its size times the grid; bytes or alike.
        record_map: Of the kernel.
        grid_ctas: CTAs of the launch.
        tensors: What it was launched with; accesses outside of them are `<elsewhere>`.

    Raises:
        UsageError: the buffer is too small for what the record map says.
    """
    if not has_memory(record_map):
        return MemoryReport()
    sites = record_map["counters"]
    counted = DeviceMemory.read_counters(
        buffer,
        cta_count=recorded_ctas(record_map, grid_ctas),
        warp_count=len(record_map["warps"]),
        ring_bytes=record_map["ring_bytes"],
        site_count=len(sites),
        stride_bytes=record_map["counter_bytes"],
        most_addresses=MOST_ADDRESSES,
    )
    heat, losses = _read_heat(buffer, record_map, grid_ctas, tensors)
    counters = tuple(
        AccessCount(
            name=site["name"],
            kind=site["kind"],
            file=site["file"],
            line=site["line"],
            argument=site["argument"],
            tensor=site.get("tensor", ""),
            accesses=total.accesses,
            bytes=total.accesses * site["bytes"],
            warps=total.warp_count,
        )
        for site, total in zip(sites, counted.sites(), strict=True)
    )
    return MemoryReport(
        counters=counters,
        heat=heat,
        first_addresses=tuple(counted.first_addresses()),
        losses={**counted.losses(), **losses},
        uncovered=record_map.get("uncovered", {}),
    )


def _read_heat(
    buffer: Any, record_map: RecordMap, grid_ctas: int, tensors: Sequence[TensorRange]
) -> tuple[tuple[TensorHeat, ...], dict[str, int]]:
    if not record_map.get("bins"):
        return (), {}
    columns = record_map["columns"]
    found = DeviceMemory.read_table(
        memoryview(buffer).cast("B")[record_map["slots_bytes"] * grid_ctas :],
        bin_bytes=record_map["bin_bytes"],
        bins=record_map["hashed"],
        rows=record_map["rows"],
        grid_ctas=grid_ctas,
        columns=[(each["argument"], each["bytes"], each["is_read"]) for each in columns],
        ranges=[(each.address, each.size_bytes, each.argument) for each in tensors],
        most_bins=MOST_BINS,
    )
    heat = [_heat(each.name, got) for each, got in zip(tensors, found.tensors(), strict=True)]
    if found.elsewhere.accesses:
        heat.append(_heat(ELSEWHERE, found.elsewhere))
    return tuple(heat), found.losses()


def _heat(name: str, found: Any) -> TensorHeat:
    return TensorHeat(
        tensor=name,
        bytes=found.load_bytes + found.store_bytes,
        load_bytes=found.load_bytes,
        store_bytes=found.store_bytes,
        accesses=found.accesses,
        start=found.start_address,
        bin_bytes=found.bin_bytes,
        bins=tuple(found.access_bins),
        byte_bins=tuple(found.byte_bins),
    )
