"""The part `steps`: when each step of the program began and how long it took."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.step_times import StepTimes, step_times
from proton.model.profile import TreeProfile
from proton.render.page.pack import ColumnId, Columns


@dataclass(frozen=True, slots=True)
class StepsOfRank:
    """The steps of one process by number, from 0 on."""

    rank: int | None
    count: int
    start_ns: ColumnId  # on the axis of the timeline; without one since the first step of all
    duration_ns: ColumnId
    gpu_time_ns: ColumnId | None  # of what was launched in each; null where no step has any
    names: Sequence[str]  # of each; none where no step has a name


@dataclass(frozen=True, slots=True)
class StepsPart:
    """The steps that the program marked with `proton.step()`."""

    times: StepTimes
    series: Sequence[StepsOfRank]


def steps_part(profile: TreeProfile, columns: Columns) -> StepsPart | None:
    """The steps of a profile; None where the program marked none."""
    times = step_times(profile)
    if times is None:
        return None
    zero_ns = None if profile.trace is None else profile.trace.base_time_ns
    if zero_ns is None:
        zero_ns = min(each.base_ns + min(each.start_ns, default=0) for each in profile.steps)
    return StepsPart(
        times=times,
        series=[
            StepsOfRank(
                rank=each.rank,
                count=len(each.duration_ns),
                start_ns=columns.add(
                    "f64", array("d", (each.base_ns - zero_ns + start for start in each.start_ns))
                ),
                duration_ns=columns.add("f64", array("d", each.duration_ns)),
                gpu_time_ns=(
                    columns.add("f64", array("d", each.gpu_time_ns)) if each.gpu_time_ns else None
                ),
                names=each.names,
            )
            for each in profile.steps
        ],
    )
