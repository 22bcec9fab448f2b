from __future__ import annotations

import pytest

from proton.model.ctas import summarize_ctas


def test_ctas_are_told_by_multiprocessor_and_wave() -> None:
    """Two SMs; the second CTA of SM 0 runs alone at the end."""
    ctas = summarize_ctas([(0, 0, 100, 200), (1, 2, 100, 220), (2, 0, 220, 300)])
    assert ctas is not None
    assert (ctas.count, ctas.sms, ctas.first_start_ns, ctas.last_end_ns) == (3, 2, 100, 300)
    assert (ctas.p50_ns, ctas.p99_ns) == (100, 120)
    assert ctas.waves == 1.5
    assert ctas.tail_ns == 80
    assert list(ctas.per_sm) == [0.9, None, 0.6]


def test_no_times_are_no_ctas() -> None:
    assert summarize_ctas([]) is None


@pytest.mark.parametrize(("count", "at"), [(1, 0), (2, 0), (100, 49), (101, 50)])
def test_the_median_is_the_nearest_rank(count: int, at: int) -> None:
    ctas = summarize_ctas([(n, n, 0, 10 + n) for n in range(count)])
    assert ctas is not None
    assert ctas.p50_ns == 10 + at
