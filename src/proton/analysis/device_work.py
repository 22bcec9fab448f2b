"""What devices did when: the work of each stream of a trace, and the calls that launched it.

Traces have a million spans, so work is kept in columns: one place each for start, end and span.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import add

from proton.model.trace import LaneKind, SpanKind, Trace

_STREAM = re.compile(r"(?P<rank>rank \d+ )?(Graph: )?(?P<device>.*?) ?\bStream (?P<number>.*)")


@dataclass(slots=True)
class Work:
    """Spans that kept something busy, as columns, by start; `span` counts the trace's spans."""

    start_ns: Sequence[float] = ()
    end_ns: Sequence[float] = ()
    span: Sequence[int] = ()

    @staticmethod
    def of(trace: Trace, spans: Sequence[int]) -> Work:
        """The work that these spans of a trace are."""
        found = trace.spans
        ordered = sorted(spans, key=lambda at: found[at][3])
        starts = [found[at][3] for at in ordered]
        return Work(starts, list(map(add, starts, [found[at][4] for at in ordered])), ordered)


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
    spans_of: dict[int, list[int]] = {}  # by lane, that of the stream
    lists: list[list[int] | None] = [None] * len(trace.lanes)
    graphs: set[int] = set()
    # Gaps go to the stream's own lane where it has one.
    for kind in (LaneKind.DEVICE, LaneKind.GRAPH):
        for number, lane in enumerate(trace.lanes):
            if lane.kind is kind:
                key = stream_named(lane.name)
                stream = known.setdefault(key, Stream(number, key[0]))
                lists[number] = spans_of.setdefault(stream.lane, [])
                graphs |= {number} if kind is LaneKind.GRAPH else set()
    for index, span in enumerate(trace.spans):
        found = lists[span[2]]
        if found is not None and (span[2] not in graphs or span[1] is SpanKind.GRAPH):
            found.append(index)
    busy = [stream for stream in known.values() if spans_of[stream.lane]]
    for stream in busy:
        stream.work = Work.of(trace, spans_of[stream.lane])
    return sorted(busy, key=lambda stream: stream.lane)


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
    return Work.of(trace, [span for stream in streams for span in stream.work.span])


def launches_of(trace: Trace) -> dict[int, int]:
    """Span that did the work -> span of the call that launched it."""
    return {target: source for source, target in trace.flows}


def blocking_copies(trace: Trace, launches: dict[int, int]) -> dict[int, Work]:
    """By lane of the host, the copy calls that returned only when their copy was done."""
    found: dict[int, list[int]] = {}
    spans = trace.spans
    for target, source in launches.items():
        if spans[target][1] is not SpanKind.COPY:
            continue
        call, copy = spans[source], spans[target]
        if copy.start_ns + copy.duration_ns <= call.start_ns + call.duration_ns:
            found.setdefault(call.lane, []).append(source)
    return {lane: Work.of(trace, calls) for lane, calls in found.items()}
