"""Journals as profiles: one chunk of a tree, many of a trace, warnings that say what it is."""

from __future__ import annotations

import time

import pytest

from proton import _native
from proton.errors import FormatError
from proton.files.journal.format import DATA, MAGIC, facts_of_process, pack_chunk, pack_facts
from proton.files.journal.read import join_traces, time_text
from proton.files.read import read_profile
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.native import DEVICE, MakeSession, launch
from tests.support.profiles import trace_in

DEAD = {"pid": 4_000_000, "host": "somewhere", "data": "tree"}
HEADER = {
    "format": 1,
    "pid": 4_000_000,
    "start_time_ns": 0,
    "end_time_ns": 1_700_000_000_123_456_789,
}


def test_a_tree_is_read_with_a_warning(make_session: MakeSession) -> None:
    session = make_session()
    launch(session, "k")
    content = session.serialize("hatchet_msgpack", 0, HEADER)
    profile = read_profile(pack_facts(DEAD) + pack_chunk(DATA, content), "run.partial")
    assert isinstance(profile, TreeProfile)
    assert profile.tree.root.total("count") == 1
    assert profile.warnings == (
        "recovered: process 4000000 was killed; data up to 2023-11-14 22:13:20.123 UTC",
    )


def test_a_journal_of_a_live_process_says_so(make_session: MakeSession) -> None:
    session = make_session()
    launch(session, "k")
    content = session.serialize("hatchet_msgpack", 0, HEADER)
    profile = read_profile(
        pack_facts(facts_of_process()) + pack_chunk(DATA, content), "run.partial"
    )
    assert "is still running" in profile.warnings[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (MAGIC[:5], "torn in its first chunk"),
        (MAGIC, "torn in its first chunk"),
        (pack_facts(DEAD)[:-3], "torn in its first chunk"),
        (pack_facts(DEAD), "process 4000000 had not recorded anything yet"),
        (pack_facts(DEAD) + pack_chunk(DATA, b"x" * 99)[:50], "torn in its first chunk of data"),
    ],
)
def test_nothing_to_recover_is_one_clear_line(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=f"^run.partial: nothing to recover: .*{reason}"):
        read_profile(data, "run.partial")


def test_chunks_of_a_trace_become_what_one_file_would_have(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    cursor = _native.TraceCursor()
    data = pack_facts({**DEAD, "data": "trace"})
    scope = _native.Scope("outer")
    scope.__enter__()
    for step in range(5):
        for n in range(7):
            with _native.Scope(f"s{n}", {"x": n}):
                now = time.monotonic_ns()
                session.on_kernel(f"k{step}", now, now + 5, **DEVICE)
        is_at_end = False
        while not is_at_end:
            chunk, is_at_end = session.serialize_new(0, HEADER, cursor, limit=3)
            data += pack_chunk(DATA, chunk)
    scope.__exit__()
    chunk, _ = session.serialize_new(0, HEADER, cursor, limit=100)
    joined = trace_in(read_profile(data + pack_chunk(DATA, chunk), "run.partial"))
    whole = trace_in(read_profile(session.serialize("perfetto", 0, HEADER), "run.pftrace"))
    assert joined.lanes == whole.lanes
    assert joined.spans == whole.spans
    assert joined.flows == whole.flows


def test_a_torn_trace_has_the_spans_of_its_whole_chunks(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    cursor = _native.TraceCursor()
    data = pack_facts({**DEAD, "data": "trace"})
    for n in range(3):
        with _native.Scope(f"s{n}"):
            pass
        chunk, _ = session.serialize_new(0, HEADER, cursor, limit=100)
        data += pack_chunk(DATA, chunk)
    profile = read_profile(data[:-10], "run.partial")
    assert isinstance(profile, TraceProfile)
    assert [span.name for span in profile.trace.spans] == ["s0", "s1"]
    assert "the journal is damaged after" in profile.warnings[-1]


def test_a_launch_that_stands_in_two_chunks_is_one() -> None:
    host, device = Lane("h", "host", LaneKind.HOST), Lane("d", "device", LaneKind.DEVICE)
    start = Span("launch", SpanKind.OTHER, 0, 5.0, 2.0, ("launch",))
    kernel = Span("k", SpanKind.KERNEL, 1, 9.0, 2.0, ("k",))
    joined = join_traces(
        [
            Trace([host], [start], [], 100),
            Trace(
                [device, host], [start._replace(lane=1), kernel._replace(lane=0)], [Flow(0, 1)], 100
            ),
        ]
    )
    assert [span.name for span in joined.spans] == ["launch", "k"]
    assert joined.flows == [Flow(0, 1)]


def test_equal_spans_of_a_device_stay_two() -> None:
    lane = Lane("d", "device", LaneKind.DEVICE)
    span = Span("k", SpanKind.KERNEL, 0, 9.0, 2.0, ("k",))
    joined = join_traces([Trace([lane], [span], [], 100)] * 2)
    assert len(joined.spans) == 2


def test_a_time_that_is_not_known_is_said() -> None:
    assert time_text(None) == "an unknown time"
