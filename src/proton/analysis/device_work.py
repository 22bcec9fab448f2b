"""What devices did when: the work of each stream of a trace, and the calls that launched it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proton.model.trace import LaneKind, SpanKind, Trace

_STREAM = re.compile(r"(?P<rank>rank \d+ )?(Graph: )?(?P<device>.*?) ?\bStream (?P<number>.*)")


class Work(NamedTuple):
    """A span that kept a stream busy. Sorts by start."""

    start_ns: float
    end_ns: float
    span: int


@dataclass(slots=True)
class Stream:
    """The work of one stream, by start; `lane` is where its gaps are shown."""

    lane: int
    device: str
    work: list[Work] = field(default_factory=list)


def streams_of(trace: Trace) -> list[Stream]:
    """Every stream that did something, in the order of the lanes.

    Replays that were timed as a whole stand on a lane of their own and count as work of their
    stream. Scopes on such a lane do not: they span idle time as well.
    """
    of_lane: dict[int, Stream] = {}
    known: dict[tuple[str, str], Stream] = {}
    is_graph: set[int] = set()
    kinds = (LaneKind.DEVICE, LaneKind.GRAPH)  # gaps go to the stream's own lane where it has one
    for kind in kinds:
        for number, lane in enumerate(trace.lanes):
            if lane.kind is not kind:
                continue
            key = _stream_of(lane.name)
            of_lane[number] = known.setdefault(key, Stream(number, key[0]))
            if kind is LaneKind.GRAPH:
                is_graph.add(number)
    for index, span in enumerate(trace.spans):
        stream = of_lane.get(span[2])
        if stream is None or (span[2] in is_graph and span[1] is not SpanKind.GRAPH):
            continue
        start_ns = span[3]
        stream.work.append(Work(start_ns, start_ns + span[4], index))
    found = sorted((stream for stream in known.values() if stream.work), key=lambda one: one.lane)
    for stream in found:
        stream.work.sort()
    return found


def _stream_of(name: str) -> tuple[str, str]:
    """The device and the number of the stream that a lane's name speaks of."""
    match = _STREAM.fullmatch(name)
    if match is None:
        return name, ""
    device = match["device"] or "GPU"  # a graph lane of the first device names no device
    return f"{match['rank'] or ''}{device}", match["number"]


def launches_of(trace: Trace) -> dict[int, int]:
    """Span that did the work -> span of the call that launched it."""
    return {target: source for source, target in trace.flows}


def blocking_copies(trace: Trace, launches: dict[int, int]) -> dict[int, list[Work]]:
    """By lane of the host, the copy calls that returned only when their copy was done."""
    found: dict[int, list[Work]] = {}
    spans: Sequence[tuple[object, ...]] = trace.spans
    for target, source in launches.items():
        if spans[target][1] is not SpanKind.COPY:
            continue
        call, copy = trace.spans[source], trace.spans[target]
        end_ns = call.start_ns + call.duration_ns
        if copy.start_ns + copy.duration_ns <= end_ns:
            found.setdefault(call.lane, []).append(Work(call.start_ns, end_ns, source))
    for calls in found.values():
        calls.sort()
    return found
