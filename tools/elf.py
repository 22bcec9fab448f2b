"""What a shared library of ELF (64 bits, little-endian) needs: libraries, versions of symbols."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

MAGIC = b"\x7fELF\x02\x01"
NEEDED, STRINGS, VERSIONS, VERSION_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF  # tags of the dynamic part
LOADED, DYNAMIC = 1, 2  # kinds of segments


class Needs(NamedTuple):
    """Names of libraries, and pairs of a library and a version of its symbols."""

    libraries: list[str]
    versions: list[tuple[str, str]]


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def read_needs(path: Path) -> Needs:
    """What the library at `path` needs when it is loaded.

    Raises:
        ValueError: It is no such library.
    """
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise ValueError(f"{path}: not an ELF library of 64 bits")
    try:
        return _needs(data)
    except (struct.error, IndexError, StopIteration, KeyError):
        raise ValueError(f"{path}: a damaged ELF library") from None


def _needs(data: bytes) -> Needs:
    segments = _segments(data)
    dynamic = next(segment for segment in segments if segment.kind == DYNAMIC)
    end = dynamic.offset + dynamic.size
    tags = list(struct.iter_unpack("<QQ", data[dynamic.offset : end]))
    values = dict(tags)
    strings = _offset(segments, values[STRINGS])

    def text(at: int) -> str:
        start = strings + at
        return data[start : data.index(b"\0", start)].decode()

    libraries = [text(value) for tag, value in tags if tag == NEEDED]
    versions = []
    at = _offset(segments, values[VERSIONS]) if VERSIONS in values else 0
    for _ in range(values.get(VERSION_COUNT, 0)):
        _, count, file, first, following = struct.unpack_from("<HHIII", data, at)
        entry = at + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, entry)
            versions.append((text(file), text(name)))
            entry += step
        at += following
    return Needs(libraries, versions)


def _segments(data: bytes) -> list[Segment]:
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = []
    for number in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", data, table + number * size
        )
        found.append(Segment(kind, offset, address, length))
    return found


def _offset(segments: list[Segment], address: int) -> int:
    """Where in the file stands what is loaded at `address`."""
    home = next(
        one
        for one in segments
        if one.kind == LOADED and one.address <= address < one.address + one.size
    )
    return address - home.address + home.offset
