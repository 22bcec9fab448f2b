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


def events_of(*times: tuple[float, float]) -> list[list[tuple[str, int, int]]]:
    """What opens (the number of the span) and closes when, on each track of a lane."""
    lane = Lane("a", "a", LaneKind.DEVICE)
    spans = [
        Span(str(number), SpanKind.KERNEL, 0, start, end - start)
        for number, (start, end) in enumerate(times)
    ]
    document = json.loads(export(TraceProfile("t", trace=Trace([lane], spans))).content)
    names = [int(frame["name"]) for frame in document["shared"]["frames"]]
    return [
        [(event["type"], names[event["frame"]], event["at"]) for event in track["events"]]
        for track in document["profiles"]
    ]


def test_spans_that_nest_share_a_track() -> None:
    (track,) = events_of((20, 30), (10, 40), (40, 40))
    assert track == [
        ("O", 1, 10),
        ("O", 0, 20),
        ("C", 0, 30),
        ("C", 1, 40),
        ("O", 2, 40),
        ("C", 2, 40),
    ]


def test_spans_that_overlap_get_another_track() -> None:
    first, second = events_of((10, 30), (20, 40), (35, 50))
    assert [(kind, span) for kind, span, _ in first] == [("O", 0), ("C", 0), ("O", 2), ("C", 2)]
    assert second == [("O", 1, 20), ("C", 1, 40)]


def test_times_are_whole_nanoseconds() -> None:
    assert events_of((0.4, 2.6)) == [[("O", 0, 0), ("C", 0, 2)]]


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
