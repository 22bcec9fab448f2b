"""What a launch counted, read from its buffer and its record map."""

import struct
from typing import Any

import pytest

from proton._native import DeviceMemory
from proton.errors import UsageError
from proton.inkernel.ir.layout import HEADER_BYTES, MAGIC
from proton.inkernel.memory_counts import (
    ELSEWHERE,
    TensorRange,
    has_memory,
    read_memory,
    recorded_ctas,
)

BINS, ROWS, PAGE = 16, 16, 4096


def record_map(**changes: Any) -> dict[str, Any]:
    site = {"name": "load x@3", "kind": "load", "bytes": 16, "file": "a.py", "line": 3}
    return {
        "warps": [0],
        "ring_bytes": 0,
        "ctas": [],
        "cta_every": 1,
        "counters": [site | {"id": 0, "argument": 0}, site | {"id": 1, "argument": None}],
        "counter_bytes": 2 * DeviceMemory.COUNTER_BYTES,
        "slots_bytes": HEADER_BYTES + 2 * DeviceMemory.COUNTER_BYTES,
        "bins": 2 * BINS,
        "hashed": BINS,
        "rows": ROWS,
        "columns": [{"argument": 0, "is_read": True, "bytes": 16}],
        "bin_bytes": PAGE,
        "uncovered": {"tma": 2},
        **changes,
    }


def table(
    *entries: tuple[int, int, int, int], base: int = 0, rows: dict[int, int] | None = None
) -> bytes:
    """Hashed: address, bytes loaded, bytes stored, accesses; `rows`: page behind `base`, count."""
    header = (
        DeviceMemory.TABLE_HEADER_BYTES + DeviceMemory.BIN_BYTES
    )  # one column's address, and what aligns the bins
    bins = bytearray(header + BINS * DeviceMemory.BIN_BYTES + ROWS * DeviceMemory.COLUMN_BYTES)
    for address, *sums in entries:
        key = address // PAGE
        home = (key * DeviceMemory.HASH_FACTOR & 0xFFFFFFFF) >> 28
        struct.pack_into("<4Q", bins, header + home * DeviceMemory.BIN_BYTES, key, *sums)
    struct.pack_into("<Q", bins, DeviceMemory.TABLE_HEADER_BYTES, base)
    for page, count in (rows or {}).items():
        struct.pack_into(
            "<Q",
            bins,
            header + BINS * DeviceMemory.BIN_BYTES + page * DeviceMemory.COLUMN_BYTES,
            count,
        )
    return bytes(bins)


def buffer(*warps: tuple[int, int]) -> bytes:
    """A header for each warp, then its counters: accesses of the first, first address."""
    headers = b"".join(
        struct.pack("<6I", MAGIC, cta, 0, 0, 0, 0) + bytes(40) for cta in range(len(warps))
    )
    counters = b"".join(struct.pack("<4Q", *warp, 0, 0) for warp in warps)
    return headers + counters


def test_counters_are_bytes_by_place() -> None:
    report = read_memory(buffer((32, 0x5000), (64, 0x6000)), record_map(bins=0), grid_ctas=2)
    first, second = report.counters
    assert (first.name, first.accesses, first.bytes, first.warps) == ("load x@3", 96, 1536, 2)
    assert second.accesses == 0
    assert report.first_addresses == ((0, 0, 0, 0x5000), (0, 1, 0, 0x6000))
    assert report.heat == ()
    assert report.uncovered == {"tma": 2}


def test_bins_are_heat_maps_of_tensors() -> None:
    tensors = (TensorRange("x", 0x10200, 2 * PAGE), TensorRange("y", 0x40000, 64))
    counted = table((0x40000, 0, 64, 4), (0x90000, 0, 8, 2), base=0x10200, rows={1: 32})
    report = read_memory(buffer((32, 0)) + counted, record_map(), 1, tensors)
    x, y, other = report.heat
    assert (x.tensor, x.bins, x.byte_bins, x.bytes) == ("x", (0, 32), (0, 512), 512)
    assert (x.start, x.load_bytes) == (0x10200, 512)
    assert (x.accesses, x.bin_bytes) == (32, PAGE)
    assert (y.accesses, y.bins, y.store_bytes) == (4, (4,), 64)
    assert (other.tensor, other.store_bytes) == (ELSEWHERE, 8)
    assert report.losses == {}


def test_a_buffer_without_its_table_is_refused() -> None:
    with pytest.raises(UsageError, match="give the launch's whole buffer"):
        read_memory(buffer((1, 0)), record_map(), 1)
    with pytest.raises(UsageError, match="has no counters"):
        read_memory(b"", record_map(), 1)


def test_a_kernel_that_counts_nothing_has_an_empty_report() -> None:
    assert not has_memory({})
    apart = record_map(counters=[], counter_bytes=0, bins=0, uncovered={"in_called_functions": 2})
    assert has_memory(apart)
    assert read_memory(buffer((0, 0)), apart, 1).uncovered == {"in_called_functions": 2}
    assert read_memory(b"", {}, 4).counters == ()


@pytest.mark.parametrize(
    ("changes", "count"), [({}, 10), ({"ctas": [1, 5]}, 2), ({"cta_every": 4}, 3)]
)
def test_slots_are_of_the_recorded_ctas(changes: dict[str, Any], count: int) -> None:
    assert recorded_ctas(record_map(**changes), 10) == count
