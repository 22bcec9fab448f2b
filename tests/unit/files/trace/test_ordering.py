"""Spans in the order of time."""

from __future__ import annotations

from proton.files.trace.lanes import in_order
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind

LANES = [
    Lane("b", "b", LaneKind.HOST),
    Lane("a", "a", LaneKind.HOST),
    Lane("c", "c", LaneKind.HOST),
]


def test_spans_stand_by_start_then_the_longer_first_then_by_lane() -> None:
    spans = [
        Span("late", SpanKind.SCOPE, 0, 5, 1),
        Span("short", SpanKind.SCOPE, 0, 1, 1),
        Span("b", SpanKind.SCOPE, 0, 1, 4),
        Span("a", SpanKind.SCOPE, 1, 1, 4),
    ]
    trace = in_order(LANES, spans, [Flow(2, 0), Flow(0, 3)], 7)
    assert [span.name for span in trace.spans] == ["a", "b", "short", "late"]
    assert [(lane.key) for lane in trace.lanes] == ["a", "b"]
    assert [span.lane for span in trace.spans] == [0, 1, 1, 1]
    assert trace.flows == [Flow(1, 3), Flow(3, 0)]
    assert trace.base_time_ns == 7
