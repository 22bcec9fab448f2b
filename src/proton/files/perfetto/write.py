"""Profile -> bytes of Perfetto's own format; the counterpart of `perfetto`.

Recordings are written by the native core, in the same way. Times are whole nanoseconds.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from proton.errors import WriteError
from proton.files.encoding.protobuf import (
    bytes_field,
    double_field,
    fixed64_field,
    number_field,
    text_field,
)
from proton.files.encoding.schema import ROOT_NAME
from proton.files.encoding.summary import device_map, summary_object
from proton.files.perfetto.assemble import SUMMARY, TABLES, Tables, tables_text
from proton.files.perfetto.ctas import CtaTrack, CtaTracks
from proton.files.perfetto.fields import (
    TRACE_PACKET,
    Annotation,
    Clock,
    ClockId,
    Defaults,
    Event,
    EventType,
    Flags,
    Interned,
    Packet,
    Process,
    Snapshot,
    Thread,
    Track,
)
from proton.files.trace.nesting import NestedTrack, nest_spans
from proton.files.trace.write import Counter, count_metrics
from proton.model.metric import MetricValue
from proton.model.profile import Profile
from proton.model.trace import LaneKind, Span, Trace

_BLOCK = 512 * 1024  # bytes that are compressed together
_MAIN_SEQUENCE = 1
_TIME_LIMIT = 1 << 62


def to_perfetto(profile: Profile, trace: Trace) -> bytes:
    """`profile`, which holds `trace`, as a compressed Perfetto trace.

    Raises:
        WriteError: Times are beyond what the format holds.
    """
    writer = _Writer(profile, trace)
    blocks: list[bytes] = []
    block = bytearray()
    for packet in writer.packets():
        block += bytes_field(TRACE_PACKET, packet)
        if len(block) >= _BLOCK:
            blocks.append(_compressed(block))
            block.clear()
    return b"".join([*blocks, _compressed(block)])


def _compressed(block: bytearray) -> bytes:
    return bytes_field(TRACE_PACKET, bytes_field(Packet.COMPRESSED_PACKETS, zlib.compress(block)))


class _Texts:
    """Texts with numbers; a sequence says each that it uses once."""

    def __init__(self, field: int) -> None:
        self._field = field
        self._numbers: dict[str, int] = {}
        self._said: set[str] = set()

    def begin_sequence(self) -> None:
        self._said.clear()

    def number(self, text: str, new: bytearray) -> int:
        """The number of `text`; said in `new` where it was not said yet."""
        number = self._numbers.setdefault(text, len(self._numbers) + 1)
        if text not in self._said:
            self._said.add(text)
            entry = number_field(Interned.IID, number)
            entry += text_field(Interned.TEXT, text)
            new += bytes_field(self._field, entry)
        return number


class _Paths:
    """Every path of a trace with its number; path 0 is the root."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.numbers: dict[tuple[str, ...], int] = {(): 0}
        self.parents = [0]
        self.names = [ROOT_NAME]
        for span in spans:
            self._add(span.path)

    def _add(self, path: tuple[str, ...]) -> None:
        known = len(path)
        while path[:known] not in self.numbers:
            known -= 1
        for size in range(known + 1, len(path) + 1):
            self.parents.append(self.numbers[path[: size - 1]])
            self.names.append(path[size - 1])
            self.numbers[path[:size]] = len(self.numbers)


class _Writer:
    """One file."""

    def __init__(self, profile: Profile, trace: Trace) -> None:
        self._profile = profile
        self._trace = trace
        self._pid = profile.header.pid if (profile.header.pid or 0) > 0 else 1
        first_ns = min((span.start_ns for span in trace.spans), default=0)
        self._zero_ns = trace.base_time_ns
        if self._zero_ns is None:
            self._zero_ns = max(0, -round(first_ns))
        self._first_ns = min(0, round(first_ns))
        last_ns = max((span.start_ns + span.duration_ns for span in trace.spans), default=0)
        if self._zero_ns + self._first_ns < 0 or self._zero_ns + last_ns >= _TIME_LIMIT:
            raise WriteError(
                f"{profile.source}: times are beyond what 64 bits of nanoseconds hold; "
                "write it as chrome_trace"
            )
        self._clock = ClockId.BOOTTIME if trace.base_time_ns is None else ClockId.REALTIME
        self._process = (hash((self._pid, self._zero_ns)) & 0x7FFF_FFFF) << 32
        self._paths = _Paths(trace.spans)
        self._tracks = nest_spans(trace)
        self._counters = count_metrics(trace, profile.metric_kinds)
        firsts: dict[int, int] = {}
        for number, track in enumerate(self._tracks):
            firsts.setdefault(track.lane, self._process + 1 + number)
        free_uuid = self._process + 1 + len(self._tracks) + len(self._counters)
        self._ctas = CtaTracks(trace.lanes, firsts, self._process, free_uuid)
        self._sources: dict[int, list[int]] = {}
        self._targets: dict[int, list[int]] = {}
        for number, flow in enumerate(trace.flows, 1):
            self._sources.setdefault(flow.source, []).append(number)
            self._targets.setdefault(flow.target, []).append(number)
        self._categories = _Texts(Interned.CATEGORIES)
        self._keys = _Texts(Interned.ANNOTATION_NAMES)
        self._strings = _Texts(Interned.ANNOTATION_STRINGS)
        self._said_names: set[int] = set()
        self._sequences = count(_MAIN_SEQUENCE + 1)

    def packets(self) -> Iterable[bytes]:
        """Every packet of the file."""
        yield self._main(Packet.CLOCK_SNAPSHOT, self._snapshot(self._zero_ns or 0, is_main=True))
        yield self._main(Packet.TRACK_DESCRIPTOR, self._describe_process())
        first_uuid = 0
        for cta in self._ctas.all:
            yield self._main(Packet.TRACK_DESCRIPTOR, self._describe_cta(cta))
        for number, track in enumerate(self._tracks):
            uuid = self._process + 1 + number
            first_uuid = uuid if track.is_first_of_lane else first_uuid
            yield self._main(Packet.TRACK_DESCRIPTOR, self._describe_track(track, uuid, first_uuid))
        counters = list(enumerate(self._counters, self._process + 1 + len(self._tracks)))
        for uuid, counter in counters:
            yield self._main(Packet.TRACK_DESCRIPTOR, self._describe_counter(counter, uuid))
        for number, track in enumerate(self._tracks):
            yield from self._track_packets(track, self._process + 1 + number)
        for uuid, counter in counters:
            yield from self._counter_packets(counter, uuid)
        yield self._summary_packet()

    # ---- what stands on the main sequence ----

    def _main(self, field: int, message: bytes) -> bytes:
        return number_field(Packet.SEQUENCE_ID, _MAIN_SEQUENCE) + bytes_field(field, message)

    def _snapshot(self, time_ns: int, *, is_main: bool = False) -> bytes:
        def clock(clock_id: int) -> bytes:
            return number_field(Clock.ID, clock_id) + number_field(Clock.TIMESTAMP, time_ns)

        message = bytes_field(Snapshot.CLOCKS, clock(self._clock))
        if is_main:
            return message + number_field(Snapshot.PRIMARY_CLOCK, self._clock)
        own = clock(ClockId.INCREMENTAL) + number_field(Clock.IS_INCREMENTAL, 1)
        return message + bytes_field(Snapshot.CLOCKS, own)

    def _describe_process(self) -> bytes:
        header = self._profile.header
        process = number_field(Process.PID, self._pid or 1)
        process += b"".join(text_field(Process.COMMAND, word) for word in header.command)
        process += text_field(Process.NAME, header.session or "Trace")
        message = number_field(Track.UUID, self._process) + bytes_field(Track.PROCESS, process)
        return message + number_field(Track.CHILD_ORDERING, Track.EXPLICIT_ORDER)

    def _describe_track(self, track: NestedTrack, uuid: int, first_uuid: int) -> bytes:
        lane = self._trace.lanes[track.lane]
        is_host = lane.kind is LaneKind.HOST
        message = number_field(Track.UUID, uuid)
        if is_host and track.is_first_of_lane:
            thread = number_field(Thread.PID, self._pid or 1)
            thread += number_field(Thread.TID, track.lane + 1)
            return message + bytes_field(Track.THREAD, thread + text_field(Thread.NAME, lane.name))
        above = (first_uuid if is_host else self._process, lane.name)
        parent, name = self._ctas.place(track.lane, above)
        message += number_field(Track.PARENT_UUID, parent)
        message += text_field(Track.NAME, name)
        return message + number_field(Track.SIBLING_RANK, lane.sort)

    def _describe_cta(self, cta: CtaTrack) -> bytes:
        message = number_field(Track.UUID, cta.uuid)
        message += number_field(Track.PARENT_UUID, cta.parent_uuid)
        message += text_field(Track.NAME, cta.name) + number_field(Track.SIBLING_RANK, cta.rank)
        return message + number_field(Track.CHILD_ORDERING, Track.EXPLICIT_ORDER)

    def _describe_counter(self, counter: Counter, uuid: int) -> bytes:
        message = number_field(Track.UUID, uuid) + number_field(Track.PARENT_UUID, self._process)
        return message + text_field(Track.NAME, counter.name) + bytes_field(Track.COUNTER, b"")

    def _summary_packet(self) -> bytes:
        summary = summary_object(self._profile)
        if self._profile.devices:
            summary["devices"] = device_map(self._profile)
        tables = Tables(
            base_time_ns=self._trace.base_time_ns,
            zero_ns=self._zero_ns or 0,
            lanes=list(self._trace.lanes),
            tracks=[track.lane for track in self._tracks],
            paths=[],
        )
        texts = (
            (SUMMARY, Annotation.JSON, json.dumps(summary, ensure_ascii=False, allow_nan=False)),
            (
                TABLES,
                Annotation.STRING,
                tables_text(tables, parents=self._paths.parents, names=self._paths.names),
            ),
        )
        event = number_field(Event.TYPE, EventType.INSTANT)
        event += number_field(Event.TRACK_UUID, self._process) + text_field(Event.NAME, SUMMARY)
        for name, field, text in texts:
            entry = text_field(Annotation.NAME, name) + text_field(field, text)
            event += bytes_field(Event.ANNOTATION, entry)
        packet = number_field(Packet.TIMESTAMP, (self._zero_ns or 0) + self._first_ns)
        packet += number_field(Packet.CLOCK_ID, self._clock)
        return packet + self._main(Packet.TRACK_EVENT, event)

    # ---- what stands on the tracks ----

    def _begin_sequence(self, uuid: int, first_ns: int) -> tuple[bytes, bytes]:
        """The packet that begins a sequence, and what every other packet of it has."""
        for texts in (self._categories, self._keys, self._strings):
            texts.begin_sequence()
        self._said_names.clear()
        number = number_field(Packet.SEQUENCE_ID, next(self._sequences))
        defaults = bytes_field(Defaults.TRACK_EVENT, number_field(Event.TRACK_UUID, uuid))
        defaults += number_field(Defaults.CLOCK_ID, ClockId.INCREMENTAL)
        packet = number + number_field(Packet.SEQUENCE_FLAGS, Flags.STATE_CLEARED)
        packet += bytes_field(Packet.DEFAULTS, defaults)
        snapshot = self._snapshot((self._zero_ns or 0) + first_ns)
        packet += bytes_field(Packet.CLOCK_SNAPSHOT, snapshot)
        return packet, number + number_field(Packet.SEQUENCE_FLAGS, Flags.NEEDS_STATE)

    def _track_packets(self, track: NestedTrack, uuid: int) -> Iterable[bytes]:
        last_ns = track.marks[0].time_ns
        first, common = self._begin_sequence(uuid, last_ns)
        yield first
        for mark in track.marks:
            packet = number_field(Packet.TIMESTAMP, mark.time_ns - last_ns) + common
            last_ns = mark.time_ns
            if mark.span is None:
                event = number_field(Event.TYPE, EventType.END)
            else:
                new = bytearray()
                event = self._begin_event(mark.span, new)
                if new:
                    packet += bytes_field(Packet.INTERNED_DATA, bytes(new))
            yield packet + bytes_field(Packet.TRACK_EVENT, event)

    def _begin_event(self, index: int, new: bytearray) -> bytes:
        span = self._trace.spans[index]
        event = number_field(Event.TYPE, EventType.BEGIN)
        if span.path:
            event += number_field(Event.NAME_IID, self._name_number(span.path, new))
        else:
            event += text_field(Event.NAME, span.name)
        category = self._categories.number(span.kind.value, new)
        event += number_field(Event.CATEGORY_IID, category)
        if span.path and self._trace.lanes[span.lane].kind is not LaneKind.HOST:
            event += self._text_annotation("call_stack", " > ".join(span.path), new)
        for name, value in span.attributes.items():
            if isinstance(value, tuple) and len(value) == 3:
                event += self._text_annotation(name, "x".join(map(str, value)), new)
            else:
                event += bytes_field(Event.ANNOTATION, self._annotation(name, value, new))
        if span.metrics:
            event += bytes_field(Event.ANNOTATION, self._metrics(span.metrics, new))
        for number in self._sources.get(index, ()):
            event += fixed64_field(Event.FLOW_ID, self._process + number)
        for number in self._targets.get(index, ()):
            event += fixed64_field(Event.TERMINATING_FLOW_ID, self._process + number)
        return event

    def _name_number(self, path: tuple[str, ...], new: bytearray) -> int:
        number = self._paths.numbers[path] + 1
        if number not in self._said_names:
            self._said_names.add(number)
            entry = number_field(Interned.IID, number) + text_field(Interned.TEXT, path[-1])
            new += bytes_field(Interned.NAMES, entry)
        return number

    def _text_annotation(self, name: str, text: str, new: bytearray) -> bytes:
        entry = number_field(Annotation.NAME_IID, self._keys.number(name, new))
        entry += number_field(Annotation.STRING_IID, self._strings.number(text, new))
        return bytes_field(Event.ANNOTATION, entry)

    def _metrics(self, metrics: Mapping[str, MetricValue], new: bytearray) -> bytes:
        entry = number_field(Annotation.NAME_IID, self._keys.number("metrics", new))
        for name, value in metrics.items():
            entry += bytes_field(Annotation.DICT_ENTRY, self._annotation(name, value, new))
        return entry

    def _annotation(self, name: str, value: MetricValue, new: bytearray) -> bytes:
        return number_field(Annotation.NAME_IID, self._keys.number(name, new)) + _value(value)

    def _counter_packets(self, counter: Counter, uuid: int) -> Iterable[bytes]:
        last_ns = round(counter.samples[0][0])
        first, common = self._begin_sequence(uuid, last_ns)
        yield first
        for time_ns, total in counter.samples:
            packet = number_field(Packet.TIMESTAMP, round(time_ns) - last_ns) + common
            last_ns = round(time_ns)
            event = number_field(Event.TYPE, EventType.COUNTER)
            if isinstance(total, int) and -(2**63) <= total < 2**63:
                event += number_field(Event.COUNTER_VALUE, total)
            else:
                event += double_field(Event.DOUBLE_COUNTER_VALUE, float(total))
            yield packet + bytes_field(Packet.TRACK_EVENT, event)


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return text_field(Annotation.STRING, value)
    if isinstance(value, int):
        return number_field(Annotation.UINT if value >= 2**63 else Annotation.INT, value)
    if isinstance(value, float):
        return double_field(Annotation.DOUBLE, value)
    return b"".join(bytes_field(Annotation.ARRAY_VALUE, _value(part)) for part in value)
