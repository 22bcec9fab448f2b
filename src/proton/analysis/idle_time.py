"""Why streams stood still, and what shares of the wall time of a trace were busy and idle.

Every gap between two pieces of work is cut into parts by cause. It ends when the next work begins,
so the cause is what kept that work from beginning earlier: up to its launch call the host, from
then on what ran elsewhere on the device, last the launch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from proton.analysis.device_work import (
    Stream,
    Work,
    blocking_copies,
    by_device,
    joined,
    launches_of,
    streams_of,
)
from proton.model.trace import LaneKind, SpanKind, Trace

_ON_THE_CLOCK = (LaneKind.HOST, LaneKind.GRAPH, LaneKind.DEVICE)


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
class Gaps:
    """Gaps as columns, by start; a gap of two causes is two neighbours. `cause`: see CAUSES."""

    start_ns: list[float] = field(default_factory=list)
    end_ns: list[float] = field(default_factory=list)
    cause: list[int] = field(default_factory=list)

    def add(self, start_ns: float, end_ns: float, cause: int) -> None:
        """Add a part unless it is empty."""
        if end_ns > start_ns:
            self.start_ns.append(start_ns)
            self.end_ns.append(end_ns)
            self.cause.append(cause)

    def sums_ns(self) -> dict[GapCause, float]:
        """Time by cause; causes that did not occur are left out."""
        sums = [0.0] * len(CAUSES)
        for start_ns, end_ns, cause in zip(self.start_ns, self.end_ns, self.cause, strict=True):
            sums[cause] += end_ns - start_ns
        return {cause: sums[at] for at, cause in enumerate(CAUSES) if sums[at]}


@dataclass(frozen=True, slots=True)
class Idle:
    """When the streams and devices of a trace stood still, each between its first and last work."""

    work: Mapping[str, Work]  # by device, that of all its streams
    lanes: Mapping[int, Gaps]  # by lane: one stream had no work
    devices: Mapping[str, Gaps]  # by device: none of its streams had work
    knows_launches: bool


def find_idle(trace: Trace) -> Idle:
    """All gaps of a trace. Takes a second for a million spans: keep the answer."""
    launches = _Launches(trace)
    work: dict[str, Work] = {}
    lanes: dict[int, Gaps] = {}
    devices: dict[str, Gaps] = {}
    for device, streams in by_device(streams_of(trace)).items():
        work[device] = joined(trace, streams)
        elsewhere = _Elsewhere(trace, streams) if len(streams) > 1 else None
        for stream in streams:
            lanes[stream.lane] = launches.gaps(stream.work, elsewhere)
        # The gaps of a single stream are those of the device.
        devices[device] = launches.gaps(work[device]) if elsewhere else lanes[streams[0].lane]
    return Idle(work, lanes, devices, bool(launches))


class _Launches:
    """When and where the work of a trace was launched; made once, used for every stream."""

    def __init__(self, trace: Trace) -> None:
        self._spans = trace.spans
        self._calls = launches_of(trace)
        self._blocking = blocking_copies(trace, self._calls)

    def __bool__(self) -> bool:
        """Whether the trace knows launches at all."""
        return bool(self._calls)

    def gaps(self, work: Work, elsewhere: _Elsewhere | None = None) -> Gaps:
        """The gaps between pieces of work, cut by cause."""
        gaps = Gaps()
        free_ns = work.start_ns[0] if work.span else 0.0
        for start_ns, end_ns, span in zip(work.start_ns, work.end_ns, work.span, strict=True):
            if start_ns > free_ns:
                self._fill(gaps, free_ns, start_ns, span, elsewhere)
            if end_ns > free_ns:
                free_ns = end_ns
        return gaps

    def _fill(
        self, gaps: Gaps, start_ns: float, end_ns: float, span: int, elsewhere: _Elsewhere | None
    ) -> None:
        """Add the gap that ends where `span` begins."""
        source = self._calls.get(span)
        if source is None:
            gaps.add(start_ns, end_ns, _UNKNOWN)
            return
        call = self._spans[source]
        launched_ns = call[3]
        if launched_ns > start_ns:
            launched_ns = min(launched_ns, end_ns)
            if (blocking := self._blocking.get(call[2])) is not None:
                _fill_host(gaps, start_ns, launched_ns, blocking)
            else:
                gaps.add(start_ns, launched_ns, _HOST)
            start_ns = launched_ns
        if elsewhere is not None and start_ns < end_ns:
            freed_ns, cause = elsewhere.last_end(start_ns, end_ns)
            gaps.add(start_ns, freed_ns, cause)
            start_ns = freed_ns
        gaps.add(start_ns, end_ns, _LAUNCH)


class _Elsewhere:
    """The work of a device with several streams, by end."""

    def __init__(self, trace: Trace, streams: Sequence[Stream]) -> None:
        works = sorted(
            pair
            for stream in streams
            for pair in zip(stream.work.end_ns, stream.work.span, strict=True)
        )
        self._ends = [end_ns for end_ns, _ in works]
        kinds = (trace.spans[span][1] for _, span in works)
        self._causes = bytes(_COPY if kind is SpanKind.COPY else _STREAM for kind in kinds)

    def last_end(self, start_ns: float, end_ns: float) -> tuple[float, int]:
        """When the last work that ended in a time ended, and what waiting for it is called.

        A stream that is idle in that time had none of its own, so it is another stream's.
        """
        at = bisect_right(self._ends, end_ns) - 1
        if at < 0 or self._ends[at] <= start_ns:
            return start_ns, _STREAM
        return self._ends[at], self._causes[at]


def _fill_host(gaps: Gaps, start_ns: float, end_ns: float, blocking: Work) -> None:
    """A time in which the host had not launched, cut where it sat in a copy call."""
    at = max(0, bisect_right(blocking.start_ns, start_ns) - 1)
    while at < len(blocking.span) and blocking.start_ns[at] < end_ns:
        call_ns = max(blocking.start_ns[at], start_ns)
        gaps.add(start_ns, call_ns, _HOST)
        start_ns = max(call_ns, min(blocking.end_ns[at], end_ns))
        gaps.add(call_ns, start_ns, _COPY)
        at += 1
    gaps.add(start_ns, end_ns, _HOST)


@dataclass(frozen=True, slots=True)
class WallShares:
    """Shares of the time from the first to the last span; of several devices, their mean.

    `busy`, all of `idle` and `outside` add up to 1.

    Attributes:
        wall_ns: that time.
        busy: some stream had work.
        overlap: at least two pieces of work ran at once; part of `busy`.
        idle: no stream had work, between the first and the last, by cause.
        outside: before the first and after the last work of the device.
        launch_bound: idle because the host had not launched the next work or its launch was on the
            way: `host busy` and `launch latency` of `idle`. None where launches are not known.
        devices: how many did some work.
    """

    wall_ns: float
    busy: float
    overlap: float
    idle: Mapping[GapCause, float]
    outside: float
    launch_bound: float | None
    devices: int


def wall_shares(trace: Trace, idle: Idle | None = None) -> WallShares | None:
    """How the wall time of a trace was spent; None without work of a device.

    Args:
        trace: The timeline.
        idle: What `find_idle` says of it, where that is known already.

    Example:
        >>> wall_shares(Trace()) is None
        True
    """
    wall_ns = _wall_ns(trace)
    if wall_ns <= 0:
        return None
    found = find_idle(trace) if idle is None else idle
    if not found.work:
        return None
    between_ns = sum(max(work.end_ns) - work.start_ns[0] for work in found.work.values())
    overlap_ns = sum(map(_overlap_ns, found.work.values()))
    idle_ns = dict.fromkeys(GapCause, 0.0)
    for gaps in found.devices.values():
        for cause, spent_ns in gaps.sums_ns().items():
            idle_ns[cause] += spent_ns
    busy_ns = between_ns - sum(idle_ns.values())
    whole_ns = wall_ns * len(found.work)
    bound_ns = idle_ns[GapCause.HOST] + idle_ns[GapCause.LAUNCH]
    return WallShares(
        wall_ns=wall_ns,
        busy=busy_ns / whole_ns,
        overlap=overlap_ns / whole_ns,
        idle={cause: spent / whole_ns for cause, spent in idle_ns.items() if spent},
        outside=1 - between_ns / whole_ns,
        launch_bound=bound_ns / whole_ns if found.knows_launches else None,
        devices=len(found.work),
    )


def _wall_ns(trace: Trace) -> float:
    """From the first start to the last end; insides of kernels lie within."""
    counted = {at for at, lane in enumerate(trace.lanes) if lane.kind in _ON_THE_CLOCK}
    spans = [span for span in trace.spans if span[2] in counted]
    if not spans:
        return 0.0
    first_ns = min(span[3] for span in spans)
    return max(span[3] + span[4] for span in spans) - first_ns


def _overlap_ns(work: Work) -> float:
    """How long at least two pieces of the work ran at once."""
    overlap_ns = 0.0
    one_ns = two_ns = work.start_ns[0]  # until when one and two of those seen so far run
    for start_ns, end_ns in zip(work.start_ns, work.end_ns, strict=True):
        if start_ns >= one_ns:
            one_ns = end_ns
            continue
        both_ns = min(end_ns, one_ns)
        if both_ns > two_ns:
            overlap_ns += both_ns - max(start_ns, two_ns)
            two_ns = both_ns
        one_ns = max(one_ns, end_ns)
    return overlap_ns
