"""`Session.add_in_kernel`: what decoded buffers become in trees and traces, read back."""

from __future__ import annotations

import json
import math
import struct
import time
from typing import Any

import pytest

from proton._native import DecodedBuffer, DeviceBuffer, Scope, Session
from proton.errors import UsageError
from proton.files.read import read_profile
from proton.files.write import to_bytes
from proton.inkernel.ir.layout import Geometry, RecordKind
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import LaneKind, SpanKind, Trace
from tests.support.device_buffer import (
    EVENT_MAP,
    OVERLAPPING_MAP,
    RECORD_MAP,
    launch,
    nested_launch,
    overlapping_launch,
    record,
    waiting_launch,
)
from tests.support.native import MakeSession, run_thread, tree_of
from tests.support.profiles import trace_in, tree_in

DEVICE: dict[str, Any] = {"kernel": "copies", "device_type": "CUDA", "device_id": 0}


def decoded(start_ns: int | None = None) -> DecodedBuffer:
    """Two warps in 64 us, on the host's clock from 1 us after `start_ns`; None: nobody knows."""
    geometry, buffer = nested_launch()
    ran = None if start_ns is None else (start_ns, start_ns + 66_000)
    return DeviceBuffer.decode(buffer, geometry, RECORD_MAP, kernel_ns=ran, spans=True)


def profile_of(session: Session, output_format: str, phase: int = 0) -> Profile:
    return read_profile(session.serialize(output_format, phase, {}), "f")


def trace_of(session: Session, output_format: str) -> Trace:
    trace = trace_in(profile_of(session, output_format))
    return trace


def test_a_tree_has_the_regions_below_the_kernel(make_session: MakeSession) -> None:
    session = make_session()
    with Scope("step"):
        session.add_in_kernel(decoded(), RECORD_MAP, **DEVICE)
    tree = tree_of(session)
    assert list(tree) == [
        "step",
        "step/copies",
        "step/copies/outer",
        "step/copies/copy",
        "step/copies/outer/n",
    ]
    assert tree["step/copies/outer"] == {
        "cycles": 6000,
        "normalized_cycles": 3000.0,
        "nanoseconds (ns)": 4000.0,
        "device_id": "0",
        "device_type": "CUDA",
    }
    assert tree["step/copies"] == {"device_id": "0", "device_type": "CUDA"}


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_totals_of_regions_add_up_in_the_reader(
    make_session: MakeSession, output_format: str
) -> None:
    session = make_session()
    for _ in range(3):
        session.add_in_kernel(decoded(), RECORD_MAP, **DEVICE)
    tree = tree_in(profile_of(session, output_format))
    kernel = tree.root.child("copies")
    assert kernel.frame.kind.name == "KERNEL"
    assert kernel.child("outer").total("cycles") == 18_000
    assert tree.root.total("cycles") == 18_000 + 34_200


def test_a_launch_belongs_to_the_context_and_phase_it_was_made_in(
    make_session: MakeSession,
) -> None:
    session = make_session()
    with Scope("early"):
        context = session.launch_context()
    session.advance_phase()
    with Scope("late"):
        run_thread(
            lambda: session.add_in_kernel(decoded(), RECORD_MAP, context=context, phase=0, **DEVICE)
        )
    assert "early/copies/outer" in tree_of(session, 0)
    assert list(tree_of(session, 1)) == ["late"]


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_a_trace_has_lanes_of_multiprocessors_and_warps_on_the_clock_of_the_launch(
    make_session: MakeSession, output_format: str
) -> None:
    session = make_session(data="trace")
    start_ns = time.monotonic_ns()
    with Scope("step"):
        session.on_kernel("copies", start_ns, start_ns + 66_000, device_type="CUDA", device_id=0)
        session.add_in_kernel(decoded(start_ns), RECORD_MAP, **DEVICE)
    trace = trace_of(session, output_format)
    lanes = {lane.name: lane.kind for lane in trace.lanes}
    assert lanes == {
        "CPU Thread 0": LaneKind.HOST,
        "GPU Stream 0": LaneKind.DEVICE,
        "GPU SM 0": LaneKind.SM,
        "GPU SM 1": LaneKind.SM,
        **{
            f"copies Core{n} CTA{n} warp 0 (line {k})": LaneKind.WARP
            for n in (0, 1)
            for k in (0, 1)
        },
    }
    by_name = {span.name: span for span in trace.spans if trace.lanes[span.lane].kind
               in (LaneKind.SM, LaneKind.WARP, LaneKind.DEVICE)}  # fmt: skip
    kernel = by_name["copies"]
    after = {
        name: (span.start_ns - kernel.start_ns, span.duration_ns)
        for name, span in by_name.items()
        if span is not kernel
    }
    assert after == {
        "CTA 0": (1_000, 64_000),
        "CTA 1": (1_000, 64_000),
        "outer": (3_000, 2_000),
        "copy": (3_200, 3_800),
        "n": (3_400, 0),
    }
    assert by_name["CTA 0"].kind is SpanKind.CTA
    assert by_name["copy"].kind is SpanKind.SCOPE
    assert by_name["n"].path == ("step", "copies", "outer", "n")
    assert by_name["n"].attributes == {
        "Frequency (MHz)": pytest.approx(1500),
        "Init Time (ns)": 0,
        "Post Final Time (ns)": 64_000,
        "value": 7,
    }


@pytest.mark.parametrize("is_converted", [False, True])
@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_an_event_that_ends_in_another_warp_has_an_arrow_to_it(
    make_session: MakeSession, output_format: str, is_converted: bool
) -> None:
    session = make_session(data="trace")
    start_ns = time.monotonic_ns()
    geometry, buffer = waiting_launch()
    ran = (start_ns, start_ns + 66_000)
    found = DeviceBuffer.decode(buffer, geometry, EVENT_MAP, kernel_ns=ran, spans=True)
    session.add_in_kernel(found, EVENT_MAP, **DEVICE)
    profile = profile_of(session, output_format)
    if is_converted:
        profile = read_profile(to_bytes(profile, "chrome_trace"), "f")
    trace = trace_in(profile)
    ((source, target),) = trace.flows
    began, ended = trace.spans[source], trace.spans[target]
    lanes = [trace.lanes[span.lane].name.partition("CTA0 ")[2] for span in (began, ended)]
    assert lanes == ["warp 0 (line 1)", "warp 1 (line 0)"]
    assert (began.name, began.duration_ns) == ("tile", 4_000)
    assert (ended.name, ended.duration_ns) == ("tile", 0)
    assert ended.start_ns == began.start_ns + began.duration_ns
    assert began.attributes["ended in"] == "warp 1"
    assert ended.attributes["began in"] == "warp 0"


def test_arrows_between_warps_are_not_those_of_launches(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    start_ns = time.monotonic_ns()
    geometry, buffer = waiting_launch()
    ran = (start_ns, start_ns + 66_000)
    found = DeviceBuffer.decode(buffer, geometry, EVENT_MAP, kernel_ns=ran, spans=True)
    session.on_kernel("copies", *ran, device_type="CUDA", device_id=0)
    session.add_in_kernel(found, EVENT_MAP, **DEVICE)
    file = json.loads(session.serialize("chrome_trace", 0, {}))
    ends: dict[object, list[str]] = {}
    for event in file["traceEvents"]:
        if "bind_id" in event:
            ends.setdefault(event["bind_id"], []).append(event["name"])
    assert sorted(map(sorted, ends.values())) == [["copies", "copies"], ["tile", "tile"]]


def _overlapping(start_ns: int | None = None) -> DecodedBuffer:
    geometry, buffer = overlapping_launch()
    ran = None if start_ns is None else (start_ns, start_ns + 66_000)
    return DeviceBuffer.decode(buffer, geometry, OVERLAPPING_MAP, kernel_ns=ran, spans=True)


def test_regions_that_overlap_are_siblings_in_a_tree(make_session: MakeSession) -> None:
    session = make_session()
    found = _overlapping()
    session.add_in_kernel(found, OVERLAPPING_MAP, **DEVICE)
    tree = tree_of(session)
    cycles = {path: row["cycles"] for path, row in tree.items() if "cycles" in row}
    assert cycles == {"copies/load": 3000, "copies/store": 3900, "copies/store/mma": 600}
    assert found.losses() == {}


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_regions_that_overlap_stand_on_lines_of_their_own_in_a_trace(
    make_session: MakeSession, output_format: str
) -> None:
    session = make_session(data="trace")
    start_ns = time.monotonic_ns()
    session.on_kernel("copies", start_ns, start_ns + 66_000, device_type="CUDA", device_id=0)
    session.add_in_kernel(_overlapping(start_ns), OVERLAPPING_MAP, **DEVICE)
    trace = trace_of(session, output_format)
    on_warps = [span for span in trace.spans if trace.lanes[span.lane].kind is LaneKind.WARP]
    first_ns = min(span.start_ns for span in on_warps)
    assert {
        span.name: (
            trace.lanes[span.lane].name[-len("(line 0)") :],
            span.start_ns - first_ns,
            span.duration_ns,
            span.path[:-1],
        )
        for span in on_warps
    } == {
        "load": ("(line 0)", 0, 2_000, ("copies",)),
        "store": ("(line 1)", 1_000, 3_000, ("copies",)),
        "mma": ("(line 0)", 1_200, 400, ("copies", "store")),
    }


@pytest.mark.parametrize(
    ("off_ns", "left_ns"),
    [(0, 0), (4_900_000, 0), (-4_900_000, 0), (5_100_000, 5_100_000), (-5_100_000, -5_100_000)],
)
def test_warps_lie_within_the_span_of_the_nearest_run_of_their_kernel_unless_that_is_far(
    make_session: MakeSession, off_ns: int, left_ns: int
) -> None:
    session = make_session(data="trace")
    start_ns = time.monotonic_ns()
    with Scope("step"):
        session.on_kernel("copies", start_ns, start_ns + 66_000, device_type="CUDA", device_id=0)
        session.add_in_kernel(decoded(start_ns + off_ns), RECORD_MAP, **DEVICE)
    spans = {span.name: span for span in trace_of(session, "chrome_trace").spans}
    cta, kernel = spans["CTA 0"], spans["copies"]
    assert (cta.start_ns - kernel.start_ns, cta.duration_ns) == (1_000 + left_ns, 64_000)


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
@pytest.mark.parametrize(
    ("bits", "shown"), [(-0.625, -0.625), (0.1, 0.1), (math.nan, "nan"), (-math.inf, "-inf")]
)
def test_floats_stand_on_spans_as_they_are(
    make_session: MakeSession, output_format: str, bits: float, shown: object
) -> None:
    geometry = Geometry(1, 1, 64)
    low, high = struct.unpack("<II", struct.pack("<d", bits))
    buffer = launch(geometry, [[record(RecordKind.VALUE, 0, 3000), (high, low)]])
    floats = {"regions": [{"name": "x", "bits": 64, "value_type": "f64"}]}
    ran = (1_000_000, 1_066_000)
    found = DeviceBuffer.decode(buffer, geometry, floats, kernel_ns=ran, spans=True)
    session = make_session(data="trace")
    session.add_in_kernel(found, floats, **DEVICE)
    (span,) = (each for each in trace_of(session, output_format).spans if each.name == "x")
    assert span.attributes["value"] == shown


def test_what_was_written_natively_converts_to_every_format(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    session.add_in_kernel(decoded(1_000_000), RECORD_MAP, **DEVICE)
    first = profile_of(session, "chrome_trace")
    for output_format in ("chrome_trace", "perfetto"):
        again = trace_in(read_profile(to_bytes(first, output_format), "f"))
        assert isinstance(first, TraceProfile)
        assert again.lanes == first.trace.lanes
        assert sorted(again.spans) == sorted(first.trace.spans)


def test_a_launch_that_is_on_no_clock_of_the_host_is_counted(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    session.add_in_kernel(decoded(), RECORD_MAP, **DEVICE)
    assert session.losses == {"unplaced_in_kernel_launch": 1}
    assert trace_of(session, "chrome_trace").spans == []


def test_places_in_the_source_stand_on_spans(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    regions = [{"name": "outer", "file": "mm.py", "line": 7}, {"name": "copy", "kind": "event"}]
    session.add_in_kernel(decoded(1_000_000), {"regions": regions}, **DEVICE)
    spans = {span.name: span for span in trace_of(session, "perfetto").spans}
    assert spans["outer"].attributes["source"] == "mm.py:7"
    assert "<region 2>" in spans  # the map names two


def test_maps_that_make_no_sense_are_refused(make_session: MakeSession) -> None:
    session = make_session()
    with pytest.raises(UsageError, match="a record map is a mapping with 'regions', not 5"):
        session.add_in_kernel(decoded(), 5, **DEVICE)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="record map: region 0 is no mapping but 'x'"):
        session.add_in_kernel(decoded(), {"regions": ["x"]}, **DEVICE)
    assert session.is_empty
