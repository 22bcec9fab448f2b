"""Tests of profiles as tables."""

from __future__ import annotations

from dataclasses import replace

from proton.files.export.table import columns_of
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import KernelDetail
from tests.support.profiles import Row, profile_of


def test_a_tree_has_a_row_a_context_with_its_own_values_and_totals() -> None:
    profile = profile_of(
        [(0, "ROOT", {}), (1, "step", {"name": 3}), (2, "k", {"time (ns)": 5, "device_id": "0"})]
    )
    assert isinstance(profile, TreeProfile)
    detail = KernelDetail(1, 4, attributes={"grid": (2, 1, 1)})
    columns = columns_of(replace(profile, tree=replace(profile.tree, details={2: detail})))
    assert columns["row"] == [0, 1, 2]
    assert columns["parent"] == [None, 0, 1]
    assert columns["path"] == ["", "step", "step / k"]
    assert columns["name"] == ["ROOT", "step", "k"]
    assert columns["name_"] == [None, 3, None]
    assert columns["time (ns)"] == [None, None, 5]
    assert columns["total time (ns)"] == [5, 5, 5]
    assert columns["device_id"] == [None, None, "0"]
    assert columns["max_ns"] == [None, None, 4]
    assert columns["grid"] == [None, None, (2, 1, 1)]
    assert "total device_id" not in columns


def test_a_trace_has_a_row_a_span() -> None:
    span = Span("k", SpanKind.KERNEL, 0, 3.0, 2.0, ("step", "k"), {"bytes": 8}, {"registers": 32})
    trace = Trace([Lane("x", "GPU Stream 7", LaneKind.DEVICE)], [span], base_time_ns=100)
    assert {
        name: cells[0] for name, cells in columns_of(TraceProfile("t", trace=trace)).items()
    } == {
        "start_ns": 3.0,
        "duration_ns": 2.0,
        "kind": "kernel",
        "name": "k",
        "path": "step / k",
        "lane": "GPU Stream 7",
        "lane_kind": "device",
        "unix_ns": 103,
        "bytes": 8,
        "registers": 32,
    }


def test_paths_of_deep_recursion_are_cut() -> None:
    rows: list[Row] = [(depth, f"f{depth}", {}) for depth in range(200)]
    path = columns_of(profile_of(rows))["path"][-1]
    assert isinstance(path, str)
    assert path.startswith("... / f136 / f137")
