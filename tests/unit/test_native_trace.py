"""Trace sessions of the native core: spans, lanes and flows in the bytes that are written."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

from proton._native import Scope, Session, enter_scope, exit_scope
from tests.support.native import MakeSession, launch


def spans_of(session: Session, phase: int = 0) -> list[dict[str, Any]]:
    trace = json.loads(session.serialize("chrome_trace", phase, {}))
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_a_scope_is_a_span_with_its_id(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    with Scope("a"), Scope("b") as inner:
        scope_id = inner.id
    spans = {span["name"]: span for span in spans_of(session)}
    assert spans["b"]["args"]["call_stack"] == ["ROOT", "a", "b"]
    assert spans["b"]["args"]["scope_id"] == scope_id
    assert spans["a"]["ts"] <= spans["b"]["ts"]
    assert spans["a"]["dur"] >= spans["b"]["dur"]


def test_metrics_given_at_entry_and_exit_are_on_the_span(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    enter_scope("a", metrics={"x": 1})
    exit_scope("a", metrics={"y": 2})
    (span,) = spans_of(session)
    assert span["cat"] == "metric"
    assert set(span["args"]["metrics"]) == {"x", "y"}


def test_a_span_goes_to_the_phase_it_ends_in(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    with Scope("a"):
        session.advance_phase()
    assert spans_of(session, 0) == []
    assert [span["name"] for span in spans_of(session, 1)] == ["a"]


def test_scopes_open_at_write_time_are_written_up_to_now(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    with Scope("a"):
        assert [span["name"] for span in spans_of(session)] == ["a"]
        assert [span["name"] for span in spans_of(session)] == ["a"]
    assert len(spans_of(session)) == 1


def test_scopes_open_in_suspended_tasks_are_written(make_session: MakeSession) -> None:
    session = make_session(data="trace")

    async def wait(event: asyncio.Event) -> None:
        with Scope("waiting"):
            await event.wait()

    async def main() -> list[str]:
        event = asyncio.Event()
        task = asyncio.create_task(wait(event))
        await asyncio.sleep(0)
        names = [span["name"] for span in spans_of(session)]
        event.set()
        await task
        return names

    assert asyncio.run(main()) == ["waiting"]


def test_a_span_covers_only_the_time_the_session_was_active(make_session: MakeSession) -> None:
    session = make_session(data="trace", active=False)
    with Scope("a"):
        session.activate()
        session.deactivate()
        session.activate()
    spans = spans_of(session)
    assert [span["name"] for span in spans] == ["a", "a"]
    assert spans[0]["ts"] + spans[0]["dur"] <= spans[1]["ts"]


def test_a_launch_points_to_its_kernel(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    with Scope("a"):
        launch(session)
    trace = json.loads(session.serialize("chrome_trace", 0, {}))
    source, target = (event for event in trace["traceEvents"] if "bind_id" in event)
    assert (source["flow_out"], target["flow_in"]) == (True, True)
    assert source["bind_id"] == target["bind_id"]
    assert source["tid"] != target["tid"]


def test_every_thread_has_a_lane(make_session: MakeSession) -> None:
    session = make_session(data="trace")

    def work() -> None:
        with Scope("worker"):
            pass

    with Scope("main"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    spans = {span["name"]: span["tid"] for span in spans_of(session)}
    assert spans["main"] != spans["worker"]
