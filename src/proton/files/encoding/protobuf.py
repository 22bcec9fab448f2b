"""Protobuf's wire format, both ways: the little of it that traces and pprof need."""

from __future__ import annotations

import struct

# The number of a field, and its number or the bytes of its text or message.
Field = tuple[int, int | bytes]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_DOUBLE = struct.Struct("<d")
_MAX_SHIFT = 63


class WireError(ValueError):
    """Bytes that are no message; the text is the end of a sentence, `at` the place."""

    def __init__(self, fault: str, at: int) -> None:
        super().__init__(fault)
        self.at = at


class CutShortError(WireError):
    """Bytes that end in the middle of a field."""


def parse(data: int | bytes, start: int = 0, end: int | None = None) -> list[Field]:
    """The fields of the message in `data[start:end]`, in their order.

    Raises:
        WireError: It is no message.
    """
    if not isinstance(data, bytes):
        raise WireError("has a number where a message belongs", start)
    fields = []
    at = start
    stop = len(data) if end is None else end
    while at < stop:
        key = data[at]
        at += 1
        if key >= 0x80:
            key, at = read_varint(data, at - 1, stop)
        wire = key & 7
        value: int | bytes
        if wire == VARINT:
            if at >= stop:
                raise CutShortError("ends inside a number", at)
            value = data[at]
            at += 1
            if value >= 0x80:
                value, at = read_varint(data, at - 1, stop)
        elif wire == LENGTH:
            if at >= stop:
                raise CutShortError("ends inside a length", at)
            size = data[at]
            at += 1
            if size >= 0x80:
                size, at = read_varint(data, at - 1, stop)
            if size > stop - at:
                raise CutShortError(f"has a field of {size} bytes where {stop - at} are left", at)
            value = data[at : at + size]
            at += size
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            if size > stop - at:
                raise CutShortError("ends inside a number", at)
            value = int.from_bytes(data[at : at + size], "little")
            at += size
        else:
            raise WireError(f"has a field of the unknown wire type {wire}", at)
        fields.append((key >> 3, value))
    return fields


def read_varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    """The number at `at`, and the place behind it.

    Raises:
        WireError: It does not end before `stop`, or is too large.
    """
    value = shift = 0
    while True:
        if at >= stop:
            raise CutShortError("ends inside a number", at)
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift > _MAX_SHIFT:
            raise WireError("has a number of more than 64 bits", at)


def integer(value: int | bytes) -> int:
    """`value` as a number; WireError where it is none."""
    if isinstance(value, int):
        return value
    raise WireError("has bytes where a number belongs", 0)


def signed(value: int | bytes) -> int:
    """A varint of 64 bits as the signed number it stands for."""
    value = integer(value)
    return value - (1 << 64) if value >= 1 << 63 else value


def to_double(value: int | bytes) -> float:
    """A fixed number of 64 bits as the double it stands for."""
    number: float = _DOUBLE.unpack(integer(value).to_bytes(8, "little"))[0]
    return number


def varint(value: int) -> bytes:
    """`value`, which may be negative, as a varint."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """A field that is a varint."""
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """A field that is a text, bytes or a message."""
    return varint(number << 3 | LENGTH) + varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """A field that is a text."""
    return bytes_field(number, value.encode())
