"""Why streams stood still: every gap between two pieces of work, cut into parts by cause.

A gap ends when the next work begins, so the cause is what kept that work from beginning earlier:
up to its launch call the host, from then on what ran elsewhere on the device, last the launch.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from proton.analysis.device_work import Stream, Work, blocking_copies, launches_of, streams_of
from proton.model.trace import SpanKind, Trace


class GapCause(Enum):
    """What a stream waited for; the value is what people read."""

    HOST = "host busy"  # the call that launched the next work had not begun
    COPY = "waiting for a copy"  # launched, but a copy ran elsewhere; or the host sat in its call
    STREAM = "waiting for another stream"  # launched, but other work of the device came first
    LAUNCH = "launch latency"  # launched, nothing else ran: driver and device took so long
    UNKNOWN = "not known"  # the trace does not say when the next work was launched


CAUSES = tuple(GapCause)
_HOST, _COPY, _STREAM, _LAUNCH, _UNKNOWN = range(5)


@dataclass(slots=True)
class LaneGaps:
    """The gaps of a lane as columns, by start; a gap of two causes is two neighbours."""

    lane: int
    start_ns: array[float] = field(default_factory=lambda: array("d"))
    duration_ns: array[float] = field(default_factory=lambda: array("d"))
    cause: array[int] = field(default_factory=lambda: array("B"))  # place in CAUSES

    def add(self, start_ns: float, end_ns: float, cause: int) -> None:
        """Add a part unless it is empty."""
        if end_ns > start_ns:
            self.start_ns.append(start_ns)
            self.duration_ns.append(end_ns - start_ns)
            self.cause.append(cause)

    def sums_ns(self) -> dict[GapCause, float]:
        """Time by cause; causes that did not occur are left out."""
        sums = [0.0] * len(CAUSES)
        for cause, duration_ns in zip(self.cause, self.duration_ns, strict=True):
            sums[cause] += duration_ns
        return {cause: sums[at] for at, cause in enumerate(CAUSES) if sums[at]}


class Launches:
    """When and where the work of a trace was launched; made once, used for every lane."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._calls = launches_of(trace)
        self._blocking = blocking_copies(trace, self._calls)

    def __bool__(self) -> bool:
        """Whether the trace knows launches at all."""
        return bool(self._calls)

    def fill(
        self, gaps: LaneGaps, start_ns: float, work: Work, elsewhere: _Elsewhere | None
    ) -> None:
        """Add the gap that ends with `work`, cut by cause."""
        source = self._calls.get(work.span)
        if source is None:
            gaps.add(start_ns, work.start_ns, _UNKNOWN)
            return
        call = self._trace.spans[source]
        launched_ns = min(max(call.start_ns, start_ns), work.start_ns)
        if blocking := self._blocking.get(call.lane):
            _fill_host(gaps, start_ns, launched_ns, blocking)
        else:
            gaps.add(start_ns, launched_ns, _HOST)
        if elsewhere is not None and launched_ns < work.start_ns:
            freed_ns, cause = elsewhere.last_end(launched_ns, work.start_ns)
            gaps.add(launched_ns, freed_ns, cause)
            launched_ns = freed_ns
        gaps.add(launched_ns, work.start_ns, _LAUNCH)


def lane_gaps(trace: Trace) -> list[LaneGaps]:
    """The gaps of every stream of `trace`, each between its first and its last work."""
    streams = streams_of(trace)
    launches = Launches(trace)
    by_device: dict[str, list[Stream]] = {}
    for stream in streams:
        by_device.setdefault(stream.device, []).append(stream)
    elsewhere = {
        device: _Elsewhere(trace, found) for device, found in by_device.items() if len(found) > 1
    }
    return [
        gaps_between(stream.lane, stream.work, launches, elsewhere.get(stream.device))
        for stream in streams
    ]


def gaps_between(
    lane: int, ordered: Sequence[Work], launches: Launches, elsewhere: _Elsewhere | None = None
) -> LaneGaps:
    """The gaps between works that are ordered by start."""
    gaps = LaneGaps(lane)
    free_ns = ordered[0].start_ns if ordered else 0.0
    for work in ordered:
        if work.start_ns > free_ns:
            launches.fill(gaps, free_ns, work, elsewhere)
        if work.end_ns > free_ns:
            free_ns = work.end_ns
    return gaps


class _Elsewhere:
    """The work of a device with several streams, by end."""

    def __init__(self, trace: Trace, streams: Sequence[Stream]) -> None:
        works = sorted(
            (work for stream in streams for work in stream.work), key=lambda work: work.end_ns
        )
        self._ends = [work.end_ns for work in works]
        self._causes = bytes(
            _COPY if trace.spans[work.span].kind is SpanKind.COPY else _STREAM for work in works
        )

    def last_end(self, start_ns: float, end_ns: float) -> tuple[float, int]:
        """When the last work that ended in a time ended, and what waiting for it is called.

        A stream that is idle in that time had none of its own, so it is another stream's.
        """
        at = bisect_right(self._ends, end_ns) - 1
        if at < 0 or self._ends[at] <= start_ns:
            return start_ns, _STREAM
        return self._ends[at], self._causes[at]


def _fill_host(gaps: LaneGaps, start_ns: float, end_ns: float, blocking: Sequence[Work]) -> None:
    """A time in which the host had not launched, cut where it sat in a copy call."""
    at = max(0, bisect_right(blocking, start_ns, key=lambda call: call.start_ns) - 1)
    while at < len(blocking) and blocking[at].start_ns < end_ns:
        call = blocking[at]
        gaps.add(start_ns, min(max(call.start_ns, start_ns), end_ns), _HOST)
        start_ns = max(start_ns, call.start_ns)
        gaps.add(start_ns, min(call.end_ns, end_ns), _COPY)
        start_ns = max(start_ns, min(call.end_ns, end_ns))
        at += 1
    gaps.add(start_ns, end_ns, _HOST)
