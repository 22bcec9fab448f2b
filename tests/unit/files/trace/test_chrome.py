"""Chrome traces, both ways."""

from __future__ import annotations

import json
import tracemalloc
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.read import read_profile
from proton.files.trace.read import is_trace, read_trace
from proton.files.trace.write import to_chrome
from proton.model.profile import TraceProfile
from proton.model.span_table import span_table
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import trace_in

DATA = Path(__file__).parents[3] / "data"


def trace_of(*events: dict[str, Any], **top: Any) -> Trace:
    return read_trace({"traceEvents": list(events)} | top, "f")[0]


def recording(name: str) -> Trace:
    trace = trace_in(read_profile((DATA / name).read_bytes(), name))
    return trace


@pytest.mark.parametrize(
    ("value", "expected"),
    [({"traceEvents": []}, True), ([{"ph": "X"}], True), ([{"frame": {}}], False), ({}, False)],
)
def test_a_trace_is_told_by_its_events(value: Any, expected: bool) -> None:
    assert is_trace(value) is expected


def test_gpu_activity_has_lanes_paths_metrics_and_flows() -> None:
    trace = recording("activity.chrome_trace")
    assert [(lane.name, lane.kind) for lane in trace.lanes] == [
        ("CPU Thread 0", LaneKind.HOST),
        ("GPU Stream 7", LaneKind.DEVICE),
        ("Graph: Stream 7", LaneKind.GRAPH),
    ]
    load, copy = trace.spans[1:3]
    assert (load.name, load.kind, load.metrics) == (
        "load",
        SpanKind.METRIC,
        {"elements": 1024, "ratio": 0.5},
    )
    assert copy == Span(
        "copy", SpanKind.KERNEL, 1, 31_007.0, 4_128.0, ("step", "load", "copy"), {"bytes": 4096}
    )
    assert trace.flows == [Flow(1, 2), Flow(3, 5)]
    assert trace.base_time_ns == 1_763_000_000_000_000_000


def test_kernels_of_triton_36_lie_on_their_stream() -> None:
    trace = recording("triton36_trace.chrome_trace")
    assert trace.lanes == [Lane("[0, 7]", "GPU Stream 7", LaneKind.DEVICE)]
    assert trace.spans[0].path == ("step", "matmul_256", "matmul_256x256x256")


def test_scopes_inside_kernels_lie_on_warps_below_the_kernel() -> None:
    trace = recording("triton36_inkernel_trace.chrome_trace")
    assert {lane.kind for lane in trace.lanes} == {LaneKind.WARP}
    assert trace.spans[0] == Span("load", SpanKind.SCOPE, 0, 7.0, 870.0, ("add", "add", "load"))


def test_foreign_traces_give_what_they_have_and_say_what_is_left_out() -> None:
    profile = read_profile((DATA / "foreign_trace.json").read_bytes(), "f")
    trace = trace_in(profile)
    assert [(span.name, span.start_ns, span.duration_ns) for span in trace.spans] == [
        ("load", 10_500.0, 9_750.0),
        ("mm", 30_000.0, 5_125.0),
        ("sgemm", 40_000.0, 2_000.0),
        ("fetch", 1_000.0, 8_000.0),
        ("mark", 50_000.0, 0.0),
        ("main", 0.0, 60_000.0),
    ]
    assert trace.base_time_ns == 1_763_000_000_000_000_000
    assert profile.warnings == (
        "1 events not read: end without a begin",
        "1 events not read: phase 'C'",
    )


def test_begins_without_ends_are_counted() -> None:
    _, _, warnings = read_trace({"traceEvents": [{"ph": "B", "ts": 1, "name": "a"}]}, "f")
    assert warnings == ("1 events not read: begin without an end",)


def test_a_negative_duration_counts_as_none() -> None:
    trace, _, warnings = read_trace({"traceEvents": [{"ph": "X", "ts": 1, "dur": -2}]}, "f")
    assert trace.spans[0].duration_ns == 0
    assert warnings == ("1 events not read: negative duration",)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (7, "must be an object, not 7"),
        ({}, "has a phase that is not text but None"),
        ({"ph": "X"}, "has a ts that is not a time in microseconds but None"),
        ({"ph": "X", "ts": 0, "name": 5}, "has a name that is not text but 5"),
        ({"ph": "X", "ts": 0, "args": {"call_stack": "a"}}, "has a call_stack that is not a list"),
        ({"ph": "X", "ts": 0, "tid": None}, "has a tid that is neither integer nor text but None"),
    ],
)
def test_a_bad_event_is_named_by_its_number(event: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        trace_of({"ph": "M"}, event)
    assert str(caught.value).startswith(f"f: event 1 {message}")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"traceEvents": {}}, "f: traceEvents must be a list, not an object"),
        (
            {"traceEvents": [], "baseTimeNanoseconds": "now"},
            "f: baseTimeNanoseconds must be an integer, not 'now'",
        ),
        (
            {"traceEvents": [{"ph": "i", "ts": 9e15}], "baseTimeNanoseconds": 2**64 - 1},
            "f: times are beyond what 64 bits of nanoseconds hold",
        ),
    ],
)
def test_a_bad_frame_of_the_file_is_refused(value: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_trace(value, "f")
    assert str(caught.value) == message


@pytest.mark.parametrize("time_us", [0.0005, 123.456, 1 / 3, 1e6 + 1 / 3, 123456789012.345])
def test_times_are_the_same_after_writing_and_reading(time_us: float) -> None:
    trace = trace_of({"ph": "X", "ts": time_us, "dur": time_us})
    assert read_trace(json.loads(to_chrome(TraceProfile("f", trace=trace), trace)), "f")[0] == trace


def test_times_that_json_cannot_hold_are_not_written() -> None:
    for span in (Span("a", SpanKind.SCOPE, 0, inf, 1), Span("a", SpanKind.SCOPE, 0, 0, nan)):
        trace = Trace([Lane("host", "main", LaneKind.HOST)], [span])
        with pytest.raises(ValueError, match="span 0 has a time that JSON cannot hold"):
            to_chrome(TraceProfile("f", trace=trace), trace)


def test_writing_takes_little_more_memory_than_the_file() -> None:
    stream = Lane("gpu", "GPU Stream 1", LaneKind.DEVICE)
    spans = [Span("k", SpanKind.KERNEL, 0, at * 10.0, 5.0, ("step", "k")) for at in range(20_000)]
    trace = Trace([stream], span_table(spans))
    to_chrome(TraceProfile("f", trace=trace), trace)  # what is made once
    tracemalloc.start()
    try:
        written = to_chrome(TraceProfile("f", trace=trace), trace)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(written)  # with an object for each event it is tenfold


def test_a_trace_put_together_by_hand_is_written_with_rows_of_its_own() -> None:
    lanes = [Lane("host", "main", LaneKind.HOST), Lane("gpu", "GPU Stream 1", LaneKind.DEVICE, 3)]
    spans = [
        Span("a", SpanKind.METRIC, 0, 0.0, 9.0, ("a",), {"x": 1.5, "y": (1, 2), "z": "label"}),
        Span("k", SpanKind.KERNEL, 1, 4.0, 2.0, ("a", "k"), {"bytes": 8}),
    ]
    trace = Trace(lanes, spans, [Flow(0, 1)])
    written = json.loads(to_chrome(TraceProfile("f", trace=trace), trace))
    names = [event["name"] for event in written["traceEvents"] if event["ph"] == "X"]
    assert names == ["a: <x, 1.500000>, <y, (1, 2)>, <z, label>", "k"]
    again, *_ = read_trace(written, "f")
    assert (again.spans, again.flows) == (spans, [Flow(0, 1)])
    assert [lane[1:] for lane in again.lanes] == [lane[1:] for lane in lanes]


@pytest.mark.parametrize("name", ["<metric>", "tensor_metric_kernel"])
def test_a_kernel_that_only_read_a_metric_is_no_work(name: str) -> None:
    stack = ["ROOT", "replay", "<captured_at>", "layer", "__proton_launch_metadata", name]
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 200007, "ts": 1, "dur": 2}
    (read,) = trace_of({**event, "args": {"call_stack": stack}}).spans
    (other,) = trace_of({**event, "args": {"call_stack": ["ROOT", name]}}).spans
    assert read.kind is (SpanKind.METRIC if name == "<metric>" else SpanKind.KERNEL)
    assert other.kind is SpanKind.KERNEL
    written = Trace([Lane("a", "GPU Stream 7", LaneKind.DEVICE)], [read])
    content = to_chrome(TraceProfile("f", trace=written), written)
    assert list(trace_in(read_profile(content, "f")).spans) == [read]
    assert [event["name"] for event in json.loads(content)["traceEvents"] if "dur" in event] == [
        name
    ]
