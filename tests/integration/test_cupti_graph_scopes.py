"""Scopes with metrics around captures, on the fake driver: steps of a program count once each."""

from __future__ import annotations

import json
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
    sums = {"tokens": 0, "rows": 0}
    pending = [(child, False) for child in profile.root["children"]]
    while pending:
        node, is_below = pending.pop()
        is_replay = is_below or node["frame"]["name"] == "<captured_at>"
        pending += [(child, is_replay) for child in node["children"]]
        for name in sums.keys() & node["metrics"].keys():
            sums[name] += node["metrics"][name]
            assert is_replay == (name == "rows"), node["frame"]
    assert sums == {"tokens": 10000, "rows": 63}
    assert profile.losses == {}


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
