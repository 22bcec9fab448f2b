"""Chrome traces through the core: the same as without it, and no object for each span."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from proton.files.encoding.decode_json import decode_json
from proton.files.read import read_large_profile, read_profile
from proton.files.trace.columns import read_columns, read_large
from proton.files.trace.read import TraceFile, is_trace, read_trace
from proton.model.span_table import SpanTable

DATA = Path(__file__).parents[3] / "data"
RECORDINGS = [
    path
    for path in sorted([*DATA.rglob("*.chrome_trace"), DATA / "foreign_trace.json"])
    if is_trace(decode_json(path.read_bytes(), path.name))
]


def the_long_way(data: bytes) -> TraceFile:
    return read_trace(decode_json(data, "run.json"), "run.json")


def file_of(*events: dict[str, Any], **outside: Any) -> bytes:
    return json.dumps({**outside, "traceEvents": events}).encode()


def span(name: Any = "x", ts: Any = 1, dur: float = 2, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 0, "tid": 0, "ts": ts, "dur": dur, **more}


def steps(count: int) -> bytes:
    events = []
    for at in range(count):
        stack = ["ROOT", f"step_{at % 7}", "k"]
        args = {"call_stack": stack, "scope_id": at, "grid": [1, 2, 3]}
        events.append(span("k", at * 10, 5.125, cat="kernel", args=args, tid=200_007))
    return file_of(*events, proton={"format": 1})


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_recordings_read_the_same_with_and_without_the_core(path: Path) -> None:
    data = path.read_bytes()
    found = read_columns(data, "run.json")
    assert found is None or found == the_long_way(data)
    if path.suffix == ".chrome_trace":
        assert found is not None or b'"ph"' not in data[:65536]


@pytest.mark.parametrize(
    "data",
    [
        steps(30),
        file_of(span(dur=-3), span(ts=-5.5)),
        file_of({"ph": "i", "name": "m", "ts": 3, "dur": 9}, span("é", args={"call_stack": []})),
        file_of(span(ts=1.7e15 + 1), span(ts=1.7e15), baseTimeNanoseconds=5),
        file_of({"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "b"}},
                {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "a"}},
                {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "b"}},
                span(tid=1)),
        file_of(span(), {"ph": "C", "name": "c", "ts": 1, "args": {"value": 2}}, {"ph": "Z"}),
        file_of(span("a", 1, 9), {"ph": "s", "id": 1, "cat": "f", "ts": 1},
                span("b", 20, 9, tid=5), {"ph": "f", "id": 1, "cat": "f", "ts": 22, "tid": 5},
                {"ph": "f", "id": 2, "cat": "f", "ts": 22, "tid": 5},
                {"ph": "t", "id": 1, "cat": "g", "ts": 22, "tid": 5}),
        json.dumps([span(), span("y")], indent=1).encode(),
        file_of(span("k", args={"call_stack": ["ROOT", "a", "k"], "x": 1}),
                span("k", args={"y": 1, "call_stack": ["ROOT", "b"]}), span("k", args={}),
                span("k", args={"call_stack": None}), span("k", args=5), proton={"format": 1}),
        file_of(span("k", args={"call_stack": ["a", "k"]}), span("k", args={"call_stack": ["b"]})),
        file_of(span("k", args={"call_stack": ["a"]})).replace(b'"args"', b'"\\u0061rgs"'),
    ],
)  # fmt: skip
def test_made_up_traces_read_the_same_with_and_without_the_core(data: bytes) -> None:
    found = read_columns(data, "run.json")
    assert found is not None
    assert found == the_long_way(data)


def test_times_are_rounded_as_without_the_core() -> None:
    chance = random.Random(4)
    events = [
        span(ts=round(chance.uniform(0, 10 ** chance.randrange(1, 12)), chance.randrange(7)),
             dur=round(chance.uniform(0, 100), chance.randrange(10)))
        for _ in range(3000)
    ]  # fmt: skip
    events += [span(ts=1.0625, dur=0.0005), span(ts=0.5005, dur=2.0015)]
    data = file_of(*events)
    found = read_columns(data, "run.json")
    assert found is not None
    assert found.trace == the_long_way(data).trace


@pytest.mark.parametrize(
    "data",
    [
        file_of({"ph": "B", "name": "a", "ts": 1}, {"ph": "E", "ts": 2}),
        file_of(span(ts="soon")),
        file_of(span(ts=1e300)),
        file_of(span(name=3)),
        file_of({"ph": "s", "id": "0x1", "ts": 1}, span()),
        file_of({"ph": 3}),
        file_of(span(), baseTimeNanoseconds="x"),
        file_of(span()).replace(b'"ts": 1', b'"\\u0074s": 1'),
        file_of(span()).replace(b'"ts": 1', b'"ts": 01'),
        file_of(span()).replace(b'"ts": 1', b'"ts": 1, "ts": 2'),
        file_of(span(args={})).replace(b'"args": {}', b'"args": {}, "args": {}'),
        file_of(span(args={})).replace(b'"args": {}', b'"args": {}, "args": 5'),
        file_of(span(args={})).replace(b'"args": {}', b'"args": {}, "\\u0061rgs": {}'),
        file_of(span(args={})).replace(b"{}", b'{"call_stack": ["a"], "call_stack": ["b"]}'),
        file_of(span(args={})).replace(b"{}", b'{"call_stack": ["a"], "\\u0063all_stack": ["b"]}'),
        file_of(span(args={"call_stack": ["a"]})).replace(b'"call_', b'"\\u0063all_'),
        file_of(span(args={"call_stack": [3]})),
        file_of(span(args={"call_stack": ["a"]})).replace(b'["a"]', b'["a"}'),
        file_of(span())[:-1],
        file_of(span()).replace(b'"x"', b'"\xff"'),
        file_of(span()).replace(b'"x"', b"NaN"),
        b'[{"frame": {"name": "ROOT"}, "metrics": {"ph": 1}, "children": []}, {}]',
    ],
)
def test_what_the_core_does_not_know_is_left_to_the_long_way(data: bytes) -> None:
    assert read_columns(data, "run.json") is None


def test_spans_are_columns_and_scope_ids_tell_none_apart() -> None:
    found = read_columns(steps(30), "run.json")
    assert found is not None
    assert isinstance(found.trace.spans, SpanTable)
    assert len(found.trace.spans.looks) == 7


def test_a_span_takes_no_more_memory_than_its_columns() -> None:
    data = steps(20_000)
    read_profile(data, "run.json")  # what is made once
    tracemalloc.start()
    try:
        read_profile(data, "run.json")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / 20_000 < 150  # bytes; with an object for each they are 2500


def test_a_large_file_reads_as_a_small_one_does(tmp_path: Path) -> None:
    path = tmp_path / "run.chrome_trace"
    path.write_bytes(steps(9000))
    assert read_large(str(path), "run.json") == read_columns(path.read_bytes(), "run.json")
    large = read_large_profile(str(path), "run.json")
    assert large == read_profile(path.read_bytes(), "run.json")
    path.write_bytes(b'[{"frame": {}, "metrics": {}, "children": []}]')
    assert read_large_profile(str(path), "run.json") is None
