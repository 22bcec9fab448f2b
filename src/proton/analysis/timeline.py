"""The shares of wall time of a trace: busy, overlapped, idle by cause.

`wall_shares(trace) -> WallShares | None` is all that a summary needs: `shares.busy` and
`shares.launch_bound` are shares from 0 to 1 of `shares.wall_ns`. None: the profile is no trace, or
one without work of a device. Causes lane by lane are `proton.analysis.gaps`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proton.analysis.device_work import Work
from proton.analysis.gaps import GapCause, Idle, find_idle
from proton.model.trace import LaneKind, Trace

_ON_THE_CLOCK = (LaneKind.HOST, LaneKind.GRAPH, LaneKind.DEVICE)


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
