"""Tests of variances and intervals: known quantiles, sharp bounds, nothing said of too little."""

from __future__ import annotations

import random
from statistics import mean, stdev, variance

import pytest

from proton.analysis.uncertainty import (
    Variance,
    student_t,
    sum_of,
    variance_from_spread,
    variance_of_batches,
    variance_of_sum,
)
from proton.model.tree import KernelDetail, detail_of


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (4.9, 2.776), (20, 2.086), (21, 2.0796), (60, 2.0003), (1e9, 1.95996)],
)
def test_students_factor_is_that_of_the_tables(freedom: float, expected: float) -> None:
    assert student_t(freedom) == pytest.approx(expected, abs=2e-3)


def test_no_doubt_means_the_normal_factor() -> None:
    assert student_t(Variance(4.0).freedom) == pytest.approx(1.95996, abs=1e-4)


def test_freedom_of_equal_parts_is_the_sum_of_theirs() -> None:
    part = variance_of_sum([1000.0, 2000.0, 3000.0])
    assert part is not None
    assert part.freedom == pytest.approx(2)
    assert sum_of([part, part]).freedom == pytest.approx(4)


def test_the_variance_of_a_sum_is_that_of_a_run_times_the_runs() -> None:
    times = [1000.0, 1300.0, 900.0, 1800.0]
    found = variance_of_sum(times)
    assert found is not None
    assert found.size == pytest.approx(4 * variance(times))


def test_one_run_tells_nothing() -> None:
    assert variance_of_sum([5.0]) is None
    assert variance_from_spread(1, 5.0, KernelDetail(5, 5, 5, 5)) is None


def test_equal_times_are_no_surer_than_the_clock() -> None:
    found = variance_of_sum([1000.0] * 4)
    assert found is not None
    assert found.half_width() > 1


def test_an_interval_holds_the_truth_nineteen_times_of_twenty() -> None:
    chance = random.Random(7)
    hits = 0
    for _ in range(1000):
        times = [chance.gauss(10_000, 800) for _ in range(12)]
        found = variance_of_sum(times)
        assert found is not None
        hits += abs(sum(times) - 120_000) <= found.half_width()
    assert 930 <= hits <= 970


def test_the_spread_never_tells_less_variance_than_there_is() -> None:
    chance = random.Random(3)
    for size in (2, 5, 16, 200):
        for _ in range(50):
            times = [round(chance.lognormvariate(10, 0.4)) for _ in range(size)]
            found = variance_from_spread(size, sum(times), detail_of(times))
            assert found is not None
            # quantiles of few runs stand for whole runs: a share of a run may lie on either side
            assert found.size >= size * stdev(times) ** 2 * (1 - 1.5 / size)


def test_quantiles_make_the_bound_of_a_long_tail_smaller() -> None:
    times = [*range(10_000, 10_990, 10), 90_000] * 10
    whole = detail_of(times)
    rough = KernelDetail(whole.min_ns, whole.max_ns)
    sharp = variance_from_spread(len(times), sum(times), whole)
    bound = variance_from_spread(len(times), sum(times), rough)
    assert sharp is not None
    assert bound is not None
    assert sharp.size <= bound.size
    assert sharp.size >= len(times) * variance(times) * 0.9


def test_quantiles_that_cannot_be_fall_back_to_the_extremes() -> None:
    impossible = KernelDetail(100, 2000, 1900, 1950)  # half above 1900, and yet a mean of 200
    found = variance_from_spread(10, 2000.0, impossible)
    plain = variance_from_spread(10, 2000.0, KernelDetail(100, 2000))
    assert found == plain


def test_batches_of_unequal_size_are_held_against_their_share() -> None:
    steady = variance_of_batches([1000.0, 2000.0, 4000.0], [10, 20, 40])
    uneven = variance_of_batches([1000.0, 1000.0, 1000.0], [10, 20, 40])
    assert steady is not None
    assert uneven is not None
    assert steady.half_width() < 100 < uneven.half_width()


def test_two_batches_are_not_enough() -> None:
    assert variance_of_batches([1.0, 2.0], [1, 1]) is None


def test_scaling_a_sum_scales_its_interval() -> None:
    found = variance_of_sum([1000.0, 1200.0, 1500.0])
    assert found is not None
    assert found.scaled(3).half_width() == pytest.approx(3 * found.half_width())
    assert mean([found.freedom, found.scaled(3).freedom]) == pytest.approx(2)
