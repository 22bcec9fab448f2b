"""The part `trace`: spans by lane, what launched what, and gaps by cause, as columns.

A trace has a million spans, so nothing here makes an object for each: columns are built by whole
passes, what spans share (name, kind, context, arguments) stands once in a table of looks, and times
are differences, which compress well. Selections of the page name a span by its place here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import add, lt, sub

from proton.analysis.idle_time import CAUSES, Gaps, Idle, WallShares, find_idle, wall_shares
from proton.model.metric import EMPTY, Metrics
from proton.model.profile import TreeProfile
from proton.model.trace import LaneKind, SpanKind, Trace
from proton.model.tree import Tree, row_at
from proton.render.page.pack import ColumnId, Columns, record_of
from proton.render.page.trace_lanes import ShownLane, shown_lanes

NONE = -1  # no row, no arguments
_KINDS = tuple(SpanKind)
_MAX_ARGUMENTS = 65_536  # different ones; a page is no place for a value of every span
_MAX_U32 = 2**32 - 1
_WHOLE = 1e-3  # nanoseconds: what floats of microseconds may be off


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
    lanes: Sequence[LanePart]
    kinds: Sequence[SpanKind]
    count: int
    delta_ns: ColumnId
    duration_ns: ColumnId
    look: ColumnId
    names: Sequence[str]
    looks: LookColumns
    args: Sequence[Metrics]
    args_left_out: int
    flows: FlowColumns
    gaps: GapColumns
    shares: WallPart | None


def trace_part(profile: TreeProfile, columns: Columns) -> TracePart | None:
    """The timeline of a profile; None where it has none."""
    trace, tree = profile.trace, profile.tree
    if trace is None or not trace.spans:
        return None
    names, kinds, lane_of, starts, durations, paths, metrics, attributes = zip(
        *trace.spans, strict=True
    )
    lanes = shown_lanes(trace.lanes)
    order = _order(lanes, lane_of, starts, durations)
    flat = list(chain.from_iterable(order))
    place = [0] * len(flat)
    for new, old in enumerate(flat):
        place[old] = new
    idle = find_idle(trace)
    looks = _Looks(tree)
    look_of = looks.numbers(zip(names, kinds, paths, metrics, attributes, strict=True))
    return TracePart(
        extent_ns=(min(starts), max(map(add, starts, durations))),
        lanes=[
            LanePart(
                lane.group, lane.name, lane.kind, len(spans), starts[spans[0]] if spans else 0.0
            )
            for lane, spans in zip(lanes, order, strict=True)
        ],
        kinds=_KINDS,
        count=len(flat),
        delta_ns=_add_times(columns, _deltas(order, starts)),
        duration_ns=_add_times(columns, [max(0.0, durations[at]) for at in flat]),
        look=_add_numbers(columns, [look_of[at] for at in flat]),
        names=looks.names,
        looks=looks.columns(columns),
        args=looks.arguments,
        args_left_out=looks.left_out,
        flows=_flows(trace, place, columns),
        gaps=_gaps(idle, lanes, columns),
        shares=_shares(wall_shares(trace, idle)),
    )


def _order(
    lanes: Sequence[ShownLane],
    lane_of: Sequence[int],
    starts: Sequence[float],
    durations: Sequence[float],
) -> list[list[int]]:
    """For every shown lane its spans, by start, the longer first."""
    found: dict[int, list[int]] = {lane.number: [] for lane in lanes}
    for at, lane in enumerate(lane_of):
        found[lane].append(at)
    for spans in found.values():
        times = [starts[at] for at in spans]
        if not all(map(lt, times, islice(times, 1, None))):
            spans.sort(key=lambda at: (starts[at], -durations[at]))
    return list(found.values())


def _deltas(order: Iterable[Sequence[int]], starts: Sequence[float]) -> list[float]:
    """From the start of one span to that of the next in its lane; 0 for the first."""
    found: list[float] = []
    for spans in order:
        times = [starts[at] for at in spans]
        found += map(sub, times, chain(times[:1], times))
    return found


def _add_times(columns: Columns, values: Sequence[float]) -> str:
    """A column of times: whole nanoseconds where they are, which is half the size."""
    rounded = list(map(round, values))
    if rounded and max(rounded) <= _MAX_U32 and max(map(abs, map(sub, values, rounded))) < _WHOLE:
        return columns.add("u32", array("I", rounded))
    return columns.add("f64", array("d", values))


def _add_numbers(columns: Columns, values: Sequence[int]) -> str:
    is_small = max(values, default=0) < 1 << 16
    return columns.add("u16", values) if is_small else columns.add("u32", values)


SpanFacts = tuple[str, SpanKind, Sequence[str], Metrics, Metrics]


class _Looks:
    """What spans have in common, each combination once."""

    def __init__(self, tree: Tree) -> None:
        self.left_out = 0  # combinations whose arguments are not in the page
        self._steps = tree.steps()
        self._names: dict[str, int] = {}
        self._known: dict[object, int] = {}
        self.arguments: list[Metrics] = []
        self._table: dict[tuple[int, int, int, int], int] = {}

    def numbers(self, spans: Iterable[SpanFacts]) -> list[int]:
        """The look of every span, given as name, kind, path, metrics, attributes."""
        known: dict[object, int] = {}
        found = []
        for name, kind, path, metrics, attributes in spans:
            key: object = (name, id(kind), path)  # members of an Enum take long to hash
            if metrics or attributes:
                key = (key, _content(metrics), _content(attributes))
            look = known.get(key)
            if look is None:
                known[key] = look = self._look(name, kind, path, metrics, attributes)
            found.append(look)
        return found

    def _look(
        self, name: str, kind: SpanKind, path: Sequence[str], metrics: Metrics, attributes: Metrics
    ) -> int:
        # CTAs, which are one context, have no row, nor has what the tree leaves out.
        row = row_at(self._steps, path or (name,))
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
        content = (_content(metrics), _content(attributes))
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


def _content(values: Metrics) -> object:
    return None if values is EMPTY else tuple(values.items())


def _flows(trace: Trace, place: Sequence[int], columns: Columns) -> FlowColumns:
    pairs = sorted((place[source], place[target]) for source, target in trace.flows)
    sources = [source for source, _ in pairs]
    targets = [target for _, target in pairs]
    return FlowColumns(
        count=len(pairs),
        source=columns.add("u32", _differences(sources)),
        target=columns.add("i32", _differences(targets)),
    )


def _differences(values: Sequence[int]) -> list[int]:
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _gaps(idle: Idle, lanes: Sequence[ShownLane], columns: Columns) -> GapColumns:
    at = {lane.number: place for place, lane in enumerate(lanes)}
    rows: list[tuple[int | None, str, Gaps]] = [
        (at[lane], lanes[at[lane]].group, gaps) for lane, gaps in idle.lanes.items()
    ]
    rows += [(None, device, gaps) for device, gaps in idle.devices.items()]
    rows = [row for row in rows if row[2].cause]
    deltas: list[float] = []
    durations: list[float] = []
    for _, _, gaps in rows:
        deltas += map(sub, gaps.start_ns, chain(gaps.start_ns[:1], gaps.start_ns))
        durations += map(sub, gaps.end_ns, gaps.start_ns)
    return GapColumns(
        causes=[cause.value for cause in CAUSES],
        rows=[_gap_row(lane, group, gaps) for lane, group, gaps in rows],
        delta_ns=_add_times(columns, deltas),
        duration_ns=_add_times(columns, durations),
        cause=columns.add("u8", chain.from_iterable(gaps.cause for _, _, gaps in rows)),
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
