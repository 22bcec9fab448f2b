"""Track events of a Perfetto trace: names, categories, flows and annotations, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proton.files.encoding.protobuf import integer, parse, signed, to_double
from proton.files.perfetto.fields import Annotation, Clock, ClockId, Event, Interned, Snapshot


class InternedTexts:
    """Texts that events of a sequence name by number."""

    __slots__ = ("annotation_names", "categories", "names", "strings")

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.categories: dict[int, str] = {}
        self.annotation_names: dict[int, str] = {}
        self.strings: dict[int, str] = {}

    def take(self, message: int | bytes) -> None:
        """Take an InternedData message."""
        homes = {
            Interned.NAMES: self.names,
            Interned.CATEGORIES: self.categories,
            Interned.ANNOTATION_NAMES: self.annotation_names,
            Interned.ANNOTATION_STRINGS: self.strings,
        }
        for number, value in parse(message):
            home = homes.get(number)
            if home is None or type(value) is not bytes:
                continue
            fields = dict(parse(value))
            home[integer(fields.get(Interned.IID, 0))] = to_text(fields.get(Interned.TEXT))


class EventFields(NamedTuple):
    """One track event. `name_iid` is the number that stood for the name, where one did."""

    type: int
    name: str
    name_iid: int | None
    category: str
    track: int | None
    annotations: dict[str, Any]
    flows: tuple[int, ...]
    ending_flows: tuple[int, ...]


class EventReader:
    """Reads events; annotations that were seen before are not read again."""

    def __init__(self) -> None:
        self._values: dict[tuple[InternedTexts, int | bytes], tuple[str, Any]] = {}

    def read(self, message: int | bytes, texts: InternedTexts) -> EventFields:
        """The event in a TrackEvent message."""
        event_type = 0
        name, category = "", ""
        name_iid: int | None = None
        track: int | None = None
        annotations: dict[str, Any] = {}
        flows: tuple[int, ...] = ()
        ending: tuple[int, ...] = ()
        for number, value in parse(message):
            if number == Event.TYPE:
                event_type = integer(value)
            elif number == Event.NAME_IID:
                name_iid = integer(value)
                name = texts.names.get(name_iid, "")
            elif number == Event.CATEGORY_IID:
                category = category or texts.categories.get(integer(value), "")
            elif number == Event.ANNOTATION:
                key, found = self._annotation(value, texts)
                annotations[key] = found
            elif number == Event.FLOW_ID:
                flows += (integer(value),)
            elif number == Event.TERMINATING_FLOW_ID:
                ending += (integer(value),)
            elif number == Event.NAME:
                name = to_text(value)
            elif number == Event.TRACK_UUID:
                track = integer(value)
        return EventFields(event_type, name, name_iid, category, track, annotations, flows, ending)

    def _annotation(self, message: int | bytes, texts: InternedTexts) -> tuple[str, Any]:
        # Equal bytes mean the same only where numbers mean the same: within a sequence.
        place = (texts, message)
        if (known := self._values.get(place)) is None:
            known = read_annotation(message, texts)
            self._values[place] = known
        return known


def read_annotation(message: int | bytes, texts: InternedTexts) -> tuple[str, Any]:
    """The name and value of a DebugAnnotation message. Lists are tuples, what is unknown None."""
    name = ""
    value: Any = None
    entries: dict[str, Any] | None = None
    parts: list[Any] | None = None
    for number, part in parse(message):
        if number == Annotation.NAME_IID:
            name = texts.annotation_names.get(integer(part), "")
        elif number == Annotation.NAME:
            name = to_text(part)
        elif number == Annotation.INT:
            value = signed(part)
        elif number == Annotation.UINT:
            value = integer(part)
        elif number == Annotation.DOUBLE:
            value = to_double(part)
        elif number == Annotation.BOOL:
            value = bool(part)
        elif number in (Annotation.STRING, Annotation.JSON):
            value = to_text(part)
        elif number == Annotation.STRING_IID:
            value = texts.strings.get(integer(part), "")
        elif number == Annotation.DICT_ENTRY:
            key, found = read_annotation(part, texts)
            entries = entries or {}
            entries[key] = found
        elif number == Annotation.ARRAY_VALUE:
            parts = parts or []
            parts.append(read_annotation(part, texts)[1])
    if parts is not None:
        return name, tuple(parts)
    return name, value if entries is None else entries


def to_text(value: object) -> str:
    """The text in a field; empty where there is none."""
    return value.decode(errors="replace") if type(value) is bytes else ""


_FIRST_OF_SEQUENCE = 64  # clocks from here on are those of one sequence


@dataclass(slots=True)
class _SequenceClock:
    """A clock that only one sequence uses."""

    last: int  # the latest timestamp, in its own unit
    multiplier: int
    is_incremental: bool
    offset_ns: int  # what is added to get the time of the trace


@dataclass(slots=True)
class SequenceClocks:
    """The clocks of one sequence."""

    default: int | None = None
    own: dict[int, _SequenceClock] = field(default_factory=dict)


class TraceClocks:
    """The clocks of a whole trace. Times are those of its primary clock."""

    def __init__(self) -> None:
        self._primary = ClockId.BOOTTIME
        self._offsets: dict[int, int] = {}

    def take(self, snapshot: int | bytes, sequence: SequenceClocks) -> None:
        """Take a ClockSnapshot message."""
        clocks: dict[int, dict[int, int]] = {}
        for number, value in parse(snapshot):
            if number == Snapshot.PRIMARY_CLOCK and isinstance(value, int):
                self._primary = value
            elif number == Snapshot.CLOCKS and isinstance(value, bytes):
                fields = {key: part for key, part in parse(value) if isinstance(part, int)}
                clocks[fields.get(Clock.ID, 0)] = fields
        now = {clock: fields.get(Clock.TIMESTAMP, 0) for clock, fields in clocks.items()}
        shared = [clock for clock in now if clock < _FIRST_OF_SEQUENCE]
        if self._primary in now:
            for clock in shared:
                self._offsets[clock] = now[self._primary] - now[clock]
        known = [now[clock] + self._offsets.get(clock, 0) for clock in shared]
        for clock, fields in clocks.items():
            if clock >= _FIRST_OF_SEQUENCE:
                multiplier = fields.get(Clock.MULTIPLIER, 1)
                offset_ns = known[0] - now[clock] * multiplier if known else 0
                is_incremental = bool(fields.get(Clock.IS_INCREMENTAL, 0))
                sequence.own[clock] = _SequenceClock(
                    now[clock], multiplier, is_incremental, offset_ns
                )

    def time_ns(self, value: int, clock: int | None, sequence: SequenceClocks) -> int | None:
        """A timestamp as a time of the trace; None on a clock that the trace does not explain."""
        if clock is None:
            clock = sequence.default if sequence.default is not None else self._primary
        own = sequence.own.get(clock)
        if own is not None:
            own.last = own.last + value if own.is_incremental else value
            return own.last * own.multiplier + own.offset_ns
        if clock >= _FIRST_OF_SEQUENCE:
            return None
        return value + self._offsets.get(clock, 0)

    def unix_offset_ns(self) -> int | None:
        """What is added to a time of the trace to get Unix time; None where it does not say."""
        if self._primary == ClockId.REALTIME:
            return 0
        offset = self._offsets.get(ClockId.REALTIME)
        return None if offset is None else -offset
