"""Why streams stood still, and what shares of the wall time of a trace were busy and idle.

Every gap between two pieces of work is cut into parts by cause. It ends when the next work begins,
so the cause is what kept that work from beginning earlier: up to its launch call the host, from
then on what ran elsewhere on the device, last the launch.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, compress
from math import isnan

from proton import _core
from proton.analysis.device_work import (
    Stream,
    Work,
    blocking_copies,
    by_device,
    joined,
    streams_of,
)
from proton.model.columns import NONE, add, order_by, put, subtract, sum_by, take
from proton.model.span_table import flow_table, span_table
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

    start_ns: array[float] = field(default_factory=lambda: array("d"))
    end_ns: array[float] = field(default_factory=lambda: array("d"))
    cause: array[int] = field(default_factory=lambda: array("B"))

    def add(self, start_ns: float, end_ns: float, cause: int) -> None:
        """Add a part unless it is empty."""
        if end_ns > start_ns:
            self.start_ns.append(start_ns)
            self.end_ns.append(end_ns)
            self.cause.append(cause)

    def durations_ns(self) -> array[float]:
        """How long each is."""
        return subtract(self.end_ns, self.start_ns)

    def sums_ns(self) -> dict[GapCause, float]:
        """Time by cause; causes that did not occur are left out."""
        sums = sum_by(self.durations_ns(), self.cause, len(CAUSES))
        return {cause: sums[at] for at, cause in enumerate(CAUSES) if sums[at]}


@dataclass(frozen=True, slots=True)
class Idle:
    """When the streams and devices of a trace stood still, each between its first and last work."""

    work: Mapping[str, Work]  # by device, that of all its streams
    lanes: Mapping[int, Gaps]  # by lane: one stream had no work
    devices: Mapping[str, Gaps]  # by device: none of its streams had work
    knows_launches: bool


def find_idle(trace: Trace) -> Idle:
    """All gaps of a trace. Takes seconds for a million spans without the core: keep the answer."""
    launches = _Launches(trace)
    work: dict[str, Work] = {}
    lanes: dict[int, Gaps] = {}
    devices: dict[str, Gaps] = {}
    for device, streams in by_device(streams_of(trace)).items():
        work[device] = joined(trace, streams)
        elsewhere = _Elsewhere(trace, streams)
        for stream in streams:
            lanes[stream.lane] = launches.gaps(stream.work, elsewhere)
        devices[device] = lanes[streams[0].lane]
        if len(streams) > 1:  # the gaps of a single stream are those of the device
            devices[device] = launches.gaps(work[device], _Elsewhere(trace, ()))
    return Idle(work, lanes, devices, bool(trace.flows))


class _Launches:
    """When and where the work of a trace was launched; made once, used for every stream."""

    def __init__(self, trace: Trace) -> None:
        spans, flows = span_table(trace.spans), flow_table(trace.flows)
        blocking = blocking_copies(trace)
        thread_of = array("I", [NONE]) * len(trace.lanes)  # by lane: a place in `_blocking`
        for number, lane in enumerate(blocking):
            thread_of[lane] = number
        self._blocking = list(blocking.values())
        starts = take(spans.start_ns, flows.source)
        threads = take(thread_of, take(spans.lane, flows.source))
        self._launched_ns = put(len(spans), flows.target, starts)  # by span that did the work
        self._thread = put(len(spans), flows.target, threads)

    def gaps(self, work: Work, elsewhere: _Elsewhere) -> Gaps:
        """The gaps between pieces of work, cut by cause."""
        launched_ns, thread = take(self._launched_ns, work.span), take(self._thread, work.span)
        if (core := _core.columns()) is not None:
            calls = [(each.start_ns, each.end_ns) for each in self._blocking]
            launches = launched_ns, thread, calls
            found = core.cut_gaps(
                work.start_ns, work.end_ns, *launches, elsewhere.end_ns, elsewhere.cause
            )
            return Gaps(*map(array, "ddB", found))
        gaps = Gaps()
        free_ns = work.start_ns[0] if work.span else 0.0
        columns = zip(work.start_ns, work.end_ns, launched_ns, thread, strict=True)
        for start_ns, end_ns, call_ns, number in columns:
            if start_ns > free_ns:
                blocking = None if number == NONE else self._blocking[number]
                _fill(gaps, free_ns, start_ns, call_ns, blocking, elsewhere)
            if end_ns > free_ns:
                free_ns = end_ns
        return gaps


def _fill(
    gaps: Gaps,
    start_ns: float,
    end_ns: float,
    launched_ns: float,
    blocking: Work | None,
    elsewhere: _Elsewhere,
) -> None:
    """Add the gap that ends where work begins; `base/columns.cpp` does the same."""
    if isnan(launched_ns):
        gaps.add(start_ns, end_ns, _UNKNOWN)
        return
    if launched_ns > start_ns:
        launched_ns = min(launched_ns, end_ns)
        if blocking is not None:
            _fill_host(gaps, start_ns, launched_ns, blocking)
        else:
            gaps.add(start_ns, launched_ns, _HOST)
        start_ns = launched_ns
    if start_ns < end_ns:
        freed_ns, cause = elsewhere.last_end(start_ns, end_ns)
        gaps.add(start_ns, freed_ns, cause)
        start_ns = freed_ns
    gaps.add(start_ns, end_ns, _LAUNCH)


class _Elsewhere:
    """The work of a device with several streams, by end; none where it has one."""

    def __init__(self, trace: Trace, streams: Sequence[Stream]) -> None:
        self.end_ns, self.cause = array("d"), array("B")
        if len(streams) < 2:
            return
        spans = span_table(trace.spans)
        ends = array("d", chain.from_iterable(each.work.end_ns for each in streams))
        numbers = array("I", chain.from_iterable(each.work.span for each in streams))
        order = order_by(ends, numbers)
        is_copy = (look.kind is SpanKind.COPY for look in spans.looks)
        causes = array("B", [_COPY if each else _STREAM for each in is_copy])
        self.end_ns = take(ends, order)
        self.cause = take(causes, take(spans.look, take(numbers, order)))

    def last_end(self, start_ns: float, end_ns: float) -> tuple[float, int]:
        """When the last work that ended in a time ended, and what waiting for it is called.

        A stream that is idle in that time had none of its own, so it is another stream's.
        """
        at = bisect_right(self.end_ns, end_ns) - 1
        if at < 0 or self.end_ns[at] <= start_ns:
            return start_ns, _STREAM
        return self.end_ns[at], self.cause[at]


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
    spans = span_table(trace.spans)
    counted = array("B", [lane.kind in _ON_THE_CLOCK for lane in trace.lanes])
    is_counted = take(counted, spans.lane)
    if not any(is_counted):
        return 0.0
    ends = add(spans.start_ns, spans.duration_ns)
    return max(compress(ends, is_counted)) - min(compress(spans.start_ns, is_counted))


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
