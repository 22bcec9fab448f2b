"""Passes over columns: the core and Python do the same."""

from __future__ import annotations

import random
from array import array
from itertools import pairwise
from math import inf, isnan, nan

import pytest

from proton import _core
from proton.model.columns import (
    NONE,
    add,
    group_by,
    order_by,
    put,
    subtract,
    sum_by,
    take,
    to_whole,
)


@pytest.fixture(params=["core", "python"], autouse=True)
def who(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(_core, "columns", lambda: None)


def test_values_are_taken_from_places_and_put_there() -> None:
    places = array("I", [2, 0, 2])
    for letter in "dIB":
        assert take(array(letter, [7, 8, 9]), places) == array(letter, [9, 7, 9])
    assert put(4, places, array("I", [5, 6, 7])) == array("I", [6, NONE, 7, NONE])
    times = put(3, array("I", [1]), array("d", [0.5]))
    assert (times[1], isnan(times[0]), isnan(times[2])) == (0.5, True, True)


def test_a_place_behind_the_end_is_an_error() -> None:
    with pytest.raises(IndexError):
        take(array("d", [1]), array("I", [1]))
    with pytest.raises(IndexError):
        put(1, array("I", [1]), array("I", [1]))


def test_rows_come_by_the_first_column_then_by_the_next_and_equals_stay() -> None:
    chance = random.Random(5)
    for size in (0, 1, 2, 500):
        columns = (
            array("I", [chance.randrange(4) for _ in range(size)]),
            array("d", [chance.choice((-1.5, -0.0, 0.0, 2.25, 1e18)) for _ in range(size)]),
            array("d", [-float(chance.randrange(3)) for _ in range(size)]),
        )
        rows = list(zip(*columns, strict=True))
        assert list(order_by(*columns)) == sorted(range(size), key=rows.__getitem__)
        assert list(order_by(columns[1])) == sorted(range(size), key=columns[1].__getitem__)


def test_equal_rows_are_grouped_in_the_order_of_the_first() -> None:
    numbers, times = array("I", [7, 2, 7, 7, 2]), array("d", [1, 5, 1, 2, 5])
    places, bounds = group_by(numbers, times)
    assert [list(places[a:b]) for a, b in pairwise(bounds)] == [[0, 2], [1, 4], [3]]
    assert group_by(array("I")) == (array("I"), array("I", [0]))


def test_times_are_added_subtracted_and_summed_by_kind() -> None:
    a, b = array("d", [1, 2.5, -4]), array("d", [0.5, 0.25, 3])
    assert add(a, b) == array("d", [1.5, 2.75, -1])
    assert subtract(a, b) == array("d", [0.5, 2.25, -7])
    assert list(sum_by(a, array("B", [2, 0, 2]), 3)) == [2.5, 0, -3]


@pytest.mark.parametrize("times", [[], [0, 7, 2**32 - 1], [0.9995, 1.0004, -0.0004]])
def test_times_that_are_nearly_whole_become_whole(times: list[float]) -> None:
    assert to_whole(array("d", times)) == array("I", map(round, times))


@pytest.mark.parametrize("time", [0.5, 0.002, -1, 2**32, 1e300, inf, -inf, nan])
def test_times_that_are_not_whole_or_do_not_fit_stay(time: float) -> None:
    assert to_whole(array("d", [3, time])) is None
