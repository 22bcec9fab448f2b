"""Tests of speedscope's format: balanced frames, as wide as what they measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proton.errors import DataKindError
from proton.files.export.speedscope import export
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import profile_of


def widths(profile: dict[str, Any], names: list[str]) -> dict[str, float]:
    """How wide each frame is; fails where frames do not nest."""
    found: dict[str, float] = {}
    opened: list[tuple[int, float]] = []
    last = profile["startValue"]
    for event in profile["events"]:
        assert event["at"] >= last
        last = event["at"]
        if event["type"] == "O":
            opened.append((event["frame"], last))
        else:
            frame, start = opened.pop()
            assert frame == event["frame"]
            found[names[frame]] = found.get(names[frame], 0) + last - start
    assert not opened
    assert last == profile["endValue"]
    return found


def read(
    profile: TreeProfile | TraceProfile, metric: str | None = None
) -> list[tuple[str, str, dict[str, float]]]:
    document = json.loads(export(profile, metric).content)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    return [(each["name"], each["unit"], widths(each, names)) for each in document["profiles"]]


def test_a_tree_is_a_profile_a_metric() -> None:
    profile = profile_of(
        [
            (0, "ROOT", {"time (ns)": 0}),
            (1, "step", {"time (ns)": 1}),
            (2, "k", {"time (ns)": 5, "bytes": 8}),
            (2, "empty", {}),
            (1, "k", {"time (ns)": 2}),
        ]
    )
    assert read(profile) == [
        ("time", "nanoseconds", {"k": 7, "step": 6}),
        ("bytes", "bytes", {"k": 8, "step": 8}),
    ]
    assert read(profile, "bytes") == [("bytes", "bytes", {"k": 8, "step": 8})]


def test_a_trace_is_a_profile_a_lane_and_overlapping_spans_get_another() -> None:
    lanes = [Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST), Lane("x", "SM 0", LaneKind.SM)]
    spans = [
        Span("outer", SpanKind.SCOPE, 0, 0.0, 10.0),
        Span("inner", SpanKind.SCOPE, 0, 2.0, 3.0),
        Span("a", SpanKind.CTA, 1, 0.0, 4.0),
        Span("b", SpanKind.CTA, 1, 2.0, 4.0),
    ]
    profile = TraceProfile("t", trace=Trace(lanes, spans))
    assert read(profile) == [
        ("CPU Thread 0", "nanoseconds", {"outer": 10, "inner": 3}),
        ("SM 0", "nanoseconds", {"a": 4}),
        ("SM 0 (2)", "nanoseconds", {"b": 4}),
    ]
    with pytest.raises(DataKindError, match="metric 'x' can be picked of a tree only"):
        export(profile, "x")
