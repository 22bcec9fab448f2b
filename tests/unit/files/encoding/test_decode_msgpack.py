"""Msgpack bytes into objects, at any depth, in memory that fits the file."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgpack
import pytest

from proton.errors import FormatError
from proton.files.encoding import decode_msgpack as module
from proton.files.encoding.decode_msgpack import decode_msgpack

SHALLOW = [
    [],
    [{"frame": {"name": "x"}, "metrics": {"a": 1.5}, "children": [{"children": []}, {}]}, {}],
    [{"children": 7}, [1, [2]], {"children": {"children": []}}],
]


def nested(levels: int) -> bytes:
    packer = msgpack.Packer(autoreset=False)
    packer.pack_array_header(1)
    for _ in range(levels):
        packer.pack_map_header(1)
        packer.pack("children")
        packer.pack_array_header(1)
    packer.pack({})
    return bytes(packer.bytes())


@pytest.mark.parametrize("value", SHALLOW)
def test_what_was_packed_comes_out(value: Any) -> None:
    assert decode_msgpack(msgpack.packb(value), "f") == value


@pytest.mark.parametrize("value", SHALLOW)
def test_the_loop_for_deep_files_gives_what_the_c_parser_gives(value: Any) -> None:
    packed = msgpack.packb(value)
    assert module._decode_deep(packed) == (value, len(packed))


@pytest.mark.parametrize("levels", [400, 20_000])
def test_nodes_may_be_nested_to_any_depth(levels: int) -> None:
    value = decode_msgpack(nested(levels), "f")
    depth = 0
    while value := value[0].get("children"):
        depth += 1
    assert depth == levels


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x92\x01", "truncated: the file ends at byte 2, inside a value"),
        (b"", "truncated: the file ends at byte 0, inside a value"),
        (nested(3000)[:-1], "truncated: the file ends at byte 33001, inside a value"),
        (b"\x91\x01\x02", "malformed msgpack: the profile ends at byte 2 of 3"),
        (b"\x91\xa1\xff", "text that is not UTF-8 (invalid start byte)"),
        (b"\x91\xc1", "malformed msgpack: a byte that msgpack does not use"),
        (b"\x91" * 5000 + b"\x01", "malformed msgpack: nested too deep outside of children"),
    ],
)
def test_bad_bytes_are_one_line_with_the_place(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode_msgpack(data, "run.hatchet_msgpack")
    assert str(caught.value).startswith(f"run.hatchet_msgpack: {message}")


def test_a_key_must_be_text() -> None:
    with pytest.raises(FormatError, match=r"malformed msgpack: .*int.* is not allowed for map key"):
        decode_msgpack(b"\x91\x81\x01\x02", "f")


@pytest.mark.parametrize(
    "head", [b"\xdd\x7f\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xdb\x7f\xff\xff\xff"]
)
def test_a_false_length_is_found_before_memory_is_taken(head: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"truncated|malformed"):
            decode_msgpack(b"\x92" + head + b"\x01" * 100, "f")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("head", [b"\x92", nested(3000)[:-1] + b"\x81\xa1m"])
def test_many_lists_that_each_claim_the_whole_file_take_no_memory(head: bytes) -> None:
    bomb = head + b"\xdd\x00\x0f\x00\x00" * 500 + b"\x01" * 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="truncated"):
            decode_msgpack(bomb, "f")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
