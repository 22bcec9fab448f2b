"""How tools read buffers."""

import struct

from proton.inkernel.ir.layout import MAGIC, RecordKind, pack_tag
from proton.inkernel.tool_layouts import BytesLayout, MemoryLayout, RecordsLayout, ToolBuffer

MAP = {
    "warps": [0],
    "ring_bytes": 64,
    "ctas": [],
    "cta_every": 1,
    "regions": [
        {"id": 0, "name": "wait a@3", "kind": "wait", "file": "k.py", "line": 3, "parent": None},
        {"id": 1, "name": "copy", "kind": "mark", "file": "", "line": 0, "parent": None},
    ],
}


def buffer_of(*records: tuple[RecordKind, int, int]) -> bytes:
    ring = b"".join(struct.pack("<2I", pack_tag(kind, at), 1000 + ck) for kind, at, ck in records)
    header = struct.pack(
        "<6I4Q2I", MAGIC, 0, 0, 5, 8 * len(records), 64, 10**9, 1000, 10**9 + 1000, 3000, 0, 0
    )
    return ring.ljust(64, b"\0") + header


def test_records_are_regions_and_spans_with_their_names() -> None:
    data = buffer_of(
        (RecordKind.MARK, 1, 100), (RecordKind.START, 0, 200), (RecordKind.END, 0, 500)
    )
    found = ToolBuffer("k", data, MAP, 1, RecordsLayout()).contents
    assert [(each.name, each.line, each.count, each.cycles) for each in found.regions] == [
        ("copy", 0, 1, 0.0),
        ("wait a@3", 3, 1, 300.0),
    ]
    spans = [(each.name, each.kind, each.sm, each.end_ns - each.start_ns) for each in found.spans]
    assert spans == [("copy", "mark", 5, 0), ("wait a@3", "wait", 5, 150)]
    assert found.losses == {}


def test_bytes_are_those_of_the_grid_behind_what_is_ours() -> None:
    assert ToolBuffer("k", b"abcdef", {}, 2, BytesLayout(2)).contents == b"abcd"
    behind = {"callback_offset": 1}
    assert ToolBuffer("k", b"abcdef", behind, 2, BytesLayout(2)).contents == b"cdef"


def test_memory_of_a_kernel_that_counted_none_is_empty() -> None:
    assert ToolBuffer("k", b"", MAP, 1, MemoryLayout()).contents.counters == ()
