"""Tests of what a gate takes for a regression."""

from __future__ import annotations

import pytest

from proton.analysis.change import FASTER, NOT_ENOUGH, SAME, SLOWER, Change
from proton.analysis.gate import is_regression, regressions, relative_change, worst_first
from proton.analysis.run_times import PHASES, Runs, whole_runs
from tests.support.profiles import profile_of


def change(by_speed_ns: float | None, half_ns: float | None, verdict: str = SLOWER) -> Change:
    runs = Runs(100.0, 1)
    return Change(runs, runs, verdict, 0.0, None, by_speed_ns, half_ns, 100.0)


def test_the_whole_interval_lies_beyond_the_threshold() -> None:
    assert relative_change(change(10, 2)) == (0.1, 0.02)
    assert is_regression(change(10, 2), 0.079)
    assert not is_regression(change(10, 2), 0.081)
    assert not is_regression(change(10, 2, SAME), 0.0)


@pytest.mark.parametrize("found", [change(10, None), change(None, 2)])
def test_what_is_not_known_is_no_regression(found: Change) -> None:
    assert relative_change(found) is None
    assert not is_regression(found, 0.0)


def test_kernels_below_a_share_of_the_time_do_not_count() -> None:
    slow = change(10, 1)
    assert regressions([(slow, 10.0), (slow, 9.9)], 1000.0, 0.03) == [slow]


def test_phases_tell_how_sure_the_sum_of_all_kernels_is() -> None:
    phases = [
        profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns, "count": 2})])
        for time_ns in (10_000, 11_000, 9_000)
    ]
    runs = Runs(30_000.0, 6)
    assert whole_runs(runs, phases[:2]) is runs
    assert whole_runs(None, phases) is None
    found = whole_runs(runs, phases)
    assert found is not None
    assert found.basis == PHASES
    assert found.variance is not None
    assert found.variance.size == pytest.approx(3 * 1000**2)


def test_slower_ones_come_first_and_what_did_not_change_last() -> None:
    same, little = change(40, 50, SAME), change(1, 0.5)
    faster, unknown = change(-60, 1, FASTER), change(70, None, NOT_ENOUGH)
    much = change(5, 1)
    found = worst_first([same, unknown, little, faster, much])
    assert found == [much, little, unknown, faster, same]
