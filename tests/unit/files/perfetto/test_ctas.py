from __future__ import annotations

from proton.files.perfetto.ctas import CtaTrack, CtaTracks
from proton.model.trace import Lane, LaneKind

PROCESS = 100


def warp(cta: str, name: str, sort: int = 0) -> Lane:
    return Lane(f'["{cta}", "{name}"]', f"{cta} {name}", LaneKind.WARP, sort)


LANES = [
    Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
    Lane("[0, 300003]", "GPU SM 3", LaneKind.SM),
    Lane("[0, 1300003]", "GPU 1 SM 3", LaneKind.SM),
    warp("k Core3 CTA5", "warp 0 (line 0)", 4),
    warp("k Core3 CTA5", "warp 1 (line 0)", 5),
    warp("k GPU 1 Core3 CTA5", "warp 0 (line 0)", 6),
    warp("k Core9 CTA6", "warp 0 (line 0)", 7),
    warp("somebody's", "warp 0", 8),
]
TRACKS = CtaTracks(LANES, {lane: lane + 1 for lane in range(len(LANES))}, PROCESS, 50)


def test_a_cta_stands_below_its_multiprocessor_of_its_device() -> None:
    assert TRACKS.all == [
        CtaTrack(50, 2, "k Core3 CTA5", 4),
        CtaTrack(51, 3, "k GPU 1 Core3 CTA5", 6),
        CtaTrack(52, PROCESS, "k Core9 CTA6", 7),  # the trace has no lane for it
        CtaTrack(53, PROCESS, "somebody's", 8),
    ]


def test_warps_stand_below_their_cta_and_other_lanes_where_they_were() -> None:
    assert TRACKS.place(4, (0, "")) == (50, "warp 1 (line 0)")
    assert TRACKS.place(5, (0, "")) == (51, "warp 0 (line 0)")
    assert TRACKS.place(0, (7, "CPU Thread 0")) == (7, "CPU Thread 0")


def test_lanes_without_spans_need_no_track() -> None:
    assert CtaTracks(LANES, {}, PROCESS, 50).all == []
