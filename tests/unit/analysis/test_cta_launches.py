from __future__ import annotations

import json
from pathlib import Path

import pytest

from proton.analysis.cta_launches import CtaLaunch, Owner, cta_launches
from proton.files.detect import open_profile
from proton.model.ctas import CtaTime
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import trace_in

DATA = Path(__file__).resolve().parents[2] / "data"
STREAM, SM_0, SM_5, WARP, EVENTS = range(5)
LANES = (
    Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE),
    Lane("[0, 300000]", "GPU SM 0", LaneKind.SM),
    Lane("[0, 300005]", "GPU SM 5", LaneKind.SM),
    Lane('["mm Core5 CTA1", "warp 2 (line 0)"]', "", LaneKind.WARP),
    Lane('["mm Core5 CTA1", "warp 2 (line 1)"]', "", LaneKind.WARP),
)


def kernel(start: float, length: float) -> Span:
    return Span("mm", SpanKind.KERNEL, STREAM, start, length, ("step", "mm"))


def cta(number: int, start: float, length: float, lane: int = SM_0) -> Span:
    name = f"CTA {number}"
    return Span(name, SpanKind.CTA, lane, start, length, ("step", "mm", name))


def region(*names: str, start: float, length: float, lane: int = WARP) -> Span:
    return Span(names[-1], SpanKind.SCOPE, lane, start, length, ("step", "mm", *names))


def found(*spans: Span, lanes: tuple[Lane, ...] = LANES) -> list[CtaLaunch]:
    return cta_launches(Trace(lanes, spans))


def numbers(launches: list[CtaLaunch]) -> list[list[int]]:
    return [[one.number for one in launch.ctas] for launch in launches]


def test_ctas_are_those_of_the_launch_in_whose_time_they_ran() -> None:
    """The first CTA begins before its kernel: clocks are a little apart."""
    launches = found(
        cta(1, 310, 20), cta(0, 98, 50), cta(1, 100, 60), cta(0, 301, 20),
        kernel(300, 40), kernel(100, 70),
    )  # fmt: skip
    assert numbers(launches) == [[0, 1], [0, 1]]
    assert [(one.start_ns, one.end_ns, one.is_timed) for one in launches] == [
        (98, 170, True), (300, 340, True),
    ]  # fmt: skip


def test_without_kernels_a_number_that_comes_again_begins_a_launch() -> None:
    launches = found(cta(0, 10, 5), cta(1, 11, 5), cta(0, 30, 5), cta(2, 31, 9))
    assert numbers(launches) == [[0, 1], [0, 2]]
    assert [(one.start_ns, one.end_ns, one.is_timed) for one in launches] == [
        (10, 16, False), (30, 40, False),
    ]  # fmt: skip


def test_regions_are_with_the_cta_that_ran_them() -> None:
    launches = found(
        kernel(0, 100), kernel(200, 100), cta(0, 1, 90), cta(1, 2, 90, SM_5), cta(1, 202, 90, SM_5),
        region("loop", start=10, length=50),
        region("loop", "dot", start=20, length=10),
        region("loop", start=210, length=50),
        region("copy", start=215, length=80, lane=EVENTS),
    )  # fmt: skip
    assert numbers(launches) == [[0, 1], [1]]
    first, second = launches
    assert {at: [r.name for r in rs] for at, rs in first.regions.items()} == {1: ["loop", "dot"]}
    assert [(r.warp, r.line, r.name, r.start_ns, r.end_ns) for r in second.regions[0]] == [
        (2, 0, "loop", 210, 260),
        (2, 1, "copy", 215, 295),
    ]


def test_a_trace_with_regions_alone_has_ctas_as_long_as_they_are() -> None:
    trace = trace_in(open_profile(DATA / "triton36_inkernel_trace.chrome_trace"))
    (launch,) = cta_launches(trace)
    assert launch.path == ("add", "add")
    assert sorted(one.sm for one in launch.ctas) == [124, 126, 128, 130]
    assert not launch.is_timed
    at = next(at for at, one in enumerate(launch.ctas) if one.number == 0)
    regions = launch.regions[at]
    assert launch.ctas[at].start_ns == min(one.start_ns for one in regions)
    assert launch.ctas[at].end_ns == max(one.end_ns for one in regions)
    assert {one.warp for one in regions} == {0, 1, 2, 3}


def test_devices_and_ranks_are_told_apart() -> None:
    lanes = (
        Lane("[1, 300003]", "rank 0 GPU SM 3", LaneKind.SM),
        Lane("[2, 300003]", "rank 1 GPU SM 3", LaneKind.SM),
        Lane("[2, 310003]", "rank 1 GPU 2 SM 3", LaneKind.SM),
        Lane('["rank 1 mm GPU 2 Core3 CTA0", "warp 0 (line 0)"]', "", LaneKind.WARP),
    )
    launches = found(
        *(cta(0, 10 + lane, 5, lane) for lane in range(3)),
        region("loop", start=13, length=1, lane=3),
        lanes=lanes,
    )
    assert [one.owner for one in launches] == [Owner(0, 0), Owner(1, 0), Owner(1, 2)]
    assert [bool(one.regions) for one in launches] == [False, False, True]


def test_recorded_traces_have_their_ctas() -> None:
    trace = trace_in(open_profile(DATA / "in_kernel.chrome_trace"))
    (launch,) = cta_launches(trace)
    assert launch.ctas == [CtaTime(0, 3, 11000, 149000), CtaTime(1, 9, 12000, 150000)]
    assert (launch.start_ns, launch.end_ns) == (10000, 151900)
    assert [len(launch.regions[at]) for at in (0, 1)] == [14, 14]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("x", "GPU SM 3"),
        (json.dumps(["mm Core1 CTA1", "warp x"]), ""),
        (json.dumps(["mm Core1 CTA99999999999", "warp 1"]), ""),
        (json.dumps([0, 1]), "GPU SM 12345678901"),
        (json.dumps(["\n CoreX", "warp 1"]), "rank 1 GPU SM"),
    ],
)
def test_lanes_that_are_not_as_we_write_them_have_no_ctas(key: str, name: str) -> None:
    kinds = (LaneKind.WARP, LaneKind.SM) if name != "GPU SM 3" else (LaneKind.WARP,)
    for kind in kinds:
        lanes = (Lane(key, name, kind),)
        assert found(cta(0, 1, 2, 0), region("a", start=1, length=1, lane=0), lanes=lanes) == []


def test_a_trace_without_kernels_inside_has_no_launches() -> None:
    assert found(kernel(0, 10), lanes=LANES[:1]) == []
