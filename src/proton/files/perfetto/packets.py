"""The packets of a Perfetto trace, one by one: clocks, sequences, tracks, events -> trace."""

from __future__ import annotations

from collections import Counter
from typing import Any

from proton.errors import FormatError
from proton.files.encoding.decode_json import decode_json
from proton.files.encoding.protobuf import WireError, integer, parse
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
from proton.model.trace import Trace

_TIME_LIMIT = 1 << 62  # so that differences fit 64 bits too


class Sequence:
    """What packets of one sequence leave out because earlier ones said it."""

    __slots__ = ("clocks", "texts", "track")

    def __init__(self) -> None:
        self.clocks = SequenceClocks()
        self.texts = InternedTexts()
        self.track = 0


class PacketReader:
    """Takes packets one by one and puts the trace together."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.clocks = TraceClocks()
        self.sequences: dict[int, Sequence] = {}
        self.tracks: dict[int, TrackInfo] = {}
        self._events = EventReader()
        self._begun: list[Begun] = []
        self._open: dict[int, list[Begun]] = {}
        self.summaries: list[Any] = []
        self.tables: dict[int, Tables] = {}  # by the uuid of the process
        self.skipped: Counter[str] = Counter()

    def sequence(self, number: int) -> Sequence:
        """What the packets of a sequence have said so far."""
        if (known := self.sequences.get(number)) is None:
            known = self.sequences[number] = Sequence()
        return known

    def take(self, packet: bytes) -> None:
        """Take one packet."""
        fields = dict(parse(packet))  # no field of a packet that we read is repeated
        number = integer(fields.get(Packet.SEQUENCE_ID, 0))
        sequence = self.sequence(number)
        event = fields.get(Packet.TRACK_EVENT)
        flags = integer(fields.get(Packet.SEQUENCE_FLAGS, 0))
        if event is None or flags & Flags.STATE_CLEARED or not fields.keys() <= _PLAIN:
            sequence = self._take_state(fields, number, sequence)
        if event is None:
            if not fields.keys() & _KNOWN:
                self.skipped["packets of other kinds"] += 1
            return
        value = integer(fields.get(Packet.TIMESTAMP, 0))
        clock = fields.get(Packet.CLOCK_ID)
        clock_id = None if clock is None else integer(clock)
        time_ns = self.clocks.time_ns(value, clock_id, sequence.clocks)
        if time_ns is None:
            self.skipped["events on an unknown clock"] += 1
        elif abs(time_ns) >= _TIME_LIMIT:
            raise WireError("has a time beyond what 64 bits of nanoseconds hold", 0)
        elif event == _END:
            self._end(sequence.track, time_ns)
        else:
            self._take_event(event, time_ns, sequence)

    def _take_state(
        self, fields: dict[int, int | bytes], number: int, sequence: Sequence
    ) -> Sequence:
        if integer(fields.get(Packet.SEQUENCE_FLAGS, 0)) & Flags.STATE_CLEARED:
            sequence = self.sequences[number] = Sequence()
        if (defaults := fields.get(Packet.DEFAULTS)) is not None:
            found = dict(parse(defaults))
            if Defaults.CLOCK_ID in found:
                sequence.clocks.default = integer(found[Defaults.CLOCK_ID])
            if Defaults.TRACK_EVENT in found:
                event = dict(parse(found[Defaults.TRACK_EVENT]))
                sequence.track = integer(event.get(Event.TRACK_UUID, sequence.track))
        if (snapshot := fields.get(Packet.CLOCK_SNAPSHOT)) is not None:
            self.clocks.take(snapshot, sequence.clocks)
        if (interned := fields.get(Packet.INTERNED_DATA)) is not None:
            sequence.texts.take(interned)
        if (track := fields.get(Packet.TRACK_DESCRIPTOR)) is not None:
            self._describe(dict(parse(track)))
        return sequence

    def _describe(self, found: dict[int, int | bytes]) -> None:
        process = dict(parse(found.get(Track.PROCESS, b"")))
        thread = dict(parse(found.get(Track.THREAD, b"")))
        self.tracks[integer(found.get(Track.UUID, 0))] = TrackInfo(
            parent=_number(found.get(Track.PARENT_UUID)),
            name=to_text(found.get(Track.NAME) or thread.get(Thread.NAME)),
            pid=_number(process.get(Process.PID, thread.get(Thread.PID))),
            tid=_number(thread.get(Thread.TID)),
            process_name=to_text(process.get(Process.NAME)),
        )

    def _take_event(self, message: int | bytes, time_ns: int, sequence: Sequence) -> None:
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
        elif event.type != EventType.COUNTER or track not in self.tracks:
            self.skipped["track events of other types"] += 1

    def _end(self, track: int, time_ns: int) -> None:
        if begun := self._open.get(track):
            begun.pop().end_ns = time_ns
        else:
            self.skipped["ends without a begin"] += 1

    def _summarise(self, track: int, annotations: dict[str, Any]) -> None:
        tables, summary = annotations[TABLES], annotations.get(SUMMARY)
        if type(tables) is not str or type(summary) is not str:
            raise FormatError(f"{self._source}: {TABLES} of the trace is damaged")
        self.tables[track] = read_tables(tables.encode(), self._source)
        self.summaries.append(decode_json(summary.encode(), self._source))

    def file(self) -> TraceFile:
        """The file, once every packet was taken."""
        unclosed = sum(map(len, self._open.values()))
        if unclosed:
            self.skipped["begins without an end"] += unclosed
        return self.file_of(
            assemble(self._begun, self.tracks, self.tables, self.clocks.unix_offset_ns())
        )

    def file_of(self, trace: Trace) -> TraceFile:
        """`trace` with what was said about it, and what was left out."""
        warnings = [f"{n} not read: {what}" for what, n in sorted(self.skipped.items())]
        if len(self.summaries) > 1:
            warnings.append(f"{len(self.summaries)} recordings in one file: the first names it")
        return TraceFile(trace, next(iter(self.summaries), None), tuple(warnings))


_END = bytes([Event.TYPE << 3, EventType.END])  # the most frequent event
# A packet with no more than these changes no state, unless its flags say so.
_PLAIN = {Packet.TIMESTAMP, Packet.SEQUENCE_ID, Packet.SEQUENCE_FLAGS, Packet.TRACK_EVENT}
_KNOWN = {
    Packet.CLOCK_SNAPSHOT,
    Packet.DEFAULTS,
    Packet.INTERNED_DATA,
    Packet.TRACK_DESCRIPTOR,
}


def _number(value: int | bytes | None) -> int | None:
    return None if value is None else integer(value)
