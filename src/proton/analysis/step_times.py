"""How long the steps of a program took, and which was the slowest."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from proton.model.profile import Profile
from proton.model.steps import StepSeries


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The times of all steps on the host, of all processes together, in nanoseconds."""

    count: int
    kept: int  # those whose times are known
    median_ns: float
    p90_ns: float
    largest_ns: float
    slowest: int  # number of the slowest step in its process, by its name where that is one
    slowest_rank: int | None
    work_median_ns: float | None  # of what each launched on the device; None: nothing was timed


def step_times(profile: Profile) -> StepTimes | None:
    """The times of the steps that the program marked; None where it marked none."""
    times = [
        (duration_ns, _number(series, number), series.rank)
        for series in profile.steps
        for number, duration_ns in enumerate(series.duration_ns)
    ]
    if not times:
        return None
    ordered = sorted(duration_ns for duration_ns, _, _ in times)
    work_ns = [time_ns for series in profile.steps for time_ns in series.gpu_time_ns]
    largest_ns, slowest, rank = max(times, key=lambda each: each[0])
    return StepTimes(
        count=sum(series.count for series in profile.steps),
        kept=len(times),
        median_ns=median(ordered),
        p90_ns=ordered[-(-9 * len(ordered) // 10) - 1],
        largest_ns=largest_ns,
        slowest=slowest,
        slowest_rank=rank,
        work_median_ns=median(work_ns) if work_ns else None,
    )


def _number(series: StepSeries, place: int) -> int:
    """The number of a step in its program: under a schedule a file has some of them by name."""
    name = series.names[place] if series.names else ""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 16 else place
