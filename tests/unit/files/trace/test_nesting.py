"""Spans as begins and ends."""

from __future__ import annotations

from proton.files.trace.nesting import Mark, nest_spans
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace

LANE = Lane("a", "a", LaneKind.DEVICE)


def trace_of(*times: tuple[float, float]) -> Trace:
    spans = [Span("k", SpanKind.KERNEL, 0, start, end - start) for start, end in times]
    return Trace([LANE], spans)


def test_spans_that_nest_share_a_track() -> None:
    (track,) = nest_spans(trace_of((20, 30), (10, 40), (40, 40)))
    assert track.is_first_of_lane
    assert track.marks == [
        Mark(10, 1),
        Mark(20, 0),
        Mark(30, None),
        Mark(40, None),
        Mark(40, 2),
        Mark(40, None),
    ]


def test_spans_that_overlap_get_another_track() -> None:
    first, second = nest_spans(trace_of((10, 30), (20, 40), (35, 50)))
    assert [mark.span for mark in first.marks] == [0, None, 2, None]
    assert second.marks == [Mark(20, 1), Mark(40, None)]
    assert not second.is_first_of_lane


def test_times_are_whole_nanoseconds() -> None:
    (track,) = nest_spans(trace_of((0.4, 2.6)))
    assert track.marks == [Mark(0, 0), Mark(2, None)]
