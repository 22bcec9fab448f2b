"""Scopes with metrics around captures, on the fake driver: steps of a program count once each."""

from __future__ import annotations

import contextvars
import json
import threading
from pathlib import Path
from typing import Any

import pytest

import proton


def capture(driver: Any) -> Any:
    """An executable graph of two kernels in a scope with a metric, captured on a side stream."""
    stream = driver.calls.fake_stream_create()
    driver.calls.fake_capture_begin(stream)
    with proton.scope("layer", metrics={"rows": 7}):
        driver.launch("k", 4, stream)
        driver.launch("k", 4, stream)
    return driver.instantiate(driver.calls.fake_capture_end(stream))


def sums_of(profile: Any, metric: str) -> dict[bool, float]:
    """Below a replay? -> the sum of a metric."""
    sums: dict[bool, float] = {}
    pending = [(child, False) for child in profile.root["children"]]
    while pending:
        node, is_below = pending.pop()
        is_replay = is_below or node["frame"]["name"] == "<captured_at>"
        pending += [(child, is_replay) for child in node["children"]]
        if metric in node["metrics"]:
            sums[is_replay] = sums.get(is_replay, 0) + node["metrics"][metric]
    return sums


@pytest.mark.parametrize("context", ["shadow", "python"])
@pytest.mark.parametrize("mode", ["graphs=node", "graphs=graph"])
@pytest.mark.parametrize("is_at_entry", [False, True])
def test_steps_that_warm_up_capture_and_replay_count_once_each(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any, context: str, mode: str, is_at_entry: bool
) -> None:
    session = proton.start("run", backend="cupti", mode=mode, context=context)
    executable = None
    for step in range(10):
        proton.enter_scope("step", metrics={"tokens": 1000} if is_at_entry else None)
        if step == 0:
            fake_driver.launch("k", 4)
        else:
            executable = executable or capture(fake_driver)
            fake_driver.replay(executable)
        proton.exit_scope("step", metrics=None if is_at_entry else {"tokens": 1000})
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert sums_of(profile, "tokens") == {False: 10000}
    assert sums_of(profile, "rows") == {True: 63}
    assert profile.losses == {}


@pytest.mark.parametrize("context", ["shadow", "python"])
@pytest.mark.parametrize("mode", ["graphs=node", "graphs=graph"])
def test_a_scope_that_holds_nothing_but_a_capture_counts_at_every_replay(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any, context: str, mode: str
) -> None:
    session = proton.start("run", backend="cupti", mode=mode, context=context)
    with proton.scope("build", metrics={"tokens": 1000}):
        executable = capture(fake_driver)
    for _ in range(4):
        fake_driver.replay(executable)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert sums_of(profile, "tokens") == {True: 4000}
    assert sums_of(profile, "rows") == {True: 28}


def test_a_scope_that_is_left_on_another_thread_counts_once(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    context = contextvars.copy_context()
    scope = proton.scope("moves", metrics={"tokens": 1000})
    executables = []

    def capture_and_leave() -> None:
        with proton.scope("other"):
            executables.append(capture(fake_driver))
        context.run(scope.__exit__, None, None, None)

    for work in (lambda: context.run(scope.__enter__)), capture_and_leave:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    fake_driver.replay(executables[0])
    proton.finalize(session)
    assert sums_of(profile_of("run.hatchet"), "tokens") == {False: 1000}


def test_a_span_around_a_capture_and_its_replays_keeps_its_metrics(
    fake_driver: Any, tmp_cwd: Path
) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    with proton.scope("run", metrics={"tokens": 1000}):
        fake_driver.launch("eager", 4)
        executable = capture(fake_driver)
        fake_driver.replay(executable)
        fake_driver.replay(executable)
    proton.finalize(session, output_format="chrome_trace")
    events = json.loads(Path("run.chrome_trace").read_text())["traceEvents"]
    given = [
        (event["cat"], event["args"]["metrics"])
        for event in events
        if "metrics" in event.get("args", {})
    ]
    assert [(kind, float(own["tokens"])) for kind, own in given if "tokens" in own] == [
        ("metric", 1000.0)
    ]
    assert [float(own["rows"]) for kind, own in given if kind == "kernel" and "rows" in own] == [
        7.0,
        7.0,
    ]
