"""Tests of the spread of times over ranks."""

from __future__ import annotations

from proton.analysis.spread import (
    rank_times_ns,
    slowest_ranks,
    times_by_kernel,
    times_metric,
)
from proton.model.metric import Metrics
from proton.model.ranks import TIME_BY_RANK_NS, Rank
from tests.support.profiles import profile_of, tree_in

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


def test_times_of_a_kernel_are_those_of_all_its_contexts() -> None:
    rows: list[tuple[int, str, Metrics]] = [
        (0, "ROOT", {}),
        (1, "step", {}),
        (2, "k", {"time (ns)": 3, TIME_BY_RANK_NS: (1, 2)}),
        (1, "k", {"time (ns)": 3, TIME_BY_RANK_NS: (4,)}),
    ]
    tree = tree_in(profile_of(rows))
    assert times_by_kernel(tree, TIME_BY_RANK_NS) == {"k": (5, 2)}
