"""Perfetto's own format: bytes -> trace.

Made for our own files, which read back exactly. Of anyone else's it takes the slices and instants
of track events; what it leaves out it counts.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from proton.errors import CutShort, FormatError
from proton.files.encoding.decode_json import decode_json
from proton.files.encoding.protobuf import CutShortError, WireError, integer, parse, read_varint
from proton.files.perfetto.assemble import (
    SUMMARY,
    TABLES,
    Begun,
    Tables,
    TrackInfo,
    assemble,
    read_tables,
)
from proton.files.perfetto.events import (
    EventReader,
    InternedTexts,
    SequenceClocks,
    TraceClocks,
    to_text,
)
from proton.files.perfetto.fields import (
    TRACE_PACKET,
    Defaults,
    Event,
    EventType,
    Flags,
    Packet,
    Process,
    Thread,
    Track,
)
from proton.files.trace.read import TraceFile

_MAX_BLOCK = 1 << 28  # bytes that one compressed packet may unpack to
_TIME_LIMIT = 1 << 62  # so that differences fit 64 bits too
_START = bytes([TRACE_PACKET << 3 | 2])
_COMPRESSED = b"\x92\x03"  # the key of Packet.COMPRESSED_PACKETS


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
    return data[at : at + 2] == _COMPRESSED and end > len(data)


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
    reader = _Reader(source)
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
        if not packet.startswith(_COMPRESSED):
            yield packet
            continue
        for _, block in parse(packet):
            if type(block) is bytes:
                yield from _packets_of_block(block, source)


def _packets_of_block(block: bytes, source: str) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    try:
        unpacked = inflate.decompress(block, _MAX_BLOCK)
    except zlib.error as error:
        raise FormatError(f"{source}: a compressed packet is damaged: {error}") from None
    if inflate.unconsumed_tail or not inflate.eof:
        raise CutShort(f"{source}: a compressed packet is cut off or too large")
    for _, packet in parse(unpacked):
        if type(packet) is bytes:
            yield packet


class _Sequence:
    """What packets of one sequence leave out because earlier ones said it."""

    __slots__ = ("clocks", "texts", "track")

    def __init__(self) -> None:
        self.clocks = SequenceClocks()
        self.texts = InternedTexts()
        self.track = 0


class _Reader:
    """Takes packets one by one and puts the trace together."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._clocks = TraceClocks()
        self._sequences: dict[int, _Sequence] = {}
        self._tracks: dict[int, TrackInfo] = {}
        self._events = EventReader()
        self._begun: list[Begun] = []
        self._open: dict[int, list[Begun]] = {}
        self._summaries: list[Any] = []
        self._tables: dict[int, Tables] = {}  # by the uuid of the process
        self._skipped: Counter[str] = Counter()

    def take(self, packet: bytes) -> None:
        """Take one packet."""
        fields = dict(parse(packet))  # no field of a packet that we read is repeated
        number = integer(fields.get(Packet.SEQUENCE_ID, 0))
        sequence = self._sequences.get(number)
        if sequence is None:
            sequence = self._sequences[number] = _Sequence()
        event = fields.get(Packet.TRACK_EVENT)
        if event is None or len(fields) > _PLAIN_FIELDS:
            sequence = self._take_state(fields, number, sequence)
        if event is None:
            if not fields.keys() & _KNOWN:
                self._skipped["packets of other kinds"] += 1
            return
        value = integer(fields.get(Packet.TIMESTAMP, 0))
        clock = fields.get(Packet.CLOCK_ID)
        clock_id = None if clock is None else integer(clock)
        time_ns = self._clocks.time_ns(value, clock_id, sequence.clocks)
        if time_ns is None:
            self._skipped["events on an unknown clock"] += 1
        elif abs(time_ns) >= _TIME_LIMIT:
            raise WireError("has a time beyond what 64 bits of nanoseconds hold", 0)
        elif event == _END:
            self._end(sequence.track, time_ns)
        else:
            self._take_event(event, time_ns, sequence)

    def _take_state(
        self, fields: dict[int, int | bytes], number: int, sequence: _Sequence
    ) -> _Sequence:
        if integer(fields.get(Packet.SEQUENCE_FLAGS, 0)) & Flags.STATE_CLEARED:
            sequence = self._sequences[number] = _Sequence()
        if (defaults := fields.get(Packet.DEFAULTS)) is not None:
            found = dict(parse(defaults))
            if Defaults.CLOCK_ID in found:
                sequence.clocks.default = integer(found[Defaults.CLOCK_ID])
            if Defaults.TRACK_EVENT in found:
                event = dict(parse(found[Defaults.TRACK_EVENT]))
                sequence.track = integer(event.get(Event.TRACK_UUID, sequence.track))
        if (snapshot := fields.get(Packet.CLOCK_SNAPSHOT)) is not None:
            self._clocks.take(snapshot, sequence.clocks)
        if (interned := fields.get(Packet.INTERNED_DATA)) is not None:
            sequence.texts.take(interned)
        if (track := fields.get(Packet.TRACK_DESCRIPTOR)) is not None:
            self._describe(dict(parse(track)))
        return sequence

    def _describe(self, found: dict[int, int | bytes]) -> None:
        process = dict(parse(found.get(Track.PROCESS, b"")))
        thread = dict(parse(found.get(Track.THREAD, b"")))
        self._tracks[integer(found.get(Track.UUID, 0))] = TrackInfo(
            parent=_number(found.get(Track.PARENT_UUID)),
            name=to_text(found.get(Track.NAME) or thread.get(Thread.NAME)),
            pid=_number(process.get(Process.PID, thread.get(Thread.PID))),
            tid=_number(thread.get(Thread.TID)),
            process_name=to_text(process.get(Process.NAME)),
        )

    def _take_event(self, message: int | bytes, time_ns: int, sequence: _Sequence) -> None:
        event = self._events.read(message, sequence.texts)
        track = sequence.track if event.track is None else event.track
        if event.type == EventType.END:
            self._end(track, time_ns)
        elif event.type in (EventType.BEGIN, EventType.INSTANT):
            if event.name == SUMMARY and TABLES in event.annotations:
                self._summarise(track, event.annotations)
                return
            begun = Begun(track, time_ns, event)
            self._begun.append(begun)
            if event.type == EventType.BEGIN:
                self._open.setdefault(track, []).append(begun)
        elif event.type != EventType.COUNTER or track not in self._tracks:
            self._skipped["track events of other types"] += 1

    def _end(self, track: int, time_ns: int) -> None:
        if begun := self._open.get(track):
            begun.pop().end_ns = time_ns
        else:
            self._skipped["ends without a begin"] += 1

    def _summarise(self, track: int, annotations: dict[str, Any]) -> None:
        tables, summary = annotations[TABLES], annotations.get(SUMMARY)
        if type(tables) is not str or type(summary) is not str:
            raise FormatError(f"{self._source}: {TABLES} of the trace is damaged")
        self._tables[track] = read_tables(tables.encode(), self._source)
        self._summaries.append(decode_json(summary.encode(), self._source))

    def file(self) -> TraceFile:
        """The file, once every packet was taken."""
        unclosed = sum(map(len, self._open.values()))
        if unclosed:
            self._skipped["begins without an end"] += unclosed
        trace = assemble(self._begun, self._tracks, self._tables, self._clocks.unix_offset_ns())
        warnings = [f"{n} not read: {what}" for what, n in sorted(self._skipped.items())]
        if len(self._summaries) > 1:
            warnings.append(f"{len(self._summaries)} recordings in one file: the first names it")
        return TraceFile(trace, next(iter(self._summaries), None), tuple(warnings))


_END = bytes([Event.TYPE << 3, EventType.END])  # the most frequent event
_PLAIN_FIELDS = 4  # time, sequence, flags, event: a packet with no more changes no state
_KNOWN = {
    Packet.CLOCK_SNAPSHOT,
    Packet.DEFAULTS,
    Packet.INTERNED_DATA,
    Packet.TRACK_DESCRIPTOR,
}


def _number(value: int | bytes | None) -> int | None:
    return None if value is None else integer(value)
