"""Events of a Perfetto trace -> lanes, spans and flows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_number, is_text, read_attributes
from proton.files.encoding.decode_json import decode_json
from proton.files.perfetto.events import EventFields
from proton.files.trace.events import kind_at, kind_of
from proton.files.trace.lanes import LaneNames, Row, in_order
from proton.files.trace.read import BASE_TIME
from proton.model.metric import EMPTY, Metrics, MetricValue
from proton.model.span_table import FlowTable, Look, numbered_flows
from proton.model.trace import Lane, LaneKind, Span, Trace

SUMMARY = "proton"  # the annotation that holds the `proton` object, and the name of the event
TABLES = "proton_tables"


class Tables(NamedTuple):
    """What the annotation says."""

    base_time_ns: int | None
    zero_ns: int  # the time of the trace's clock at start_ns 0
    lanes: list[Lane]
    tracks: list[int]  # lane of each track
    paths: list[tuple[str, ...]]  # names from the root (left out) down; path 0 is the root


def read_tables(text: bytes, source: str) -> Tables:
    """The tables in `text`.

    Raises:
        FormatError: They are not as the native core writes them.
    """
    found = decode_json(text, source)
    try:
        base, zero = found.get(BASE_TIME), found["zero_ns"]
        lanes = [_lane(*entry) for entry in found["lanes"]]
        tracks, numbers, names = found["tracks"], found["paths"], found["names"]
        _expect(base is None or is_integer(base))
        _expect(is_integer(zero) and all(map(is_text, names)))
        _expect(all(type(lane) is int and 0 <= lane < len(lanes) for lane in tracks))
        _expect(len(numbers) % 2 == 0 and all(type(part) is int for part in numbers))
        paths: list[tuple[str, ...]] = [()]
        for row in range(1, len(numbers) // 2):
            parent, name = numbers[2 * row], numbers[2 * row + 1]
            _expect(0 <= parent < row and 0 <= name < len(names))
            paths.append((*paths[parent], names[name]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise FormatError(f"{source}: {TABLES} of the trace is damaged") from None
    return Tables(base, zero, lanes, tracks, paths)


def _expect(is_so: bool) -> None:
    if not is_so:
        raise ValueError


def _lane(key: Any, name: Any, kind: Any, sort: Any) -> Lane:
    _expect(is_text(key) and is_text(name) and is_integer(sort))
    return Lane(key, name, LaneKind(kind), sort)


_TRACK_BITS = 32  # the lower half of a track's uuid counts the tracks of a file
_MOST_FLOWS = 1 << 33  # of a process: ids of the driver, and those that the recorder counts itself
_NOT_ATTRIBUTES = {"call_stack", "metrics"}


class TrackInfo(NamedTuple):
    """A track as its descriptor says."""

    parent: int | None = None
    name: str = ""
    pid: int | None = None
    tid: int | None = None
    process_name: str = ""


@dataclass(slots=True)
class Begun:
    """A slice that began, or an instant; `end_ns` is None while nobody ended it."""

    track: int
    start_ns: int
    event: EventFields
    end_ns: int | None = None


def assemble(
    begun: list[Begun],
    tracks: Mapping[int, TrackInfo],
    tables: Mapping[int, Tables],
    unix_offset_ns: int | None,
) -> Trace:
    """The trace of all events.

    Args:
        begun: The events, in the order of the file.
        tracks: The tracks by their uuid.
        tables: Our own tables by the uuid of their process; none in files that are not ours.
        unix_offset_ns: From times of the trace to Unix time, where known.
    """
    first_ns = min((one.start_ns for one in begun), default=None)
    zero_ns, base_ns = zero_of(first_ns, tables, unix_offset_ns)
    lanes = Lanes(tracks, tables)
    spans = [_span(one, lanes, tables, zero_ns) for one in begun]
    return in_order(lanes.found, spans, with_own_ids(_flows(begun), tables), base_ns)


def zero_of(
    first_ns: int | None, tables: Mapping[int, Tables], unix_offset_ns: int | None
) -> tuple[int, int | None]:
    """The time of the trace that is start_ns 0, and the Unix time of it.

    Args:
        first_ns: The time of the first event; None where there is none.
        tables: Our own tables.
        unix_offset_ns: From times of the trace to Unix time, where known.
    """
    bases = [table.base_time_ns for table in tables.values() if table.base_time_ns is not None]
    if bases:
        return min(bases), min(bases)
    if tables:
        return min(table.zero_ns for table in tables.values()), None
    if first_ns is None:
        return 0, None
    return first_ns, None if unix_offset_ns is None else first_ns + unix_offset_ns


def home_of(track: int) -> int:
    """The process that a track of ours belongs to."""
    return track >> _TRACK_BITS << _TRACK_BITS


class Lanes:
    """The lanes of a trace, in the order in which they are asked for."""

    def __init__(self, tracks: Mapping[int, TrackInfo], tables: Mapping[int, Tables]) -> None:
        self.found: list[Lane] = []
        self._tracks = tracks
        self._tables = tables
        self._processes = {
            info.pid: info.process_name for info in tracks.values() if info.process_name
        }
        self._first_home = next(iter(tables), None)
        self._by_track: dict[int, int] = {}
        self._by_key: dict[str, int] = {}

    def of(self, track: int) -> int:
        """The index of the lane that shows `track`."""
        if (known := self._by_track.get(track)) is None:
            lane = self._our_lane(track) or self._other_lane(track)
            known = self._by_key.setdefault(lane.key, len(self.found))
            if known == len(self.found):
                self.found.append(lane)
            self._by_track[track] = known
        return known

    def _our_lane(self, track: int) -> Lane | None:
        home = home_of(track)
        tables = self._tables.get(home)
        number = track - home - 1
        if tables is None or not 0 <= number < len(tables.tracks):
            return None
        lane = tables.lanes[tables.tracks[number]]
        if home == self._first_home:
            return lane
        pid = self._tracks.get(home, TrackInfo()).pid  # a file joined to another
        return lane._replace(key=f"{pid} {lane.key}", name=f"{pid} {lane.name}")

    def _other_lane(self, track: int) -> Lane:
        info = self._tracks.get(track, TrackInfo(name=f"track {track}"))
        owner = info
        for _ in range(len(self._tracks)):  # not longer: parents may go in circles
            above = None if owner.parent is None else self._tracks.get(owner.parent)
            if owner.pid is not None or above is None:
                break
            owner = above
        names = LaneNames()
        row = Row(owner.pid or 0, str(track) if info.tid is None else info.tid)
        names.threads[row] = info.name or owner.name or f"track {track}"
        if owner.pid in self._processes:
            names.processes[row.pid] = self._processes[owner.pid]
        return names.lane(row, has_kernels=False)


def _span(one: Begun, lanes: Lanes, tables: Mapping[int, Tables], zero_ns: int) -> Span:
    event = one.event
    ours = tables.get(home_of(one.track))
    name, kind, path, metrics, attributes = look_of(
        event.name, event.name_iid, event.category, measured_of(event.annotations), ours
    )
    end_ns = one.start_ns if one.end_ns is None else max(one.end_ns, one.start_ns)
    start_ns, duration_ns = float(one.start_ns - zero_ns), float(end_ns - one.start_ns)
    lane = lanes.of(one.track)
    return Span(name, kind, lane, start_ns, duration_ns, path, metrics, attributes)


def look_of(
    name: str, name_iid: int | None, category: str, measured: Measured, ours: Tables | None
) -> Look:
    """What an event says of itself, but for place and time.

    Args:
        name: Its name as the trace has it.
        name_iid: The number that stood for the name, where one did.
        category: The name of its kind.
        measured: What its annotations say.
        ours: The tables of the file it comes from, where that is ours.
    """
    kind = kind_of(category, EMPTY if ours is None else measured.attributes)
    if ours is None:
        return Look(name, kind)
    if name_iid is not None and 0 < name_iid <= len(ours.paths):
        path = ours.paths[name_iid - 1]
        return Look(path[-1] if path else name, kind_at(kind, path), path, *measured)
    return Look(name, kind, (), *measured)


class Measured(NamedTuple):
    """The metrics and attributes among the annotations of an event."""

    metrics: Metrics = EMPTY
    attributes: Metrics = EMPTY


def measured_of(annotations: Mapping[str, Any]) -> Measured:
    """What annotations of our own say."""
    if not annotations:
        return Measured()
    is_plain = not annotations.keys() - _NOT_ATTRIBUTES
    return Measured(
        _metrics(annotations.get("metrics")), EMPTY if is_plain else _attributes(annotations)
    )


def _metrics(found: Any) -> Metrics:
    """A metric without any value is a list of none."""
    if type(found) is not dict:
        return EMPTY
    metrics: dict[str, MetricValue] = {}
    for name, value in found.items():
        if not name:
            continue
        if value is None:
            metrics[name] = ()
        elif is_number(value) or is_text(value) or _is_list(value):
            metrics[name] = value
    return metrics or EMPTY


def _is_list(value: object) -> bool:
    return type(value) is tuple and all(map(is_number, value))


def _attributes(annotations: Mapping[str, Any]) -> Metrics:
    found = {}
    for name, value in annotations.items():
        if name not in _NOT_ATTRIBUTES:
            found[name] = list(value) if type(value) is tuple else _extent(value)
    return read_attributes(found)


def _extent(value: Any) -> Any:
    """`4x4x1` -> [4, 4, 1]; anything else stays."""
    parts = value.split("x") if type(value) is str else []
    return (
        [int(part) for part in parts] if len(parts) == 3 and all(map(_is_whole, parts)) else value
    )


def with_own_ids(flows: FlowTable, tables: Mapping[int, Tables]) -> FlowTable:
    """The flows by the ids that their process gave them: files of ours add its uuid."""
    if not tables:
        return flows
    ids = array("Q", (_own_id(number, tables) for number in flows.ids))
    return replace(flows, ids=ids)


def _own_id(number: int, processes: Iterable[int]) -> int:
    """The id without the uuid of its process; 0 where it is of none."""
    found = (number - process for process in processes if 0 < number - process < _MOST_FLOWS)
    return next(found, 0)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _flows(begun: list[Begun]) -> FlowTable:
    """An arrow from each event of a flow to the next; the one that ends it is the last."""
    ends: dict[int, list[tuple[bool, int]]] = {}
    for index, one in enumerate(begun):
        for flow in one.event.flows:
            ends.setdefault(flow, []).append((False, index))
        for flow in one.event.ending_flows:
            ends.setdefault(flow, []).append((True, index))
    flows: list[tuple[int, int, int]] = []
    for flow, found in ends.items():
        found.sort(key=lambda end: (end[0], begun[end[1]].start_ns))
        flows += [(a, b, flow) for (_, a), (_, b) in pairwise(found)]
    return numbered_flows(flows)
