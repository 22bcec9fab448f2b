"""Events of a Perfetto trace as lanes, spans and flows."""

from __future__ import annotations

from typing import Any

from proton.files.perfetto.assemble import Begun, Tables, TrackInfo, assemble
from proton.files.perfetto.events import EventFields
from proton.model.trace import Flow, Lane, LaneKind

HOME = 9 << 32
LANE = Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE, 1)
TABLES = Tables(1000, 1000, [LANE], [0, 0], [(), ("step",), ("step", "k")])


def begun(track: int, start: int, end: int, **fields: Any) -> Begun:
    values: dict[str, Any] = {
        "type": 1, "name": "k", "name_iid": None, "category": "kernel", "track": None,
        "annotations": {}, "flows": (), "ending_flows": (),
    }  # fmt: skip
    return Begun(track, start, EventFields(**(values | fields)), end)


def test_tracks_of_one_lane_are_one_lane_again() -> None:
    events = [begun(HOME + 1, 1100, 1200, name_iid=3), begun(HOME + 2, 1150, 1250, name_iid=3)]
    trace = assemble(events, {}, {HOME: TABLES}, 0)
    assert trace.lanes == [LANE]
    assert [(s.start_ns, s.duration_ns, s.path) for s in trace.spans] == [
        (100.0, 100.0, ("step", "k")),
        (150.0, 100.0, ("step", "k")),
    ]


def test_extents_are_lists_again() -> None:
    notes = {"call_stack": "step > k", "grid": "4x2x1", "registers": 8, "name": "axbxc"}
    (span,) = assemble([begun(HOME + 1, 0, 1, annotations=notes)], {}, {HOME: TABLES}, 0).spans
    assert span.attributes == {"grid": (4, 2, 1), "registers": 8, "name": "axbxc"}


def test_a_flow_goes_from_event_to_event_and_ends_where_it_says() -> None:
    events = [
        begun(1, 30, 40, ending_flows=(7,)),
        begun(2, 50, 60, flows=(7,)),  # later by its clock, but it started the other
        begun(2, 70, 80, flows=(8,)),
    ]
    assert assemble(events, {}, {}, None).flows == [Flow(1, 0)]


def test_parents_that_go_in_circles_do_not_hang() -> None:
    tracks = {1: TrackInfo(parent=2, name="a"), 2: TrackInfo(parent=1)}
    (lane,) = assemble([begun(1, 0, 1)], tracks, {}, None).lanes
    assert "a" in lane.name


def test_lanes_of_a_second_recording_have_their_process_in_the_name() -> None:
    other = 10 << 32
    events = [begun(HOME + 1, 1100, 1200), begun(other + 1, 1300, 1400)]
    trace = assemble(events, {other: TrackInfo(pid=5)}, {HOME: TABLES, other: TABLES}, 0)
    assert [lane.name for lane in trace.lanes] == ["GPU Stream 7", "5 GPU Stream 7"]
