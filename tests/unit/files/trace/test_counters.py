"""Metrics as counters."""

from __future__ import annotations

from proton.files.trace.write import Counter, count_metrics
from proton.model.metric import MetricKind, Metrics
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace


def trace_of(*spans: tuple[float, Metrics]) -> Trace:
    lane = Lane("a", "a", LaneKind.HOST)
    return Trace([lane], [Span("s", SpanKind.METRIC, 0, 0, end, (), m) for end, m in spans])


def test_a_counter_is_the_sum_up_to_each_moment() -> None:
    trace = trace_of((30, {"n": 4}), (10, {"n": 1, "x": 0.5}), (20, {"x": 0.25}))
    assert count_metrics(trace, {}) == [
        Counter("n", [(10, 1), (30, 5)]),
        Counter("x", [(10, 0.5), (20, 0.75)]),
    ]


def test_a_metric_with_one_sample_is_no_counter() -> None:
    assert count_metrics(trace_of((10, {"n": 1, "x": 2}), (20, {"x": 3})), {}) == [
        Counter("x", [(10, 2), (20, 5)])
    ]


def test_a_property_counts_as_it_is() -> None:
    trace = trace_of((10, {"loss": 2.0}), (20, {"loss": 1.0}))
    (counter,) = count_metrics(trace, {"loss": MetricKind.PROPERTY})
    assert counter.samples == [(10, 2.0), (20, 1.0)]


def test_lists_and_labels_do_not_count() -> None:
    assert count_metrics(trace_of((10, {"v": (1, 2), "l": "a"})), {}) == []
