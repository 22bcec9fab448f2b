"""The part `trace`: spans by lane, what launched what, and gaps by cause, as columns.

A trace has a million spans, so nothing here makes an object for each: columns are built by whole
passes, what spans share (name, kind, context, arguments) stands once in a table of looks, and times
are differences, which compress well. Selections of the page name a span by its place here.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import sub

from proton.analysis.folding.library_frames import library_names
from proton.analysis.idle_time import CAUSES, Gaps, Idle, WallShares, find_idle, wall_shares
from proton.analysis.several_devices import SpanRows
from proton.model.columns import add, order_by, put, subtract, take, to_whole
from proton.model.metric import Metrics
from proton.model.profile import TreeProfile
from proton.model.span_table import NOT_DRIVERS, SpanTable, content_of, flow_table, span_table
from proton.model.trace import LaneKind, SpanKind, Trace
from proton.render.page.pack import ColumnId, Columns, record_of
from proton.render.page.trace_lanes import ShownLane, shown_lanes

NONE = -1  # no row, no arguments
_KINDS = tuple(SpanKind)
_MAX_ARGUMENTS = 65_536  # different ones; a page is no place for a value of every span


@dataclass(frozen=True, slots=True)
class LanePart:
    """A lane with the number of its spans and the start of the first."""

    group: str
    name: str
    kind: LaneKind
    count: int
    first_ns: float


@dataclass(frozen=True, slots=True)
class LookColumns:
    """What spans share, each combination once."""

    name: ColumnId  # a place in `names`
    kind: ColumnId  # a place in `kinds`
    row: ColumnId  # of the tree; -1: in none
    args: ColumnId  # a place in `args`; -1: none


@dataclass(frozen=True, slots=True)
class FlowColumns:
    """Pairs of spans by source; both columns are differences to the pair before."""

    count: int
    source: ColumnId
    target: ColumnId
    correlation: ColumnId | None  # ids of the driver, 0: none; null where no pair has one


@dataclass(frozen=True, slots=True)
class GapRow:
    """Gaps of a lane whose stream stood still; `lane` is null where all of the device did."""

    lane: int | None
    group: str
    count: int
    first_ns: float
    sums_ns: Sequence[float]  # by cause


@dataclass(frozen=True, slots=True)
class GapColumns:
    """Gaps row by row and by start, times as differences."""

    causes: Sequence[str]
    rows: Sequence[GapRow]
    delta_ns: ColumnId
    duration_ns: ColumnId
    cause: ColumnId


@dataclass(frozen=True, slots=True)
class WallPart:
    """Shares of the wall time."""

    wall_ns: float
    busy: float
    overlap: float
    outside: float
    launch_bound: float | None
    idle: Sequence[float]  # by cause


@dataclass(frozen=True, slots=True)
class TracePart:
    """The timeline of a profile that was recorded as a trace.

    Spans stand lane by lane, by start, the longer first. `delta_ns` is from the start of the span
    before it in its lane, for the first of a lane from `first_ns` of the lane. `look` is a place in
    the columns of `looks`.
    """

    extent_ns: tuple[float, float]
    base_time_ns: str | None  # Unix time of 0, as digits: JavaScript's numbers have too few
    lanes: Sequence[LanePart]
    kinds: Sequence[SpanKind]
    count: int
    delta_ns: ColumnId
    duration_ns: ColumnId
    look: ColumnId
    names: Sequence[str]
    library: Sequence[int]  # places in `names`: frames of libraries
    looks: LookColumns
    args: Sequence[Metrics]
    args_left_out: int
    flows: FlowColumns
    gaps: GapColumns
    shares: WallPart | None


def trace_part(profile: TreeProfile, columns: Columns) -> TracePart | None:
    """The timeline of a profile; None where it has none."""
    trace = profile.trace
    if trace is None or not trace.spans:
        return None
    spans = span_table(trace.spans)
    lanes = shown_lanes(trace.lanes)
    order, firsts = _order(lanes, spans)
    starts, durations = take(spans.start_ns, order), take(spans.duration_ns, order)
    looks = _Looks(SpanRows(trace, profile.tree, profile.devices))
    idle = find_idle(trace)
    return TracePart(
        extent_ns=(min(starts), max(add(starts, durations))),
        base_time_ns=None if trace.base_time_ns is None else str(trace.base_time_ns),
        lanes=[
            LanePart(
                lane.group, lane.name, lane.kind, end - first, starts[first] if first < end else 0.0
            )
            for lane, (first, end) in zip(lanes, pairwise(firsts), strict=True)
        ],
        kinds=_KINDS,
        count=len(order),
        delta_ns=_add_times(columns, _deltas(starts, firsts)),
        duration_ns=_add_times(columns, _not_negative(durations)),
        look=_add_numbers(columns, take(looks.numbers(spans), order)),
        names=looks.names,
        library=library_names(looks.names),
        looks=looks.columns(columns),
        args=looks.arguments,
        args_left_out=looks.left_out,
        flows=_flows(trace, order, columns),
        gaps=_gaps(idle, lanes, columns),
        shares=_shares(wall_shares(trace, idle)),
    )


def _order(lanes: Sequence[ShownLane], spans: SpanTable) -> tuple[array[int], list[int]]:
    """The spans lane by lane as shown, by start, the longer first; where each lane begins."""
    place_of = array("I", [0]) * len(lanes)
    for place, lane in enumerate(lanes):
        place_of[lane.number] = place
    shown = take(place_of, spans.lane)
    none = array("d", [0]) * len(spans)
    order = order_by(shown, spans.start_ns, subtract(none, spans.duration_ns))
    in_order = take(shown, order)
    return order, [bisect_left(in_order, place) for place in range(len(lanes) + 1)]


def _deltas(starts: array[float], firsts: Iterable[int]) -> array[float]:
    """From the start of one span to that of the next in its lane; 0 for the first."""
    found = subtract(starts, starts[:1] + starts[:-1])
    for first in firsts:
        if first < len(found):
            found[first] = 0.0
    return found


def _not_negative(values: array[float]) -> array[float]:
    return values if min(values) >= 0 else array("d", (max(0.0, value) for value in values))


def _add_times(columns: Columns, times: array[float]) -> str:
    """A column of times: whole nanoseconds where they are, which is half the size."""
    whole = to_whole(times) if times else None
    return columns.add("f64", times) if whole is None else columns.add("u32", whole)


def _add_numbers(columns: Columns, values: array[int]) -> str:
    is_small = max(values, default=0) < 1 << 16
    return columns.add("u16", array("H", values)) if is_small else columns.add("u32", values)


class _Looks:
    """What spans have in common, each combination once."""

    def __init__(self, rows: SpanRows) -> None:
        self.left_out = 0  # combinations whose arguments are not in the page
        self._rows = rows
        self._names: dict[str, int] = {}
        self._known: dict[object, int] = {}
        self._same: dict[tuple[int, int], int] = {}
        self.arguments: list[Metrics] = []
        self._table: dict[tuple[int, int, int, int], int] = {}

    def numbers(self, spans: SpanTable) -> array[int]:
        """The look of every span. Looks are numbered as spans first have them."""
        if self._rows.is_by_lane:
            pairs = list(zip(spans.look, spans.lane, strict=True))
            found = {
                pair: self._look(*spans.looks[pair[0]], pair[1]) for pair in dict.fromkeys(pairs)
            }
            return array("I", map(found.__getitem__, pairs))
        numbers = array("I", bytes(4 * len(spans.looks)))
        for at in dict.fromkeys(spans.look):
            numbers[at] = self._look(*spans.looks[at])
        return take(numbers, spans.look)

    def _look(
        self,
        name: str,
        kind: SpanKind,
        path: tuple[str, ...],
        metrics: Metrics,
        attributes: Metrics,
        lane: int = 0,
    ) -> int:
        # CTAs, which are one context, have no row, nor has what the tree leaves out.
        row = self._rows.find(path or (name,), lane)
        look = (
            self._names.setdefault(name, len(self._names)),
            _KINDS.index(kind),
            NONE if row is None else row,
            self._argument(metrics, attributes),
        )
        return self._table.setdefault(look, len(self._table))

    def _argument(self, metrics: Metrics, attributes: Metrics) -> int:
        if not metrics and not attributes:
            return NONE
        same = (id(metrics), id(attributes))  # of looks, which last longer than this
        if (known := self._same.get(same)) is None:
            known = self._same[same] = self._new_argument(metrics, attributes)
        return known

    def _new_argument(self, metrics: Metrics, attributes: Metrics) -> int:
        content = (content_of(metrics), content_of(attributes))
        if content not in self._known and len(self.arguments) >= _MAX_ARGUMENTS:
            self.left_out += 1
            return NONE
        number = self._known.setdefault(content, len(self.arguments))
        if number == len(self.arguments):
            self.arguments.append({**attributes, **metrics})
        return number

    @property
    def names(self) -> list[str]:
        """Names by number."""
        return list(self._names)

    def columns(self, columns: Columns) -> LookColumns:
        """The looks by number."""
        name, kind, row, args = zip(*self._table, strict=True)
        return LookColumns(
            columns.add("u32", name),
            columns.add("u8", kind),
            columns.add("i32", row),
            columns.add("i32", args),
        )


def _flows(trace: Trace, order: array[int], columns: Columns) -> FlowColumns:
    flows = flow_table(trace.flows)
    place = put(len(order), order, array("I", range(len(order))))
    sources, targets = take(place, flows.source), take(place, flows.target)
    in_order = order_by(sources, targets)
    ids = array("I", (each if each < NOT_DRIVERS else 0 for each in flows.ids))
    return FlowColumns(
        count=len(in_order),
        source=columns.add("u32", _differences(take(sources, in_order))),
        target=columns.add("i32", _differences(take(targets, in_order))),
        correlation=columns.add("u32", take(ids, in_order)) if any(ids) else None,
    )


def _differences(values: array[int]) -> Iterable[int]:
    return chain(values[:1], map(sub, islice(values, 1, None), values))


def _gaps(idle: Idle, lanes: Sequence[ShownLane], columns: Columns) -> GapColumns:
    at = {lane.number: place for place, lane in enumerate(lanes)}
    rows: list[tuple[int | None, str, Gaps]] = [
        (at[lane], lanes[at[lane]].group, gaps) for lane, gaps in idle.lanes.items()
    ]
    rows += [(None, device, gaps) for device, gaps in idle.devices.items()]
    rows = [row for row in rows if row[2].cause]
    deltas, durations, causes = array("d"), array("d"), array("B")
    for _, _, gaps in rows:
        deltas += subtract(gaps.start_ns, gaps.start_ns[:1] + gaps.start_ns[:-1])
        durations += gaps.durations_ns()
        causes += gaps.cause
    return GapColumns(
        causes=[cause.value for cause in CAUSES],
        rows=[_gap_row(lane, group, gaps) for lane, group, gaps in rows],
        delta_ns=_add_times(columns, deltas),
        duration_ns=_add_times(columns, durations),
        cause=columns.add("u8", causes),
    )


def _gap_row(lane: int | None, group: str, gaps: Gaps) -> GapRow:
    sums = gaps.sums_ns()
    return GapRow(
        lane=lane,
        group=group,
        count=len(gaps.cause),
        first_ns=gaps.start_ns[0],
        sums_ns=[sums.get(cause, 0) for cause in CAUSES],
    )


def _shares(shares: WallShares | None) -> WallPart | None:
    if shares is None:
        return None
    return record_of(
        WallPart,
        shares,
        idle=[shares.idle.get(cause, 0) for cause in CAUSES],
    )
