"""Tests of how the values of metrics add up."""

from __future__ import annotations

from proton.model.metric import MetricKind
from proton.model.profile import kind_of
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [
    (0, "ROOT", {"x": 0}),
    (1, "a", {"x": 1, "y": 2, "cpu_time (ns)": 3, "device_id": "0"}),
]


def test_our_files_say_how_a_metric_adds_up() -> None:
    profile = profile_of(ROWS, kinds={"y": MetricKind.PROPERTY})
    assert kind_of(profile, "y") is MetricKind.PROPERTY


def test_a_metric_our_files_do_not_list_is_inclusive() -> None:
    assert kind_of(profile_of(ROWS), "y") is MetricKind.INCLUSIVE


def test_in_foreign_files_a_metric_without_a_zero_on_the_root_is_exclusive() -> None:
    profile = profile_of(ROWS, is_ours=False)
    assert kind_of(profile, "x") is MetricKind.INCLUSIVE
    assert kind_of(profile, "y") is MetricKind.EXCLUSIVE


def test_in_foreign_files_with_a_bare_root_metrics_are_inclusive() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "a", {"x": 1})], is_ours=False)
    assert kind_of(profile, "x") is MetricKind.INCLUSIVE


def test_cpu_time_and_calls_are_exclusive_and_labels_are_properties() -> None:
    profile = profile_of(ROWS)
    assert kind_of(profile, "calls") is MetricKind.EXCLUSIVE
    assert kind_of(profile, "cpu_time (ns)") is MetricKind.EXCLUSIVE
    assert kind_of(profile, "device_id") is MetricKind.PROPERTY
