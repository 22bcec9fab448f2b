"""The parts of a timeline."""

from __future__ import annotations

from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace


def test_a_trace_is_empty_by_default() -> None:
    assert Trace() == Trace((), (), (), None)


def test_categories_of_spans_are_those_of_chrome_traces() -> None:
    assert {"scope", "kernel", "metric"} <= {kind.value for kind in SpanKind}


def test_flows_sort_by_source_then_target() -> None:
    assert sorted([Flow(2, 0), Flow(1, 9), Flow(1, 3)]) == [Flow(1, 3), Flow(1, 9), Flow(2, 0)]


def test_a_span_has_no_path_and_no_metrics_unless_given() -> None:
    span = Span("x", SpanKind.OTHER, 0, 0.0, 1.0)
    assert (span.path, dict(span.metrics)) == ((), {})


def test_a_lane_sorts_first_unless_told() -> None:
    assert Lane("k", "CPU Thread 0", LaneKind.HOST).sort == 0
