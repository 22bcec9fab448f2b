"""Tests of changes: verdicts, their intervals, and what is not enough to tell."""

from __future__ import annotations

import pytest

from proton.analysis.change import (
    FASTER,
    FEWER_RUNS,
    GONE,
    MORE_RUNS,
    NEW,
    NOT_ENOUGH,
    SAME,
    SLOWER,
    change_between,
    change_of_all,
)
from proton.analysis.run_times import SPREAD, Runs
from proton.analysis.uncertainty import variance_of_sum


def runs(*times: float) -> Runs:
    return Runs(sum(times), len(times), variance_of_sum(times), SPREAD)


def test_a_change_beyond_chance_is_slower_or_faster() -> None:
    fast, slow = runs(1000, 1010, 1020, 1010), runs(1500, 1510, 1520, 1510)
    assert change_between(fast, slow).verdict == SLOWER
    assert change_between(slow, fast).verdict == FASTER


def test_the_interval_is_around_the_change() -> None:
    change = change_between(runs(1000, 1100, 1200, 1100), runs(1500, 1600, 1700, 1600))
    assert (change.change_ns, change.by_speed_ns, change.basis) == (2000, 2000, SPREAD)
    assert change.half_width_ns == pytest.approx(565, rel=0.02)  # 2.447 * sqrt(2 * 4 * 6667)
    assert change.expected_ns == 4400
    assert change.speed_half_width_ns == change.half_width_ns


def test_a_change_within_chance_is_none() -> None:
    change = change_between(runs(1900, 2100, 2000), runs(1950, 2150, 2050))
    assert change.verdict == SAME
    assert change.change_ns == 150


@pytest.mark.parametrize("times", [(1000, 6000, 17000), (1100, 3100, 2100), (1000, 3000, 2000) * 2])
def test_an_interval_that_is_wide_tells_nothing(times: tuple[float, ...]) -> None:
    change = change_between(runs(500, 5000, 500), runs(*times))
    assert change.speed_half_width_ns is not None
    assert change.verdict == NOT_ENOUGH


def test_runs_are_counted_for_each_recording() -> None:
    three, two = runs(*(1000, 1010, 1020) * 3), runs(*(1000, 1010, 1020) * 2)
    assert change_between(three, two).verdict == FEWER_RUNS
    assert change_between(three, two, repeats=2 / 3).verdict == SAME
    assert change_of_all(three, two, 2 / 3, 2 / 3).verdict == SAME
    assert change_between(three, three, repeats=2 / 3).verdict == MORE_RUNS


def test_a_change_of_less_than_a_percent_is_none_however_sure() -> None:
    sure = tuple(range(100_000, 100_100))
    change = change_between(runs(*sure), runs(*(time * 1.005 for time in sure)))
    assert change.half_width_ns is not None
    assert change.change_ns > 10 * change.half_width_ns
    assert change.verdict == SAME
    assert change_between(runs(*sure), runs(*(time * 1.02 for time in sure))).verdict == SLOWER


def test_more_runs_of_the_same_length_are_not_slower() -> None:
    few, many = runs(1000, 1100, 1200), runs(*(1000, 1100, 1200) * 3)
    change = change_between(few, many)
    assert (change.verdict, change.change_ns, change.by_speed_ns) == (MORE_RUNS, 6600, 0)
    assert change_between(many, few).verdict == FEWER_RUNS


def test_what_only_one_profile_has_is_new_or_gone() -> None:
    change = change_between(None, runs(5, 5))
    assert (change.verdict, change.change_ns, change.half_width_ns) == (NEW, 10, None)
    change = change_between(runs(5, 5), None)
    assert (change.verdict, change.change_ns) == (GONE, -10)


def test_many_kernels_are_compared_by_their_sum_alone() -> None:
    many_short, few_long = runs(*(100, 110, 120) * 20), runs(1000, 1010, 1020)
    change = change_of_all(many_short, few_long)  # faster in all, though a run takes longer
    assert (change.verdict, change.change_ns, change.by_speed_ns) == (FASTER, -3570, -3570)
    assert change_of_all(few_long, few_long).verdict == SAME
    assert change_of_all(Runs(1000, 2), Runs(900, 2)).verdict == NOT_ENOUGH
    assert change_of_all(None, few_long).verdict == NEW


def test_without_variance_it_says_that_there_is_not_enough() -> None:
    change = change_between(Runs(1000, 2), Runs(1500, 2))
    assert (change.verdict, change.half_width_ns) == (NOT_ENOUGH, None)
    assert (change.by_speed_ns, change.speed_half_width_ns) == (500, None)
    assert change_between(Runs(1000, None), Runs(1500, 2)).verdict == NOT_ENOUGH


def test_equal_profiles_are_the_same_even_where_little_is_known() -> None:
    assert change_between(Runs(1000, 2), Runs(1000, 2)).verdict == SAME


def test_more_runs_of_unknown_spread_are_not_enough_for_one_kernel_and_for_all() -> None:
    once, twice = Runs(1000, 2), Runs(2000, 4)
    assert change_between(once, twice).verdict == NOT_ENOUGH
    assert change_of_all(once, twice, 2.0).verdict == NOT_ENOUGH
    assert change_of_all(once, once).verdict == SAME
