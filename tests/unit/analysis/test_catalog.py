from __future__ import annotations

from collections.abc import Callable

import pytest

from proton.analysis.catalog import (
    find_metric,
    kind_of,
    plain_name,
    raw_metrics,
    unit_of,
    unknown_metric,
)
from proton.model.metric import MetricKind
from proton.model.profile import Profile
from proton.model.tree import Tree

MakeProfile = Callable[..., Profile]
ROWS = [(0, "ROOT", {"x": 0}), (1, "a", {"x": 1, "y": 2, "cpu_time (ns)": 3, "device_id": "0"})]


def test_metrics_are_listed_in_first_seen_order_and_labels_last(
    make_tree: Callable[..., Tree],
) -> None:
    rows = [(0, "ROOT", {"b": 0}), (1, "k", {"device_id": "0", "a": 1, "b": 2})]
    assert raw_metrics(make_tree(rows)) == ["b", "a", "device_id"]


def test_our_files_say_how_a_metric_adds_up(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS, kinds={"y": MetricKind.PROPERTY})
    assert kind_of(profile, "y") is MetricKind.PROPERTY


def test_a_metric_our_files_do_not_list_is_inclusive(make_profile: MakeProfile) -> None:
    assert kind_of(make_profile(ROWS), "y") is MetricKind.INCLUSIVE


def test_in_foreign_files_a_metric_without_a_zero_on_the_root_is_exclusive(
    make_profile: MakeProfile,
) -> None:
    profile = make_profile(ROWS, is_ours=False)
    assert kind_of(profile, "x") is MetricKind.INCLUSIVE
    assert kind_of(profile, "y") is MetricKind.EXCLUSIVE


def test_in_foreign_files_with_a_bare_root_metrics_are_inclusive(
    make_profile: MakeProfile,
) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"x": 1})], is_ours=False)
    assert kind_of(profile, "x") is MetricKind.INCLUSIVE


def test_cpu_time_is_exclusive_and_labels_are_properties(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS)
    assert kind_of(profile, "cpu_time (ns)") is MetricKind.EXCLUSIVE
    assert kind_of(profile, "device_id") is MetricKind.PROPERTY


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
