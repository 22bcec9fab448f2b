"""Tests of the spread of times over ranks."""

from __future__ import annotations

from proton.analysis.rank_spread import rank_times_ns, slowest_ranks, times_metric
from proton.model.ranks import TIME_BY_RANK_NS, Rank

VALUES = [(1, 4, 2), None, (0, 0, 0), 7]


def test_rows_without_times_of_ranks_have_no_spread() -> None:
    assert rank_times_ns(VALUES, "rank_median") == [2, None, 0, None]
    assert rank_times_ns(VALUES, "rank_max") == [4, None, 0, None]


def test_the_slowest_rank_is_its_number_not_its_place() -> None:
    ranks = [Rank(3), Rank(5), Rank(8)]
    assert slowest_ranks(VALUES, ranks) == [5, None, None, None]


def test_only_merged_profiles_have_times_of_ranks() -> None:
    assert times_metric(["time (ns)"]) is None
    assert times_metric(["time (ns)", TIME_BY_RANK_NS]) == TIME_BY_RANK_NS
