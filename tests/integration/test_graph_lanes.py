"""Graph lanes of traces: a span for each replay, the captured scopes below it, both formats."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.analysis.idle_time import wall_shares
from proton.analysis.prepare import prepare
from proton.cli import main
from proton.files.detect import open_profile
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import LaneKind, Span, SpanKind
from proton.render.page.pack import Columns
from proton.render.page.trace import trace_part
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in

pytestmark = pytest.mark.usefixtures("tmp_cwd")
SUFFIXES = {"chrome_trace": "chrome_trace", "perfetto": "pftrace"}
both_formats = pytest.mark.parametrize("output_format", SUFFIXES)
BUSY_NS = 300_000_000
# Paths below `serve/<captured_at>`, starts and durations, of one replay of `capture`.
REPLAY = [
    ("", 0, 11200),
    ("model", 0, 11100),
    ("model/first", 0, 7000),
    ("model/second", 7000, 4000),
]


def capture(driver: FakeDriver, stream: int) -> int:
    """An executable graph of five kernels that take 11.2 us, in three scopes."""
    driver.calls.fake_capture_begin(stream)
    with proton.scope("model"):
        with proton.scope("first"):
            driver.launch("a", 4000, stream)
            with proton.state("labelled"):
                driver.launch("b", 3000, stream)
        with proton.scope("second"):
            driver.launch("a", 4000, stream)
        driver.launch("c", 100, stream)
    driver.launch("d", 100, stream)
    return driver.instantiate(driver.calls.fake_capture_end(stream))


@contextmanager
def busy(driver: FakeDriver, stream: int) -> Iterator[None]:
    """Work of another session in front: what is launched now follows it without gaps."""
    session = proton.start("before", backend="cupti")
    driver.launch("before", BUSY_NS, stream)
    proton.deactivate(session)
    yield
    proton.finalize(session)


def record(driver: FakeDriver, output_format: str, replays: int = 3, **options: Any) -> Profile:
    """A trace of so many replays in the scope `serve`, read back."""
    stream = driver.stream()
    with busy(driver, stream):
        session = proton.start("run", backend="cupti", data="trace", **options)
        executable = capture(driver, stream)
        with proton.scope("serve"):
            for _ in range(replays):
                driver.replay(executable, stream)
        proton.finalize(session, output_format=output_format)
    return open_profile(Path(f"run.{SUFFIXES[output_format]}"))


def spans_on(profile: Profile, kind: LaneKind) -> list[Span]:
    """The spans of all lanes of a kind, by start, the longer first."""
    assert isinstance(profile, TraceProfile)
    lanes = profile.trace.lanes
    spans = [span for span in profile.trace.spans if lanes[span.lane].kind is kind]
    return sorted(spans, key=lambda span: (span.start_ns, -span.duration_ns, len(span.path)))


def shape(spans: list[Span]) -> list[tuple[str, int, int]]:
    """Path, start after the first one's, duration."""
    first_ns = spans[0].start_ns
    return [
        ("/".join(span.path), round(span.start_ns - first_ns), round(span.duration_ns))
        for span in spans
    ]


def below(path: str) -> str:
    """A path that was captured, where `serve` replays it."""
    return "/".join(["serve", "<captured_at>", *([path] if path else [])])


@both_formats
def test_each_replay_is_a_span_with_the_captured_scopes_below_it(
    fake_driver: FakeDriver, output_format: str
) -> None:
    profile = record(fake_driver, output_format)
    spans = spans_on(profile, LaneKind.GRAPH)
    assert all(span.kind is SpanKind.SCOPE for span in spans)
    found = shape(spans)
    assert len(found) == 3 * len(REPLAY)
    for at in range(0, len(found), len(REPLAY)):
        begin_ns = at // len(REPLAY) * REPLAY[0][2]
        wanted = [(below(path), begin_ns + start, long) for path, start, long in REPLAY]
        assert found[at : at + len(REPLAY)] == wanted
    kernels = spans_on(profile, LaneKind.DEVICE)
    assert [span.name for span in kernels] == ["a", "b", "a", "c", "d"] * 3
    assert kernels[0].start_ns == spans[0].start_ns


def test_the_lane_has_the_known_id_and_name(fake_driver: FakeDriver) -> None:
    record(fake_driver, "chrome_trace", replays=1)
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    (stream,) = {event["tid"] - 200_000 for event in events if event.get("cat") == "kernel"}
    names = {
        event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    assert names[100_000 + stream] == f"Graph: Stream {stream}"
    found = [event for event in events if event["tid"] == 100_000 + stream and event["ph"] == "X"]
    assert [event["name"] for event in found] == ["<captured_at>", "model", "first", "second"]
    assert [event["cat"] for event in found] == ["scope"] * 4
    assert [list(event["args"]) for event in found] == [["call_stack"]] * 4


@both_formats
def test_arrows_still_lead_to_the_first_kernel_of_a_replay(
    fake_driver: FakeDriver, output_format: str
) -> None:
    trace = trace_in(record(fake_driver, output_format))
    targets = [trace.spans[flow.target] for flow in trace.flows]
    assert [(span.name, span.kind) for span in targets] == [("a", SpanKind.KERNEL)] * 3


@pytest.mark.parametrize(("first", "then"), [("chrome_trace", "pftrace"), ("pftrace", "json")])
def test_conversion_keeps_graph_lanes(fake_driver: FakeDriver, first: str, then: str) -> None:
    profile = record(fake_driver, {"pftrace": "perfetto"}.get(first, first))
    target = f"converted.{'chrome_trace' if then == 'json' else then}"
    assert main(["convert", f"run.{first}", target]) == 0
    converted = open_profile(Path(target))
    assert isinstance(profile, TraceProfile)
    assert isinstance(converted, TraceProfile)
    names = [lane.name for lane in profile.trace.lanes if lane.kind is LaneKind.GRAPH]
    assert [lane.name for lane in converted.trace.lanes if lane.kind is LaneKind.GRAPH] == names
    wanted = shape(spans_on(profile, LaneKind.GRAPH))
    assert shape(spans_on(converted, LaneKind.GRAPH)) == wanted


def test_busy_and_idle_times_are_those_of_the_kernels(fake_driver: FakeDriver) -> None:
    profile = record(fake_driver, "perfetto")
    assert isinstance(profile, TraceProfile)
    lanes = profile.trace.lanes
    keep = [
        (at, span)
        for at, span in enumerate(profile.trace.spans)
        if lanes[span.lane].kind is not LaneKind.GRAPH
    ]
    new = {old: at for at, (old, _) in enumerate(keep)}
    flows = [
        flow._replace(source=new[flow.source], target=new[flow.target])
        for flow in profile.trace.flows
    ]
    trace = dataclasses.replace(profile.trace, spans=[span for _, span in keep], flows=flows)
    assert wall_shares(profile.trace) == wall_shares(trace)


def test_the_page_has_the_lane_above_its_stream(fake_driver: FakeDriver) -> None:
    part = trace_part(prepare(record(fake_driver, "perfetto")), Columns())
    assert part is not None
    lanes = [lane for lane in part.lanes if lane.group != "Host"]
    assert [lane.kind for lane in lanes] == [LaneKind.GRAPH, LaneKind.DEVICE]
    assert [lane.count for lane in lanes] == [3 * len(REPLAY), 15]
    assert lanes[0].name == lanes[1].name.replace("stream", "graphs")


def test_every_stream_with_replays_has_a_graph_lane(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    executables = []
    for name in ("left", "right"):
        stream = fake_driver.stream()
        fake_driver.calls.fake_capture_begin(stream)
        with proton.scope(name):
            fake_driver.launch(name, 4000, stream)
        captured = fake_driver.calls.fake_capture_end(stream)
        executables.append((fake_driver.instantiate(captured), stream))
    for executable, stream in executables:
        fake_driver.replay(executable, stream)
    proton.finalize(session)
    profile = open_profile(Path("run.chrome_trace"))
    assert isinstance(profile, TraceProfile)
    names = {lane.name.rpartition(" ")[2] for lane in profile.trace.lanes}
    found = {
        (profile.trace.lanes[span.lane].name, span.name)
        for span in spans_on(profile, LaneKind.GRAPH)
    }
    lanes = sorted({lane for lane, _ in found})
    assert len(lanes) == 2
    assert {lane.rpartition(" ")[2] for lane in lanes} <= names
    assert {name for _, name in found} == {"<captured_at>", "left", "right"}
    assert len(found) == 4


def test_python_frames_are_not_drawn_on_graph_lanes(fake_driver: FakeDriver) -> None:
    spans = spans_on(record(fake_driver, "chrome_trace", context="python"), LaneKind.GRAPH)
    assert [(span.name, round(span.duration_ns)) for span in spans] == [
        ("<captured_at>", 11200)
    ] * 3
    assert spans[0].path[-2].endswith("@replay")


def test_a_replay_that_is_timed_as_a_whole_is_one_span(fake_driver: FakeDriver) -> None:
    spans = spans_on(record(fake_driver, "perfetto", mode="graphs=graph"), LaneKind.GRAPH)
    assert [span.kind for span in spans] == [SpanKind.GRAPH] * 3
    assert all(span.name.startswith("<graph ") for span in spans)


def test_a_trace_without_graphs_has_no_graph_lane(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    fake_driver.launch("k", 4000)
    proton.finalize(session)
    trace = trace_in(open_profile(Path("run.chrome_trace")))
    assert {lane.kind for lane in trace.lanes} == {LaneKind.HOST, LaneKind.DEVICE}
