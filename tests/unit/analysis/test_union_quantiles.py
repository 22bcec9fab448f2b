"""Quantiles of kernels over several contexts: bounds that hold, estimates that are near."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from proton.analysis.aggregate import merge_by_name
from proton.analysis.select import everything
from proton.analysis.union_quantiles import (
    Quantile,
    Runs,
    is_estimated,
    middle_of,
    quantiles_of_kernels,
    quantiles_of_spans,
    with_quantiles,
)
from proton.model.frame import Frame, FrameKind
from proton.model.profile import kind_of
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import KernelDetail, Tree, detail_of
from tests.support.profiles import Row, profile_of


def runs_of(times: list[int]) -> Runs:
    detail = detail_of(times)
    assert detail.p50_ns is not None
    assert detail.p99_ns is not None
    return Runs(len(times), detail.min_ns, detail.p50_ns, detail.p99_ns, detail.max_ns)


def test_a_list_by_name_gets_the_quantiles_of_all_contexts() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    rows += [(1, "k", {"time (ns)": 50, "count": 10}), (1, "k", {"time (ns)": 70, "count": 10})]
    rows += [(1, "same", {"time (ns)": 50, "count": 10})]
    details = {
        1: KernelDetail(1, 9, 5, 8),
        2: KernelDetail(2, 30, 7, 20),
        3: KernelDetail(1, 9, 5, 8),
    }
    profile = profile_of(rows)
    profile = replace(profile, tree=replace(profile.tree, details=details))
    kind = partial(kind_of, profile)
    flat = merge_by_name(profile, "time (ns)", everything(profile.tree), kind)
    assert flat.tree.details[1].p50_ns is None
    known, estimated = with_quantiles(flat, profile)
    assert estimated == {"k"}
    detail = known.tree.details[1]
    assert detail.p50_ns is not None
    assert 5 <= detail.p50_ns <= 7
    assert known.tree.details[2] == details[3]


def test_one_context_keeps_its_quantiles() -> None:
    middle = middle_of([Runs(10, 1, 5, 9, 11)])
    assert middle.p50 == Quantile(5, 5, 5)
    assert middle.p99 == Quantile(9, 9, 9)


def test_contexts_that_agree_are_no_estimate() -> None:
    middle = middle_of([Runs(10, 1, 5, 9, 11), Runs(30, 2, 5, 9, 10)])
    assert middle.p50 == Quantile(5, 5, 5)


@pytest.mark.parametrize("seed", range(8))
def test_estimates_of_random_runs_are_near_and_bounds_hold(seed: int) -> None:
    rng = random.Random(seed)
    sets = [
        [int(rng.gauss(1000 * scale, 50 * scale)) for _ in range(rng.randint(50, 500))]
        for scale in (1, 1.2, 2)
    ]
    union = detail_of([time for times in sets for time in times])
    middle = middle_of([runs_of(times) for times in sets])
    for found, true in ((middle.p50, union.p50_ns), (middle.p99, union.p99_ns)):
        assert true is not None
        assert found.least <= true <= found.largest
        assert found.least <= found.value <= found.largest
        assert found.value == pytest.approx(true, rel=0.15)


def test_runs_that_all_took_the_same_time_count_whole() -> None:
    middle = middle_of([Runs(1, 10, 10, 10, 10), Runs(9, 20, 20, 20, 20)])
    assert middle.p50.value == 20
    assert middle.p50.least == 10


def test_a_kernel_of_which_one_context_knows_no_quantiles_has_none() -> None:
    kernel = Frame("k", FrameKind.KERNEL)
    known, unknown = KernelDetail(1, 4, 2, 3), KernelDetail(1, 4)
    own = [{}, {"count": 2}, {"count": 2}]
    tree = Tree([Frame("ROOT", FrameKind.ROOT), kernel, kernel], [-1, 0, 0], own)
    both = Tree(tree.frames, tree.parents, own, {1: known, 2: known})
    assert quantiles_of_kernels(both)["k"].p50.value == 2
    mixed = Tree(tree.frames, tree.parents, own, {1: known, 2: unknown})
    assert quantiles_of_kernels(mixed) == {}


def test_a_timeline_knows_quantiles_over_contexts_exactly() -> None:
    def run(name: str, time_ns: float, *path: str, kind: SpanKind = SpanKind.KERNEL) -> Span:
        return Span(name, kind, 0, 0.0, time_ns, path)

    spans = [run("k", time, scope, "_Zk") for time, scope in ((1, "a"), (9, "b"), (5, "b"))]
    spans += [run("alone", 3.0), run("host", 100.0, kind=SpanKind.SCOPE)]
    found = quantiles_of_spans(Trace((Lane("s", "stream", LaneKind.DEVICE),), spans))
    assert {name: middle.p50 for name, middle in found.items()} == {
        "_Zk": Quantile(5, 5, 5),
        "alone": Quantile(3, 3, 3),
    }


def test_many_contexts_are_estimated_from_few_that_stand_for_them() -> None:
    rng = random.Random(1)
    sets = [[int(rng.gauss(1000 + at, 20)) for _ in range(20)] for at in range(1000)]
    union = detail_of([time for times in sets for time in times])
    middle = middle_of([runs_of(times) for times in sets])
    assert middle.p50.value == pytest.approx(union.p50_ns or 0, rel=0.03)
    assert middle.p99.value == pytest.approx(union.p99_ns or 0, rel=0.05)


def test_bounds_that_agree_in_the_digits_shown_are_no_estimate() -> None:
    assert not is_estimated(Quantile(59_400, 59_398, 59_404))
    assert is_estimated(Quantile(59_400, 59_000, 60_000))
