"""Tests of what became slower: verdicts, their intervals, and what is not enough to tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.analysis.compare import (
    FASTER,
    FEWER_RUNS,
    GONE,
    MORE_RUNS,
    NEW,
    NOT_ENOUGH,
    SAME,
    SLOWER,
    Comparison,
    change_between,
    change_of_all,
)
from proton.analysis.run_times import RANKS, SPREAD, Runs
from proton.analysis.uncertainty import variance_of_sum
from proton.model.detail import detail_of
from proton.model.metric import Metrics
from proton.model.profile import Profile
from proton.model.ranks import TIME_BY_RANK_NS, Rank
from tests.support.profiles import Row, profile_of


def runs(*times: float) -> Runs:
    return Runs(sum(times), len(times), variance_of_sum(times), SPREAD)


def recorded(**kernels: tuple[int, ...]) -> Profile:
    rows: list[Row] = [(0, "ROOT", {}), (1, "step", {})]
    rows += [
        (2, name, {"time (ns)": sum(times), "count": len(times)}) for name, times in kernels.items()
    ]
    profile = profile_of(rows)
    assert profile.tree is not None
    details = {row: detail_of(times) for row, times in enumerate(kernels.values(), 2)}
    return replace(profile, tree=replace(profile.tree, details=details))


def test_a_change_beyond_chance_is_slower_or_faster() -> None:
    fast, slow = runs(1000, 1010, 1020, 1010), runs(1500, 1510, 1520, 1510)
    assert change_between(fast, slow).verdict == SLOWER
    assert change_between(slow, fast).verdict == FASTER


def test_the_interval_is_around_the_change() -> None:
    change = change_between(runs(1000, 1100, 1200, 1100), runs(1500, 1600, 1700, 1600))
    assert (change.change_ns, change.by_runs_ns, change.basis) == (2000, 0, SPREAD)
    assert change.half_width_ns == pytest.approx(565, rel=0.02)  # 2.447 * sqrt(2 * 4 * 6667)
    assert change.per_run == pytest.approx(500 / 1100)
    assert change.per_run_half_width == pytest.approx(565 / 4400, rel=0.02)


def test_a_change_within_chance_is_none() -> None:
    change = change_between(runs(1000, 3000, 2000), runs(1100, 3100, 2100))
    assert change.verdict == SAME
    assert change.change_ns == 300


def test_more_runs_of_the_same_length_are_not_slower() -> None:
    few, many = runs(1000, 1100, 1200), runs(*(1000, 1100, 1200) * 3)
    change = change_between(few, many)
    assert (change.verdict, change.by_runs_ns) == (MORE_RUNS, 6600)
    assert change_between(many, few).verdict == FEWER_RUNS


def test_what_only_one_profile_has_is_new_or_gone() -> None:
    change = change_between(None, runs(5, 5))
    assert (change.verdict, change.change_ns, change.half_width_ns) == (NEW, 10, None)
    change = change_between(runs(5, 5), None)
    assert (change.verdict, change.change_ns) == (GONE, -10)


def test_many_kernels_are_compared_by_their_sum_alone() -> None:
    many_short, few_long = runs(*(100, 110, 120) * 20), runs(1000, 1010, 1020)
    change = change_of_all(many_short, few_long)  # faster in all, though a run takes longer
    assert (change.verdict, change.change_ns, change.per_run) == (FASTER, -3570, None)
    assert change_of_all(few_long, few_long).verdict == SAME
    assert change_of_all(Runs(1000, 2), Runs(900, 2)).verdict == NOT_ENOUGH
    assert change_of_all(None, few_long).verdict == NEW


def test_without_variance_it_says_that_there_is_not_enough() -> None:
    change = change_between(Runs(1000, 2), Runs(1500, 2))
    assert (change.verdict, change.half_width_ns) == (NOT_ENOUGH, None)
    assert change.per_run == pytest.approx(0.5)
    assert change_between(Runs(1000, None), Runs(1500, 2)).verdict == NOT_ENOUGH


def test_equal_profiles_are_the_same_even_where_little_is_known() -> None:
    assert change_between(Runs(1000, 2), Runs(1000, 2)).verdict == SAME


def test_kernels_stand_in_the_order_of_their_change_whichever_way() -> None:
    before = recorded(a=(100, 100), b=(5000, 5000), c=(70, 70), gone=(2500, 2500))
    after = recorded(a=(110, 110), b=(1000, 1000), c=(70, 70), new=(30, 30))
    found = Comparison(before, after).kernels()
    assert [each.name for each in found] == ["b", "gone", "new", "a", "c"]
    assert [each.change.verdict for each in found][:3] == [FASTER, GONE, NEW]


def test_a_kernel_that_runs_more_where_it_is_long_is_not_slower() -> None:
    def mixed(long_runs: int) -> Profile:
        rows: list[Row] = [(0, "ROOT", {})]
        times = {"short": (100, 101, 102, 103), "long": (9000, 9100, 9200, 9300) * long_runs}
        for scope, each in times.items():
            rows += [(1, scope, {}), (2, "k", {"time (ns)": sum(each), "count": len(each)})]
        profile = profile_of(rows)
        assert profile.tree is not None
        details = {2: detail_of(times["short"]), 4: detail_of(times["long"])}
        return replace(profile, tree=replace(profile.tree, details=details))

    (kernel,) = Comparison(mixed(1), mixed(3)).kernels()
    assert kernel.change.verdict == MORE_RUNS
    assert kernel.change.per_run == pytest.approx(0)
    assert kernel.change.by_runs_ns == kernel.change.change_ns == 73_200


def test_scopes_that_were_renamed_leave_the_names_of_kernels() -> None:
    before = recorded(k=(1000, 1010, 1020, 1010))
    after = recorded(k=(1500, 1510, 1520, 1510))
    assert after.tree is not None
    frames = [
        frame._replace(name=f"new {frame.name}") if frame.name == "step" else frame
        for frame in after.tree.frames
    ]
    moved = replace(after, tree=replace(after.tree, frames=frames))
    (kernel,) = Comparison(before, moved).kernels()
    assert (kernel.change.verdict, kernel.change.basis) == (SLOWER, SPREAD)


def test_ranks_in_both_are_compared_one_by_one() -> None:
    def merged(*times: int) -> Profile:
        own: Metrics = {"time (ns)": sum(times), "count": 30, TIME_BY_RANK_NS: times}
        ranks = tuple(Rank(at) for at in range(len(times)))
        return replace(profile_of([(0, "ROOT", {}), (1, "k", own)]), ranks=ranks)

    before, after = merged(100_000, 500_000, 900_000), merged(110_000, 511_000, 909_000)
    (paired,) = Comparison(before, after).kernels()
    assert (paired.change.verdict, paired.change.basis) == (SLOWER, RANKS)
    (apart,) = Comparison(before, replace(after, ranks=(Rank(4), Rank(5), Rank(6)))).kernels()
    assert apart.change.verdict == SAME


def test_launches_that_changed_are_named() -> None:
    def launched(**attributes: int) -> Profile:
        profile = recorded(k=(100, 100))
        assert profile.tree is not None
        details = {2: detail_of((100, 100), attributes)}
        return replace(profile, tree=replace(profile.tree, details=details))

    before, after = launched(registers=64, occupancy=1), launched(registers=128, occupancy=1)
    assert Comparison(before, after).kernels()[0].launches == {"registers": (64, 128)}


def test_scopes_are_matched_by_path() -> None:
    comparison = Comparison(recorded(k=(100, 100)), recorded(k=(900, 900)))
    whole, step = comparison.scopes()
    assert (whole.row, whole.change.change_ns) == (0, 1600)
    assert comparison.union.tree.frames[step.row].name == "step"
    assert (step.before_row, step.after_row, step.change.verdict) == (1, 1, SLOWER)
