"""What devices did when: the work of each stream of a trace, and the calls that launched it.

Traces have a million spans, so work is kept in columns: one place each for start, end and span.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, compress

from proton.model.columns import NONE, add, order_by, take
from proton.model.span_table import flow_table, span_table
from proton.model.trace import LaneKind, SpanKind, Trace

_STREAM = re.compile(r"(?P<rank>rank \d+ )?(Graph: )?(?P<device>.*?) ?\bStream (?P<number>.*)")


@dataclass(slots=True)
class Work:
    """Spans that kept something busy, as columns, by start; `span` counts the trace's spans."""

    start_ns: array[float] = field(default_factory=lambda: array("d"))
    end_ns: array[float] = field(default_factory=lambda: array("d"))
    span: array[int] = field(default_factory=lambda: array("I"))

    @staticmethod
    def of(trace: Trace, spans: array[int]) -> Work:
        """The work that these spans of a trace are."""
        table = span_table(trace.spans)
        spans = take(spans, order_by(take(table.start_ns, spans)))
        starts = take(table.start_ns, spans)
        return Work(starts, add(starts, take(table.duration_ns, spans)), spans)


@dataclass(slots=True)
class Stream:
    """The work of one stream; `lane` is where its gaps are shown."""

    lane: int
    device: str
    work: Work = field(default_factory=Work)


def streams_of(trace: Trace) -> list[Stream]:
    """Every stream that did something, in the order of the lanes.

    Replays that were timed as a whole stand on a lane of their own and count as work of their
    stream. Scopes on such a lane do not: they span idle time as well.
    """
    known: dict[tuple[str, str], Stream] = {}
    stream_of = array("I", [NONE]) * len(trace.lanes)  # by lane: the lane of its stream
    graphs: set[int] = set()
    # Gaps go to the stream's own lane where it has one.
    for kind in (LaneKind.DEVICE, LaneKind.GRAPH):
        for number, lane in enumerate(trace.lanes):
            if lane.kind is kind:
                key = stream_named(lane.name)
                stream_of[number] = known.setdefault(key, Stream(number, key[0])).lane
                graphs |= {number} if kind is LaneKind.GRAPH else set()
    spans = span_table(trace.spans)
    owner = take(stream_of, spans.lane)
    if graphs:
        replays = bytes(look.kind is SpanKind.GRAPH for look in spans.looks)
        are_graphs = array("B", [number in graphs for number in range(len(trace.lanes))])
        for at in compress(range(len(spans)), take(are_graphs, spans.lane)):
            if not replays[spans.look[at]]:
                owner[at] = NONE
    values = array("B", [look.kind is SpanKind.METRIC for look in spans.looks])
    if any(values):  # moments at which a value was read are no work
        for at in compress(range(len(spans)), take(values, spans.look)):
            owner[at] = NONE
    order = order_by(owner)
    owner = take(owner, order)
    busy = []
    for stream in sorted(known.values(), key=lambda stream: stream.lane):
        begin, end = (bisect_left(owner, stream.lane + more) for more in range(2))
        if begin < end:
            stream.work = Work.of(trace, order[begin:end])
            busy.append(stream)
    return busy


def stream_named(name: str) -> tuple[str, str]:
    """The device and the number of the stream that a lane's name speaks of.

    Example:
        >>> stream_named("Graph: GPU 1 Stream 7")
        ('GPU 1', '7')
    """
    match = _STREAM.fullmatch(name)
    if match is None:
        return name, ""
    device = match["device"] or "GPU"  # a graph lane of the first device names no device
    return f"{match['rank'] or ''}{device}", match["number"]


def by_device(streams: Sequence[Stream]) -> dict[str, list[Stream]]:
    """The streams of every device."""
    found: dict[str, list[Stream]] = {}
    for stream in streams:
        found.setdefault(stream.device, []).append(stream)
    return found


def joined(trace: Trace, streams: Sequence[Stream]) -> Work:
    """The work of several streams as one."""
    if len(streams) == 1:
        return streams[0].work
    return Work.of(trace, array("I", chain.from_iterable(each.work.span for each in streams)))


def blocking_copies(trace: Trace) -> dict[int, Work]:
    """By lane of the host, the copy calls that returned only when their copy was done."""
    found: dict[int, list[int]] = {}
    spans, flows = span_table(trace.spans), flow_table(trace.flows)
    copies = array("B", [look.kind is SpanKind.COPY for look in spans.looks])
    are_copies = take(copies, take(spans.look, flows.target))
    launches = dict(compress(zip(flows.target, flows.source, strict=True), are_copies))
    for target, source in launches.items():
        copied_ns = spans.start_ns[target] + spans.duration_ns[target]
        if copied_ns <= spans.start_ns[source] + spans.duration_ns[source]:
            found.setdefault(spans.lane[source], []).append(source)
    return {lane: Work.of(trace, array("I", calls)) for lane, calls in found.items()}
