"""Protobuf's wire format."""

from __future__ import annotations

import pytest

from proton.files.encoding.protobuf import (
    WireError,
    bytes_field,
    integer,
    number_field,
    parse,
    signed,
    text_field,
    to_double,
    varint,
)
from tests.support.perfetto import double_field, fixed64_field


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32, 2**64 - 1])
def test_numbers_read_back(value: int) -> None:
    assert parse(number_field(58, value)) == [(58, value)]


def test_a_negative_number_is_its_complement() -> None:
    ((_, value),) = parse(number_field(4, -5))
    assert signed(value) == -5
    assert signed(5) == 5


def test_fields_of_every_kind_read_back() -> None:
    data = text_field(2, "é") + fixed64_field(47, 9) + double_field(5, 0.25) + b"\x3d\x01\0\0\0"
    fields = parse(data)
    assert [number for number, _ in fields] == [2, 47, 5, 7]
    assert fields[0][1] == "é".encode()
    assert fields[1][1] == 9
    assert to_double(fields[2][1]) == 0.25
    assert fields[3][1] == 1


def test_messages_nest() -> None:
    inner = number_field(1, 7)
    ((_, found),) = parse(bytes_field(3, inner))
    assert parse(found) == [(1, 7)]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\x08", "ends inside a number"),
        (b"\x08\x80", "ends inside a number"),
        (b"\x12", "ends inside a length"),
        (b"\x12\x05ab", "has a field of 5 bytes where 2 are left"),
        (b"\x09\x01", "ends inside a number"),
        (b"\x0b", "has a field of the unknown wire type 3"),
        (b"\x08" + b"\xff" * 11, "has a number of more than 64 bits"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, fault: str) -> None:
    with pytest.raises(WireError, match=fault):
        parse(data)


def test_a_field_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(WireError, match="a number where a message belongs"):
        parse(7)
    with pytest.raises(WireError, match="bytes where a number belongs"):
        integer(b"7")


def test_a_varint_has_seven_bits_a_byte() -> None:
    assert varint(300) == b"\xac\x02"
    assert len(varint(-1)) == 10
