from __future__ import annotations

import json
import random
import struct
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from proton import _core
from proton.analysis.prepare import prepare
from proton.files.read import read_profile
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.span_table import numbered_flows
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from proton.render.page import trace as part_module
from proton.render.page.pack import TYPES, Columns, to_json
from proton.render.page.trace import NONE, trace_part
from tests.support.profiles import tree_in

DATA = Path(__file__).resolve().parents[3] / "data"
HOST = Lane("h", "CPU Thread 0", LaneKind.HOST)
STREAM = Lane("s", "GPU Stream 7", LaneKind.DEVICE)


class Read:
    """A part with its columns, as the page reads them."""

    def __init__(self, profile: Profile) -> None:
        self.profile = prepare(profile)
        self._columns = Columns()
        part = trace_part(self.profile, self._columns)
        assert part is not None
        self.part: dict[str, Any] = json.loads(to_json(part))
        self.pieces = self._columns.pieces

    def column(self, name: str) -> list[float]:
        dtype, offset, length = self._columns.table[name]
        found = struct.unpack_from(
            f"<{length}{TYPES[str(dtype)]}", b"".join(self._columns.pieces), int(offset)
        )
        return list(found)

    def spans(self) -> list[tuple[str, str, float, float, int]]:
        """Lane, name, start, duration and row of every span."""
        look_of, deltas = self.column(self.part["look"]), self.column(self.part["delta_ns"])
        names = self.column(self.part["looks"]["name"])
        rows = self.column(self.part["looks"]["row"])
        durations = self.column(self.part["duration_ns"])
        found, at = [], 0
        for lane in self.part["lanes"]:
            time = lane["first_ns"]
            for index in range(at, at + lane["count"]):
                time += deltas[index]
                look = int(look_of[index])
                name = self.part["names"][int(names[look])]
                found.append((lane["name"], name, time, durations[index], int(rows[look])))
            at += lane["count"]
        return found

    def flows(self) -> list[tuple[float, float]]:
        columns = (self.column(self.part["flows"][end]) for end in ("source", "target"))
        return list(zip(*map(accumulate, columns), strict=True))


def span(name: str, kind: SpanKind, lane: int, start: float, duration: float) -> Span:
    return Span(name, kind, lane, start, duration, ("step", name))


def small() -> TraceProfile:
    spans = [
        span("matmul", SpanKind.KERNEL, 1, 70, 20),
        span("matmul", SpanKind.KERNEL, 1, 10, 20),
        span("launch matmul", SpanKind.SCOPE, 0, 60, 5),
        Span("step", SpanKind.SCOPE, 0, 60, 40, ("step",)),
    ]
    return TraceProfile("run", trace=Trace([HOST, STREAM], spans, [Flow(2, 0)]))


def test_spans_stand_by_lane_and_start_with_the_longer_first() -> None:
    assert [one[:4] for one in Read(small()).spans()] == [
        ("CPU Thread 0", "step", 60, 40),
        ("CPU Thread 0", "launch matmul", 60, 5),
        ("stream 7", "matmul", 10, 20),
        ("stream 7", "matmul", 70, 20),
    ]


def test_spans_name_the_rows_of_the_tree() -> None:
    read = Read(small())
    tree = tree_in(read.profile)
    assert [tree.frames[row].name for *_, row in read.spans()] == [
        "step",
        "launch matmul",
        "matmul",
        "matmul",
    ]


def test_flows_name_spans_by_their_place_in_the_page() -> None:
    assert Read(small()).flows() == [(1, 3)]


def test_correlation_ids_are_those_of_the_driver() -> None:
    trace = small().trace
    assert trace is not None
    for number, ids in ((71, [71]), (1 << 32, None)):  # larger ones are the recorder's own
        flows = numbered_flows([(2, 0, number)])
        read = Read(TraceProfile("run", trace=replace(trace, flows=flows)))
        column = read.part["flows"]["correlation"]
        assert (column and list(read.column(column))) == ids


def test_frames_of_libraries_are_known_by_their_names() -> None:
    spans = [
        Span(name, SpanKind.SCOPE, 0, 0.0, 1.0, (name,))
        for name in ("train.py:3@main", "site-packages/a.py:3@f", "torch/_ops.py(9): __call__")
    ]
    part = Read(TraceProfile("run", trace=Trace([HOST], spans))).part
    assert [part["names"][at] for at in part["library"]] == [span.name for span in spans[1:]]


def test_gaps_stand_with_cause_and_sum() -> None:
    read = Read(small())
    gaps = read.part["gaps"]
    assert read.column(gaps["duration_ns"]) == [30, 10, 30, 10]
    assert [gaps["causes"][int(cause)] for cause in read.column(gaps["cause"])] == [
        "host busy",
        "launch latency",
    ] * 2
    stream, device = gaps["rows"]
    assert (stream["lane"], stream["first_ns"], stream["sums_ns"][0]) == (1, 30, 30)
    assert (device["lane"], device["group"], device["count"]) == (None, "GPU", 2)


def test_times_below_a_nanosecond_are_kept() -> None:
    spans = [
        span("a", SpanKind.OTHER, 0, 0.25, 0.5),
        span("b", SpanKind.OTHER, 0, 1.5, 0.125),
    ]
    read = Read(TraceProfile("run", trace=Trace([HOST], spans)))
    assert [one[2:4] for one in read.spans()] == [(0.25, 0.5), (1.5, 0.125)]


def test_spans_that_lie_hours_apart_are_kept() -> None:
    spans = [span("a", SpanKind.OTHER, 0, 0, 1), span("b", SpanKind.OTHER, 0, 2e13, 1)]
    read = Read(TraceProfile("run", trace=Trace([HOST], spans)))
    assert [one[2] for one in read.spans()] == [0, 2e13]


def test_equal_arguments_stand_once_and_too_many_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(part_module, "_MAX_ARGUMENTS", 2)
    grids = [(1, 1, 1), (2, 1, 1), (1, 1, 1), (3, 1, 1)]
    spans = [
        Span("k", SpanKind.KERNEL, 0, at, 1, ("k",), attributes={"grid": grid})
        for at, grid in enumerate(grids)
    ]
    read = Read(TraceProfile("run", trace=Trace([STREAM], spans)))
    assert read.part["args"] == [{"grid": [1, 1, 1]}, {"grid": [2, 1, 1]}]
    assert read.part["args_left_out"] == 1
    assert read.column(read.part["looks"]["args"]) == [0, 1, NONE]


def test_the_timeline_is_the_same_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    spans = [
        span("k", chance.choice(tuple(SpanKind)), chance.randrange(2), chance.randrange(50), 3.0)
        for _ in range(200)
    ]
    flows = [Flow(chance.randrange(200), chance.randrange(200)) for _ in range(100)]
    profile = TraceProfile("run", trace=Trace([HOST, STREAM], spans, flows))
    found = Read(profile)
    monkeypatch.setattr(_core, "columns", lambda: None)
    assert Read(profile).part == found.part
    assert Read(profile).pieces == found.pieces


def test_a_tree_and_an_empty_trace_have_no_timeline() -> None:
    tree = prepare(small()).tree
    assert trace_part(TreeProfile("run", tree=tree), Columns()) is None
    assert trace_part(TreeProfile("run", tree=tree, trace=Trace()), Columns()) is None


TRACES = [path for path in DATA.iterdir() if path.suffix in (".chrome_trace", ".pftrace")]


@pytest.mark.parametrize("path", sorted(TRACES), ids=lambda path: path.name)
def test_every_recorded_trace_keeps_all_its_spans(path: Path) -> None:
    profile = read_profile(path.read_bytes(), str(path))
    assert isinstance(profile, TraceProfile)
    if not profile.trace.spans:
        return
    read = Read(profile)
    found = sorted((name, start, duration) for _, name, start, duration, _ in read.spans())
    expected = sorted((one.name, one.start_ns, one.duration_ns) for one in profile.trace.spans)
    assert [name for name, *_ in found] == [name for name, *_ in expected]
    times = [time for _, *pair in found for time in pair]
    assert times == pytest.approx([time for _, *pair in expected for time in pair], abs=2e-3)
    assert len(read.flows()) == len(profile.trace.flows)
