"""Tests of the runs of kernels: sums by context and by name, and where their variance is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proton.analysis.aggregate import tree_of_trace
from proton.analysis.run_times import PHASES, RANKS, SPANS, SPREAD, Runs, TimedTree
from proton.analysis.run_times import runs_by_name as of_names
from proton.analysis.run_times import runs_by_row as of_rows
from proton.analysis.uncertainty import variance_of_sum
from proton.model.metric import Metrics
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import detail_of
from tests.support.profiles import Row, profile_of

TIMES = (1000, 1400, 1200, 1900)


def runs_by_name(profile: TreeProfile, phases: Sequence[TreeProfile] = ()) -> dict[str, Runs]:
    return of_names(TimedTree.of(profile), phases)


def runs_by_row(profile: TreeProfile) -> list[Runs | None]:
    return of_rows(TimedTree.of(profile))


def timed(*times: int, **more: int) -> Metrics:
    return {"time (ns)": sum(times), "count": len(times), **more}


def with_details(rows: list[Row], *, at: dict[int, tuple[int, ...]]) -> TreeProfile:
    profile = profile_of(rows)
    assert isinstance(profile, TreeProfile)
    details = {row: detail_of(times) for row, times in at.items()}
    return replace(profile, tree=replace(profile.tree, details=details))


def traced(*runs: tuple[tuple[str, ...], int]) -> TreeProfile:
    spans = [
        Span(path[-1], SpanKind.KERNEL, 0, 10_000.0 * at, time, path)
        for at, (path, time) in enumerate(runs)
    ]
    lane = Lane("0", "stream 7", LaneKind.DEVICE)
    return tree_of_trace(TraceProfile("t.chrome_trace", trace=Trace([lane], spans)))


def test_spans_of_a_trace_give_the_variance_of_their_context() -> None:
    runs = runs_by_name(traced(*((("step", "k"), time) for time in TIMES)))["k"]
    assert (runs.total_ns, runs.count, runs.basis) == (5500, 4, SPANS)
    assert runs.variance == variance_of_sum(TIMES)


def test_contexts_that_differ_do_not_count_as_chance() -> None:
    fast, slow = ((("a", "k"), time) for time in TIMES), ((("b", "k"), 9 * t) for t in TIMES)
    runs = runs_by_name(traced(*fast, *slow))["k"]
    parts = [variance_of_sum(TIMES), variance_of_sum([9 * time for time in TIMES])]
    assert runs.variance is not None
    assert runs.variance.size == pytest.approx(sum(part.size for part in parts if part))


def test_a_tree_gives_the_bound_of_its_spread() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", timed(*TIMES))]
    runs = runs_by_name(with_details(rows, at={1: TIMES}))["k"]
    known = variance_of_sum(TIMES)
    assert runs.basis == SPREAD
    assert runs.variance is not None
    assert known is not None
    assert runs.variance.size >= 0.8 * known.size


def test_contexts_of_one_run_each_are_runs_like_each_other() -> None:
    rows: list[Row] = [(0, "ROOT", {}), *((1, "k", timed(time)) for time in TIMES)]
    runs = runs_by_name(profile_of(rows))["k"]
    assert runs.variance == variance_of_sum(TIMES)


def test_several_runs_of_which_only_the_sum_is_known_are_not_enough() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", timed(*TIMES)), (1, "k", timed(7))]
    runs = runs_by_name(profile_of(rows))["k"]
    assert (runs.total_ns, runs.variance, runs.basis) == (5507, None, None)


def test_one_run_in_all_is_not_enough() -> None:
    assert runs_by_name(profile_of([(0, "ROOT", {}), (1, "k", timed(7))]))["k"].variance is None


def test_files_without_counts_have_no_variance() -> None:
    runs = runs_by_name(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 7})]))["k"]
    assert (runs.total_ns, runs.count, runs.variance) == (7, None, None)


def test_ranks_come_before_the_spread() -> None:
    ranks: Metrics = {**timed(*TIMES), TIME_BY_RANK_NS: (1000, 2100, 2400)}
    runs = runs_by_name(with_details([(0, "ROOT", {}), (1, "k", ranks)], at={1: TIMES}))["k"]
    assert (runs.basis, runs.by_rank_ns) == (RANKS, (1000, 2100, 2400))
    assert runs.variance == variance_of_sum((1000, 2100, 2400))


def test_three_phases_come_before_everything() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", timed(*TIMES))]
    phases = [profile_of([(0, "ROOT", {}), (1, "k", timed(*times))]) for times in ((1, 2),) * 3]
    profile = with_details(rows, at={1: TIMES})
    assert runs_by_name(profile, phases)["k"].basis == PHASES
    assert runs_by_name(profile, phases[:2])["k"].basis == SPREAD


def test_a_context_has_the_sum_of_what_ran_below() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "step", {}),
        (2, "k", timed(*TIMES)),
        (2, "m", timed(*TIMES)),
        (1, "idle", {}),
    ]
    found = runs_by_row(with_details(rows, at={2: TIMES, 3: TIMES}))
    step, kernel = found[1], found[2]
    assert step is not None
    assert kernel is not None
    assert step.variance is not None
    assert kernel.variance is not None
    assert (step.total_ns, step.count) == (11_000, 8)
    assert step.variance.size == pytest.approx(2 * kernel.variance.size)
    assert found[0] == step
    assert found[4] is None


def test_one_unknown_kernel_makes_its_context_unknown() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "step", {}),
        (2, "k", timed(*TIMES)),
        (2, "m", timed(*TIMES)),
    ]
    step = runs_by_row(with_details(rows, at={2: TIMES}))[1]
    assert step is not None
    assert (step.total_ns, step.variance) == (11_000, None)


def test_ten_thousand_levels_are_summed_without_recursion() -> None:
    rows: list[Row] = [(depth, f"f{depth}", {}) for depth in range(10_000)]
    found = runs_by_row(profile_of([*rows, (10_000, "k", timed(5))]))
    assert found[0] is not None
    assert found[0].total_ns == 5
