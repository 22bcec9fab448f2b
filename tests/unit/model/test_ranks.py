"""Tests of how times of ranks spread."""

from __future__ import annotations

import pytest

from proton.model.ranks import Spread, spread_of


@pytest.mark.parametrize(
    ("times", "spread"),
    [
        ([3.0], Spread(3, 3, 3, 0)),
        ([1.0, 4.0], Spread(1, 2.5, 4, 1)),
        ([5.0, 0.0, 5.0], Spread(0, 5, 5, 0)),
    ],
)
def test_the_spread_has_least_median_largest_and_who_was_slowest(
    times: list[float], spread: Spread
) -> None:
    assert spread_of(times) == spread
