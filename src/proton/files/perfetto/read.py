"""Perfetto's own format: bytes -> trace.

Made for our own files, which read back exactly. Of anyone else's it takes the slices and instants
of track events; what it leaves out it counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from proton.errors import CutShort, FormatError
from proton.files.encoding.protobuf import CutShortError, WireError, parse, read_varint
from proton.files.perfetto.blocks import COMPRESSED, unpack
from proton.files.perfetto.columns import read_columns
from proton.files.perfetto.fields import TRACE_PACKET
from proton.files.perfetto.packets import PacketReader
from proton.files.trace.read import TraceFile

_START = bytes([TRACE_PACKET << 3 | 2])


def is_perfetto(data: bytes) -> bool:
    """Whether `data` starts with a whole packet of a Perfetto trace."""
    try:
        at, end = _first_packet(data)
        fields = parse(data, at, end) if end <= len(data) else []
    except WireError:
        return False
    return bool(fields) and data[end : end + 1] in (b"", _START)


def is_cut_perfetto(data: bytes) -> bool:
    """Whether `data` is the beginning of a trace of ours that ends in its first packet."""
    try:
        at, end = _first_packet(data)
    except WireError:
        return False
    return data[at : at + 2] == COMPRESSED and end > len(data)


def _first_packet(data: bytes) -> tuple[int, int]:
    """Where the first packet begins and ends, which may be behind the data."""
    if not data.startswith(_START):
        raise WireError("is no packet of a trace", 0)
    size, at = read_varint(data, 1, len(data))
    return at, at + size


def read_perfetto(data: bytes, source: str) -> TraceFile:
    """The trace in a file of Perfetto's format.

    Raises:
        FormatError: The bytes are no trace; the message has the place.
    """
    if (columns := read_columns(data, source)) is not None:
        return columns
    reader = PacketReader(source)
    number = 0
    try:
        for packet in _packets(data, source):
            reader.take(packet)
            number += 1
    except WireError as fault:
        raise FormatError(f"{source}: packet {number} {fault}") from None
    except RecursionError:
        raise FormatError(f"{source}: packet {number} is nested too deep") from None
    return reader.file()


def _packets(data: bytes, source: str) -> Iterator[bytes]:
    """Every packet, those in compressed ones too."""
    try:
        fields = parse(data)
    except CutShortError:
        raise CutShort(
            f"{source}: truncated: the file ends at byte {len(data)}, inside a packet"
        ) from None
    for number, packet in fields:
        if number != TRACE_PACKET or type(packet) is not bytes:
            raise WireError("is no packet of a trace", 0)
        if not packet.startswith(COMPRESSED):
            yield packet
            continue
        for _, block in parse(packet):
            if type(block) is bytes:
                yield from _packets_of_block(block, source)


def _packets_of_block(block: bytes, source: str) -> Iterator[bytes]:
    for _, packet in parse(unpack(block, source)):
        if type(packet) is bytes:
            yield packet
