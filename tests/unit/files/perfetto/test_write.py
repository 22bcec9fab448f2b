"""Writing Perfetto traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.errors import WriteError
from proton.files.perfetto.write import to_perfetto
from proton.files.read import read_profile
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import Header, TraceProfile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.perfetto import descriptors_of, packets_of, slices_of, title
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


def warp(cta: str, name: str, sort: int = 0) -> Lane:
    return Lane(f'["{cta}", "{name}"]', f"{cta} {name}", LaneKind.WARP, sort)


def test_a_warp_stands_below_its_cta_and_that_below_its_multiprocessor() -> None:
    lanes = [
        Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
        Lane("[0, 300003]", "GPU SM 3", LaneKind.SM, 1),
        Lane("[0, 1300003]", "GPU 1 SM 3", LaneKind.SM, 2),
        warp("k Core3 CTA5", "warp 0 (line 0)", 4),
        warp("k Core3 CTA5", "warp 1 (line 0)", 5),
        warp("k GPU 1 Core3 CTA5", "warp 0 (line 0)", 6),
        warp("k Core9 CTA6", "warp 0 (line 0)", 7),
        warp("somebody's", "warp 0", 8),
        warp("k Core3 CTA9", "warp 0 (line 0)", 9),  # no span, no track
    ]
    spans = [Span("s", SpanKind.SCOPE, lane, 0.0, 1.0, ("s",)) for lane in range(len(lanes) - 1)]
    tracks = descriptors_of(packets_of(to_perfetto(PROFILE, Trace(lanes, spans))))
    below = [
        (title(tracks[track.parent_uuid]), title(track), track.sibling_order_rank)
        for track in tracks.values()
        if track.parent_uuid
    ]
    assert sorted(below, key=lambda entry: entry[2]) == [
        ("run", "GPU SM 3", 1),
        ("run", "GPU 1 SM 3", 2),
        ("GPU SM 3", "k Core3 CTA5", 4),
        ("k Core3 CTA5", "warp 0 (line 0)", 4),
        ("k Core3 CTA5", "warp 1 (line 0)", 5),
        ("GPU 1 SM 3", "k GPU 1 Core3 CTA5", 6),
        ("k GPU 1 Core3 CTA5", "warp 0 (line 0)", 6),
        ("run", "k Core9 CTA6", 7),  # the trace has no lane for its multiprocessor
        ("k Core9 CTA6", "warp 0 (line 0)", 7),
        ("run", "somebody's", 8),
        ("somebody's", "warp 0", 8),
    ]


def test_a_span_may_have_several_flows_and_a_lane_any_number_of_tracks() -> None:
    lane = Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE, -1)
    spans = [Span("k", SpanKind.KERNEL, 0, float(at), 500.0, ("k",)) for at in range(100)]
    flows = [Flow(0, 1), Flow(0, 2), Flow(1, 99), Flow(2, 99)]
    trace = Trace([lane], spans, flows, 1_700_000_000_000_000_000)
    profile = replace(PROFILE, trace=trace)
    assert read_profile(to_perfetto(profile, trace), "run.pftrace") == profile


def test_attributes_are_numbers_texts_and_lists() -> None:
    attributes: Metrics = {
        "grid": (4, 2, 1),
        "low": (-1, 2, 3),
        "pair": (1, 2.5),
        "address": 2**64 - 1,
        "occupancy": 0.5,
        "name": "",
    }
    spans = [Span("k", SpanKind.KERNEL, 0, 0.0, 1.0, ("k",), {}, attributes)]
    trace = Trace([TRACE.lanes[1]], spans, [], 5)
    assert trace_in(read_profile(to_perfetto(PROFILE, trace), "run.pftrace")) == trace


def test_times_beyond_64_bits_are_refused() -> None:
    trace = replace(TRACE, base_time_ns=2**62)
    with pytest.raises(WriteError, match=r"run\.pftrace: times are beyond"):
        to_perfetto(PROFILE, trace)


def test_an_empty_trace_is_written() -> None:
    empty = TraceProfile("e", trace=Trace())
    assert read_profile(to_perfetto(empty, Trace()), "e") == replace(empty, trace=Trace([], [], []))
