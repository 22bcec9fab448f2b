"""Writing Perfetto traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.errors import WriteError
from proton.files.perfetto.write import to_perfetto
from proton.files.read import read_profile
from proton.model.metric import MetricKind
from proton.model.profile import Header, TraceProfile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.perfetto import packets_of, slices_of
from tests.support.profiles import trace_in

TRACE = Trace(
    lanes=[
        Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
        Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE, 1),
        Lane('["k Core1", "warp 2"]', "k Core1 warp 2", LaneKind.WARP),
    ],
    spans=[
        Span("step", SpanKind.METRIC, 0, -50.0, 900.0, ("step",), {"n": 2, "v": (1, 2.5), "e": ()}),
        Span("k", SpanKind.SCOPE, 0, 10.0, 20.0, ("step", "k")),
        Span("k", SpanKind.KERNEL, 1, 100.0, 50.0, ("step", "k"), {"big": 2**63, "low": -3},
             {"grid": (4, 2, 1), "registers": 32, "label": "x"}),
        Span("bare", SpanKind.OTHER, 1, 120.0, 90.0),
        Span("load", SpanKind.SCOPE, 2, 130.0, 5.0, ("k", "load")),
    ],
    flows=[Flow(1, 2)],
    base_time_ns=1_700_000_000_000_000_000,
)  # fmt: skip
PROFILE = TraceProfile(
    "run.pftrace",
    trace=TRACE,
    header=Header(session="run", pid=12, command=("a", "b")),
    metric_kinds={"n": MetricKind.PROPERTY},
)


def test_a_profile_reads_back_equal() -> None:
    assert read_profile(to_perfetto(PROFILE, TRACE), "run.pftrace") == PROFILE


def test_a_trace_without_base_time_stays_without() -> None:
    trace = replace(TRACE, base_time_ns=None)
    found = trace_in(read_profile(to_perfetto(PROFILE, trace), "run.pftrace"))
    assert found == trace


def test_perfettos_own_classes_see_the_slices() -> None:
    packets = packets_of(to_perfetto(PROFILE, TRACE))
    base = TRACE.base_time_ns or 0
    assert sorted(slices_of(packets)) == sorted(
        (
            TRACE.lanes[span.lane].name.removeprefix("k Core1 "),  # warps stand below their CTA
            span.name,
            base + int(span.start_ns),
            int(span.duration_ns),
        )
        for span in TRACE.spans
    )


def test_times_beyond_64_bits_are_refused() -> None:
    trace = replace(TRACE, base_time_ns=2**62)
    with pytest.raises(WriteError, match=r"run\.pftrace: times are beyond"):
        to_perfetto(PROFILE, trace)


def test_an_empty_trace_is_written() -> None:
    empty = TraceProfile("e", trace=Trace())
    assert read_profile(to_perfetto(empty, Trace()), "e") == replace(empty, trace=Trace([], [], []))
