"""The spans and flows of a large trace as columns: no object for each of a million.

Both read like the lists of `Span` and `Flow` that small traces have, and compare equal to them. Who
walks over all spans takes the columns of `span_table(trace.spans)`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, overload

from proton.model.metric import EMPTY, Metrics
from proton.model.trace import Flow, Span, SpanKind

_Row = TypeVar("_Row")


NOT_DRIVERS = 1 << 32  # ids of flows that no driver gave begin here


class Look(NamedTuple):
    """What spans of one kind of work share: all but place and time."""

    name: str
    kind: SpanKind
    path: tuple[str, ...] = ()
    metrics: Metrics = EMPTY
    attributes: Metrics = EMPTY


class _Columns(Sequence[_Row]):
    """What both tables have of a sequence, once they can say what stands at a place."""

    __slots__ = ()

    def _at(self, place: int) -> _Row:
        raise NotImplementedError

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Row]: ...
    def __getitem__(self, place: int | slice) -> _Row | list[_Row]:
        size = len(self)
        if isinstance(place, slice):
            return [self._at(each) for each in range(*place.indices(size))]
        if not -size <= place < size:
            raise IndexError(f"no place {place} among {size}")
        return self._at(place % size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class SpanTable(_Columns[Span]):
    """Spans as columns; `look` is a place in `looks`, `lane` one in the lanes of the trace."""

    looks: Sequence[Look] = ()
    look: array[int] = field(default_factory=lambda: array("I"))
    lane: array[int] = field(default_factory=lambda: array("I"))
    start_ns: array[float] = field(default_factory=lambda: array("d"))
    duration_ns: array[float] = field(default_factory=lambda: array("d"))

    def _at(self, place: int) -> Span:
        name, kind, path, metrics, attributes = self.looks[self.look[place]]
        times = self.start_ns[place], self.duration_ns[place]
        return Span(name, kind, self.lane[place], *times, path, metrics, attributes)

    def __len__(self) -> int:
        return len(self.look)

    def __iter__(self) -> Iterator[Span]:
        looks, make = self.looks, Span._make
        columns = zip(self.look, self.lane, self.start_ns, self.duration_ns, strict=True)
        for look, lane, start_ns, duration_ns in columns:
            name, kind, path, metrics, attributes = looks[look]
            yield make((name, kind, lane, start_ns, duration_ns, path, metrics, attributes))


@dataclass(frozen=True, slots=True, eq=False)
class FlowTable(_Columns[Flow]):
    """Flows as columns.

    `ids` are what the file calls each of them, 0 where that is no number; empty where nobody told.
    Of launches that Proton recorded they are the driver's correlation ids, below `NOT_DRIVERS`.
    Traces that differ in them alone are equal.
    """

    source: array[int] = field(default_factory=lambda: array("I"))
    target: array[int] = field(default_factory=lambda: array("I"))
    ids: array[int] = field(default_factory=lambda: array("Q"))

    def _at(self, place: int) -> Flow:
        return Flow(self.source[place], self.target[place])

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Flow]:
        return map(Flow, self.source, self.target)


def span_table(spans: Sequence[Span]) -> SpanTable:
    """`spans` as columns: themselves where they are already."""
    if isinstance(spans, SpanTable):
        return spans
    table = SpanTable([])
    looks: dict[object, int] = {}
    found: list[Look] = []
    for name, kind, lane, start_ns, duration_ns, path, metrics, attributes in spans:
        key: object = (name, id(kind), path)  # members of an Enum take long to hash
        if metrics or attributes:  # as texts: 1 and 1.0 are two looks
            key = (key, str(metrics), str(attributes))
        look = looks.setdefault(key, len(looks))
        if look == len(found):
            found.append(Look(name, kind, path, metrics, attributes))
        table.look.append(look)
        table.lane.append(lane)
        table.start_ns.append(start_ns)
        table.duration_ns.append(duration_ns)
    return SpanTable(found, table.look, table.lane, table.start_ns, table.duration_ns)


def content_of(values: Metrics) -> object:
    """What tells the values of two spans apart, to be looked up by."""
    return None if values is EMPTY else tuple(values.items())


def flow_numbers(flows: FlowTable, *, by_source: bool) -> Sequence[int]:
    """What a writer calls each flow: as the file that was read did, if that tells them apart.

    Args:
        flows: The flows.
        by_source: Flows from one span may have one number.
    """
    owners: dict[int, int] = {}
    for place, (number, source) in enumerate(zip(flows.ids, flows.source, strict=False)):
        owner = source if by_source else place
        if not number or owners.setdefault(number, owner) != owner:
            break
    else:
        if len(flows.ids) == len(flows):
            return flows.ids
    return range(NOT_DRIVERS, NOT_DRIVERS + len(flows))


def numbered_flows(found: Sequence[tuple[int, int, int]]) -> FlowTable:
    """Flows in order, each given as source, target and id; an id that no column holds is 0."""
    columns = list(zip(*sorted(found), strict=True)) or [(), (), ()]
    ids = array("Q", (number if 0 <= number < 1 << 64 else 0 for number in columns[2]))
    return FlowTable(array("I", columns[0]), array("I", columns[1]), ids)


def flow_table(flows: Sequence[Flow]) -> FlowTable:
    """`flows` as columns: themselves where they are already."""
    if isinstance(flows, FlowTable):
        return flows
    sources, targets = (array("I", (flow[at] for flow in flows)) for at in range(2))
    return FlowTable(sources, targets)
