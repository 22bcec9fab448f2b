"""Median, p90 and the slowest of a program's steps."""

from __future__ import annotations

from proton.analysis.step_times import StepTimes, step_times
from proton.model.profile import Profile
from proton.model.steps import StepSeries


def test_a_program_without_marks_has_no_times() -> None:
    assert step_times(Profile("f")) is None
    assert step_times(Profile("f", steps=[StepSeries(0, (), (), left_out=4)])) is None


def test_the_times_are_those_of_all_ranks() -> None:
    one = StepSeries(0, (0, 1, 2), (10, 30, 20), left_out=1, rank=0)
    other = StepSeries(0, (0,), (90,), rank=3)
    times = step_times(Profile("f", steps=[one, other]))
    assert times == StepTimes(
        count=5,
        kept=4,
        median_ns=25.0,
        p90_ns=90,
        largest_ns=90,
        slowest=0,
        slowest_rank=3,
        work_median_ns=None,
    )


def test_p90_is_a_time_that_nine_of_ten_do_not_exceed() -> None:
    times = step_times(Profile("f", steps=[StepSeries(0, range(10), range(1, 11))]))
    assert times is not None
    assert (times.median_ns, times.p90_ns, times.slowest) == (5.5, 9, 9)


def test_work_on_the_device_has_a_median_of_its_own() -> None:
    one = StepSeries(0, (0, 1), (10, 30), gpu_time_ns=(4, 6), rank=0)
    times = step_times(Profile("f", steps=[one, StepSeries(0, (0,), (90,), rank=3)]))
    assert times is not None
    assert (times.median_ns, times.work_median_ns) == (30, 5)


def test_a_step_that_is_called_by_a_number_has_that_number() -> None:
    series = StepSeries(0, (0, 1), (10, 30), names=("3", "4"))
    times = step_times(Profile("f", steps=[series]))
    assert times is not None
    assert times.slowest == 4
    times = step_times(
        Profile("f", steps=[StepSeries(0, (0, 1), (10, 30), names=("", "9" * 9999))])
    )
    assert times is not None
    assert times.slowest == 1
