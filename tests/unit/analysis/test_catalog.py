from __future__ import annotations

from collections.abc import Callable

import pytest

from proton.analysis.measurements import (
    find_metric,
    plain_name,
    raw_metrics,
    unit_of,
    unknown_metric,
)
from proton.model.tree import Tree


def test_metrics_are_listed_in_first_seen_order_and_labels_last(
    make_tree: Callable[..., Tree],
) -> None:
    rows = [(0, "ROOT", {"b": 0}), (1, "k", {"device_id": "0", "a": 1, "b": 2})]
    assert raw_metrics(make_tree(rows)) == ["b", "a", "device_id"]


@pytest.mark.parametrize("name", ["time", "TIME", "Time (ns)", " time "])
def test_a_metric_is_found_in_any_case_and_without_its_unit(name: str) -> None:
    assert find_metric(name, ["count", "time (ns)"]) == "time (ns)"


def test_an_exact_name_wins_over_one_without_its_unit() -> None:
    assert find_metric("x", ["x (ns)", "x"]) == "x"


def test_a_name_that_is_not_there_is_not_found() -> None:
    assert find_metric("tim", ["time (ns)"]) is None


def test_the_plain_name_has_no_unit() -> None:
    assert plain_name("Load_Bytes (B)") == "load_bytes"


def test_a_kind_in_brackets_is_no_unit() -> None:
    assert unit_of("x (inc)") == ""
    assert unit_of("x (us)") == "us"


def test_the_error_for_an_unknown_metric_suggests_and_lists() -> None:
    error = unknown_metric("tiem/ms", ["time (ns)", "count"], ["time/ms"])
    assert "did you mean 'time/ms'?" in str(error)
    assert "'time', 'count'" in str(error)


def test_the_error_for_an_unknown_metric_is_a_value_and_a_runtime_error() -> None:
    error = unknown_metric("x", [], [])
    assert isinstance(error, ValueError)
    assert isinstance(error, RuntimeError)
