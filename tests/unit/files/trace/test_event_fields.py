"""Fields of chrome events."""

from __future__ import annotations

from typing import Any

import pytest

from proton.files.trace.events import (
    EventError,
    metrics_of,
    pair_key,
    plain_of,
    row_of,
    time_of,
)
from proton.files.trace.lanes import Row


def test_a_row_is_process_and_thread_by_number_or_text() -> None:
    assert row_of({"pid": 1, "tid": "warp 0"}) == Row(1, "warp 0")
    assert row_of({}) == Row(0, 0)


@pytest.mark.parametrize("value", [None, 1.5, [], True, 2**70, "\ud800"])
def test_ids_are_integers_or_texts(value: object) -> None:
    with pytest.raises(EventError, match="has a tid that is neither integer nor text but"):
        row_of({"tid": value})


@pytest.mark.parametrize("value", [None, "1", 1e17, -1e17, 2**80, True, float("nan")])
def test_a_time_is_a_number_within_300_years(value: object) -> None:
    with pytest.raises(EventError, match="has a ts that is not a time in microseconds"):
        time_of({"ts": value}, "ts")


def test_a_time_may_have_a_default() -> None:
    assert time_of({}, "dur", 0) == 0


@pytest.mark.parametrize(
    ("found", "metrics"),
    [
        ({"x": 1, "y": 2.5}, {"x": 1, "y": 2.5}),
        ({"x": "1024", "y": "0.500000"}, {"x": 1024, "y": 0.5}),
        ({"x": "[1,2]", "y": [1, 2.5]}, {"x": (1, 2), "y": (1, 2.5)}),
        ({"device_id": "0"}, {"device_id": "0"}),
        ({"x": "fast", "y": "nan", "z": '"7"'}, {"x": "fast", "y": "nan", "z": '"7"'}),
        ({}, {}),
        (None, {}),
    ],
)
def test_metrics_are_numbers_also_where_they_stand_as_text(
    found: Any, metrics: dict[str, object]
) -> None:
    assert metrics_of({"metrics": found}) == metrics


@pytest.mark.parametrize("found", [[], 7, {"x": None}, {"x": [None]}, {"x": "[[]]"}, {"": 1}])
def test_metrics_that_are_none_are_refused(found: Any) -> None:
    with pytest.raises(EventError, match=r"has (a )?metric"):
        metrics_of({"metrics": found})


def test_begin_and_end_pair_by_row_and_async_ones_by_id() -> None:
    assert pair_key({"ph": "B", "tid": 1, "name": "a"}) == pair_key({"ph": "E", "tid": 1})
    begin = {"ph": "b", "id": "0x1", "cat": "net", "name": "a", "tid": 1}
    assert pair_key(begin) == pair_key(begin | {"ph": "e", "tid": 2})
    assert pair_key(begin) != pair_key(begin | {"id": "0x2"})


def test_an_odd_field_counts_as_missing() -> None:
    assert plain_of({"id": [1]}, "id") is None
