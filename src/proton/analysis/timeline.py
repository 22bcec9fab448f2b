"""The shares of wall time of a trace: busy, overlapped, idle by cause.

`wall_shares(profile) -> WallShares | None` is all that a summary needs: `shares.busy` and
`shares.launch_bound` are shares from 0 to 1 of `shares.wall_ns`. None: the profile is no trace, or
one without work of a device. Causes lane by lane are `proton.analysis.gaps`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import merge

from proton.analysis.device_work import Stream, Work, streams_of
from proton.analysis.gaps import GapCause, Launches, gaps_between
from proton.model.profile import Profile
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


def wall_shares(profile: Profile) -> WallShares | None:
    """How the wall time of a trace was spent; None without a trace or without work of a device.

    Example:
        >>> wall_shares(Profile("tree.hatchet")) is None
        True
    """
    trace = profile.trace
    if trace is None:
        return None
    streams = streams_of(trace)
    wall_ns = _wall_ns(trace)
    if not streams or wall_ns <= 0:
        return None
    launches = Launches(trace)
    by_device: dict[str, list[Stream]] = {}
    for stream in streams:
        by_device.setdefault(stream.device, []).append(stream)
    busy_ns = overlap_ns = between_ns = 0.0
    idle_ns = dict.fromkeys(GapCause, 0.0)
    for found in by_device.values():
        works = found[0].work if len(found) == 1 else list(merge(*(one.work for one in found)))
        busy, overlap = _covered_ns(works)
        busy_ns += busy
        overlap_ns += overlap
        between_ns += max(work.end_ns for work in works) - works[0].start_ns
        for cause, spent_ns in gaps_between(found[0].lane, works, launches).sums_ns().items():
            idle_ns[cause] += spent_ns
    whole_ns = wall_ns * len(by_device)
    idle = {cause: spent / whole_ns for cause, spent in idle_ns.items() if spent}
    bound = idle.get(GapCause.HOST, 0.0) + idle.get(GapCause.LAUNCH, 0.0)
    return WallShares(
        wall_ns=wall_ns,
        busy=busy_ns / whole_ns,
        overlap=overlap_ns / whole_ns,
        idle=idle,
        outside=1 - between_ns / whole_ns,
        launch_bound=bound if launches else None,
        devices=len(by_device),
    )


def _wall_ns(trace: Trace) -> float:
    """From the first start to the last end; insides of kernels lie within."""
    counted = {at for at, lane in enumerate(trace.lanes) if lane.kind in _ON_THE_CLOCK}
    spans = [span for span in trace.spans if span[2] in counted]
    if not spans:
        return 0.0
    first_ns = min(span[3] for span in spans)
    return max(span[3] + span[4] for span in spans) - first_ns


def _covered_ns(works: Sequence[Work]) -> tuple[float, float]:
    """How long at least one, and at least two of the works ran; they are ordered by start."""
    busy_ns = overlap_ns = 0.0
    one_ns = two_ns = works[0].start_ns  # until when one and two of those seen so far run
    for start_ns, end_ns, _ in works:
        if end_ns > one_ns:
            busy_ns += end_ns - max(start_ns, one_ns)
        both_ns = min(end_ns, one_ns)
        if both_ns > max(start_ns, two_ns):
            overlap_ns += both_ns - max(start_ns, two_ns)
        two_ns = max(two_ns, both_ns)
        one_ns = max(one_ns, end_ns)
    return busy_ns, overlap_ns
