"""How long the steps of a program took, and which was the slowest."""

from __future__ import annotations

from dataclasses import dataclass

from proton.model.profile import Profile


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The times of all steps, of all processes together, in nanoseconds."""

    count: int
    kept: int  # those whose times are known
    median_ns: float
    p90_ns: float
    largest_ns: float
    slowest: int  # number of the slowest step in its process
    slowest_rank: int | None


def step_times(profile: Profile) -> StepTimes | None:
    """The times of the steps that the program marked; None where it marked none."""
    times = [
        (duration_ns, number, series.rank)
        for series in profile.steps
        for number, duration_ns in enumerate(series.duration_ns)
    ]
    if not times:
        return None
    ordered = sorted(duration_ns for duration_ns, _, _ in times)
    middle = len(ordered) // 2
    is_odd = len(ordered) % 2
    largest_ns, slowest, rank = max(times, key=lambda each: each[0])
    return StepTimes(
        count=sum(series.count for series in profile.steps),
        kept=len(times),
        median_ns=ordered[middle] if is_odd else (ordered[middle - 1] + ordered[middle]) / 2,
        p90_ns=ordered[-(-9 * len(ordered) // 10) - 1],
        largest_ns=largest_ns,
        slowest=slowest,
        slowest_rank=rank,
    )
