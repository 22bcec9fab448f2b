"""The steps of a program, as `proton.step()` marked them: when each began and how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from proton.model.schema import Stored


@dataclass(frozen=True, slots=True)
class StepSeries:
    """The steps of one process, in their order; the first has the number 0."""

    base_ns: Annotated[int, Stored("Unix time that `start_ns` is counted from", least=None)]
    start_ns: Annotated[Sequence[int], Stored("when each step began", least=None)]
    duration_ns: Annotated[Sequence[int], Stored("how long each took, on the host")]
    names: Annotated[
        Sequence[str], Stored("what each was called; empty where none has a name", sparse=True)
    ] = ()
    gpu_time_ns: Annotated[
        Sequence[int],
        Stored("GPU time of what was launched in each; empty where there was none", sparse=True),
    ] = ()
    left_out: Annotated[
        int, Stored("steps besides these, of which only the number was kept", sparse=True)
    ] = 0
    rank: Annotated[int | None, Stored("in merged profiles: whose steps", least=None)] = None

    @property
    def count(self) -> int:
        """All steps, also those that were not kept."""
        return len(self.duration_ns) + self.left_out


def merge_steps(parts: Iterable[Sequence[StepSeries]]) -> tuple[StepSeries, ...]:
    """The series of several parts of a recording; those of one rank become one."""
    merged: dict[int | None, StepSeries] = {}
    for series in (each for part in parts for each in part):
        known = merged.get(series.rank)
        merged[series.rank] = series if known is None else _joined(known, series)
    return tuple(merged.values())


def _joined(first: StepSeries, second: StepSeries) -> StepSeries:
    shift_ns = second.base_ns - first.base_ns
    names: tuple[str, ...] = ()
    if first.names or second.names:
        names = (*_names(first), *_names(second))
    gpu_time_ns: tuple[int, ...] = ()
    if first.gpu_time_ns or second.gpu_time_ns:
        gpu_time_ns = (*_gpu_times(first), *_gpu_times(second))
    return replace(
        first,
        start_ns=(*first.start_ns, *(start_ns + shift_ns for start_ns in second.start_ns)),
        duration_ns=(*first.duration_ns, *second.duration_ns),
        names=names,
        gpu_time_ns=gpu_time_ns,
        left_out=first.left_out + second.left_out,
    )


def _names(series: StepSeries) -> Sequence[str]:
    return series.names or ("",) * len(series.duration_ns)


def _gpu_times(series: StepSeries) -> Sequence[int]:
    return series.gpu_time_ns or (0,) * len(series.duration_ns)


def of_rank(steps: Iterable[StepSeries], rank: int) -> tuple[StepSeries, ...]:
    """Steps of a profile that becomes part of a merged one; those that have a rank keep it."""
    return tuple(replace(each, rank=rank) if each.rank is None else each for each in steps)
