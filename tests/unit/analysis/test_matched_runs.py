"""Tests of runs matched by context: a changed mix is no change of speed."""

from __future__ import annotations

import pytest

from proton.analysis.change import Matched, match_contexts
from proton.analysis.run_times import OwnRuns, Runs
from proton.analysis.uncertainty import variance_of_sum


def own(*times: float) -> OwnRuns:
    return times, Runs(sum(times), len(times), variance_of_sum(times))


def matched(*pairs: tuple[OwnRuns, OwnRuns]) -> Matched:
    return match_contexts(("k", before, after) for before, after in pairs)["k"]


def test_more_runs_in_the_longest_context_are_no_slower_runs() -> None:
    short, long = (100, 110, 120), (1000, 1100, 1200)
    found = matched((own(*short), own(*short)), (own(*long), own(*long, *long)))
    assert found.by_speed_ns == 0
    assert (found.before_ns, found.after_ns) == (3630, 6930)


def test_variances_are_those_of_each_context() -> None:
    fast, slow = (1000, 1400, 1200), (9000, 9900, 9300)
    found = matched((own(*fast), own(*fast)), (own(*slow), own(*slow)))
    parts = [variance_of_sum(fast), variance_of_sum(slow)]
    assert found.variance_of_speed is not None
    assert found.variance_of_speed.size == pytest.approx(2 * sum(p.size for p in parts if p))
    assert found.variance_of_total == found.variance_of_speed


def test_contexts_with_one_run_each_are_compared_in_pairs() -> None:
    before, after = (1000, 50_000, 9000), (1100, 50_130, 9090)
    found = matched(*((own(a), own(b)) for a, b in zip(before, after, strict=True)))
    assert found.variance_of_speed == variance_of_sum((100, 130, 90))
    assert found.by_speed_ns == 320


def test_one_pair_alone_is_not_enough() -> None:
    assert matched((own(1000), own(1100))).variance_of_speed is None


def test_one_run_varies_as_those_of_the_other_profile() -> None:
    many = own(1000, 1400, 1200, 1600)
    found = matched((own(1300), many))
    known = variance_of_sum((1000, 1400, 1200, 1600))
    assert known is not None
    assert found.variance_of_total is not None
    assert found.variance_of_total.size == pytest.approx(known.size * (1 + 1 / 4))


def test_a_context_of_which_only_the_sum_is_known_makes_all_unknown() -> None:
    blind: OwnRuns = ((), Runs(3000, 3))
    found = matched((own(1, 2), own(1, 2)), (blind, blind))
    assert found.variance_of_speed is None
    assert found.by_speed_ns == 0


def test_contexts_of_one_profile_alone_are_not_matched() -> None:
    assert match_contexts([("k", own(5, 6), None), ("k", None, own(5, 6))]) == {}
