"""Buffers as instrumented kernels leave them, made by hand."""

from __future__ import annotations

import struct

from proton.inkernel.ir.layout import MAGIC, Geometry, RecordKind, pack_tag

START_TIME, START_CLOCK = 1_800_000_000_000_000_000, 5_000_000_000
REGIONS = [{"name": "outer", "kind": "scope"}, {"name": "copy", "kind": "event"}, {"name": "n"}]
RECORD_MAP = {"kernel": "copies", "clock_bits": 32, "regions": REGIONS}
Records = list[tuple[int, int]]


def record(kind: RecordKind, region: int, cycles: int) -> tuple[int, int]:
    return pack_tag(kind, region), (START_CLOCK + cycles) & 0xFFFFFFFF


def launch(geometry: Geometry, warps: list[Records]) -> bytearray:
    """A buffer whose warps ran for 96 000 cycles in 64 us, each on an SM of its own."""
    buffer = bytearray(geometry.size_bytes)
    for slot, records in enumerate(warps):
        data = b"".join(struct.pack("<II", *one) for one in records)
        assert len(data) <= geometry.ring_bytes
        at = geometry.ring_offset(slot)
        buffer[at : at + len(data)] = data
        cta, warp = divmod(slot, geometry.warp_count)
        header = (MAGIC, cta, warp, slot, len(data), geometry.ring_bytes, START_TIME, START_CLOCK)
        ends = (START_TIME + 64_000, START_CLOCK + 96_000, 0, 0)
        at = geometry.header_offset(slot)
        buffer[at : at + 64] = struct.pack("<6I4Q2I", *header, *ends)
    return buffer


OVERLAPS = [
    {"name": "load", "overlaps": True},
    {"name": "store", "overlaps": True},
    {"name": "mma"},
]
OVERLAPPING_MAP = {"kernel": "copies", "clock_bits": 32, "regions": OVERLAPS}


def overlapping_launch() -> tuple[Geometry, bytearray]:
    """One warp: `load` from 2 to 4 us, `store` from 3 to 6, and `mma` within both."""
    starts, ends = RecordKind.START, RecordKind.END
    warp = [record(starts, 0, 3000), record(starts, 1, 4500), record(starts, 2, 4800)]
    warp += [record(ends, 2, 5400), record(ends, 0, 6000), record(ends, 1, 9000)]
    geometry = Geometry(1, 1, 64)
    return geometry, launch(geometry, [warp])


EVENT_MAP = {"kernel": "copies", "clock_bits": 32, "regions": [{"name": "tile", "kind": "event"}]}


def waiting_launch() -> tuple[Geometry, bytearray]:
    """Two warps: the first begins an event at 2 us, which the second ends at 6."""
    geometry = Geometry(1, 2, 64)
    first, second = [record(RecordKind.START, 0, 3000)], [record(RecordKind.END, 0, 9000)]
    return geometry, launch(geometry, [first, second])


def nested_launch() -> tuple[Geometry, bytearray]:
    geometry = Geometry(2, 1, 64)
    value = pack_tag(RecordKind.VALUE, 2)
    warp = [
        record(RecordKind.START, 0, 3000),
        record(RecordKind.START, 1, 3300),
        record(RecordKind.VALUE, 2, 3600),
        (value, 7),
        record(RecordKind.END, 0, 6000),
        record(RecordKind.END, 1, 9000),
    ]
    return geometry, launch(geometry, [warp, warp])
