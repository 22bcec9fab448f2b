"""Tracing graphs as a whole, on the fake driver: older graphs, launch metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native


def capture(driver: Any) -> Any:
    """An executable graph of two kernels."""
    stream = driver.calls.fake_stream_create()
    driver.calls.fake_capture_begin(stream)
    driver.launch("k", 4, stream)
    driver.launch("k", 4, stream)
    return driver.instantiate(driver.calls.fake_capture_end(stream))


def test_an_older_graph_is_recorded_by_its_nodes_and_the_profile_says_so(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    older = capture(fake_driver)
    session = proton.start("run", backend="cupti", mode="graphs=graph")
    with proton.scope("whole"):
        fake_driver.replay(capture(fake_driver))
    with proton.scope("older"):
        fake_driver.replay(older)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    counts = {path: profile.metrics(path).get("count") for path in profile.paths()}
    assert [n for path, n in counts.items() if path.startswith("whole/") and n] == [1]
    assert [n for path, n in counts.items() if path.startswith("older/") and n] == [2]
    assert any("captured before the session" in text for text in profile.header["warnings"])


def test_a_graph_from_before_a_pause_is_recorded_by_its_nodes_and_the_profile_says_so(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", mode="graphs=graph")
    graph = capture(fake_driver)
    with proton.scope("before"):
        fake_driver.replay(graph)
    proton.deactivate(session)
    proton.activate(session)
    with proton.scope("after"):
        fake_driver.replay(graph)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    counts = {path: profile.metrics(path).get("count") for path in profile.paths()}
    assert [n for path, n in counts.items() if path.startswith("before/") and n] == [1]
    assert [n for path, n in counts.items() if path.startswith("after/") and n] == [2]
    (warning,) = profile.header["warnings"]
    assert "captured before the session was active, or before it paused" in warning
    assert fake_driver.violations == []


def capture_ops(driver: Any) -> Any:
    """An executable graph of two kernels with launch metadata, as Triton's hooks bracket them."""
    stream = driver.calls.fake_stream_create()
    driver.calls.fake_capture_begin(stream)
    for name, flops in (("matmul", 5.0), ("softmax", 2.0)):
        with proton.scope("layer"):
            _native.enter_op(name, {"flops": flops, "bytes": 100, "tokens": 3, "warps (pty)": 4})
            driver.launch("raw", 4, stream)
            _native.exit_op()
    return driver.instantiate(driver.calls.fake_capture_end(stream))


def graph_metrics(profile: Any) -> dict[str, Any]:
    """The metrics of the one graph that ran."""
    found = []
    pending = [profile.root]
    while pending:
        node = pending.pop()
        pending += node["children"]
        if node["frame"]["name"].startswith("<graph "):
            found.append(node["metrics"])
    (metrics,) = found
    return dict(metrics)


@pytest.mark.parametrize("context", ["shadow", "python"])
def test_launch_metadata_is_summed_on_the_row_of_the_graph(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any, context: str
) -> None:
    options = {"backend": "cupti", "mode": "graphs=graph", "context": context}
    with_hook = proton.start("hooked", hook="triton", **options)
    without = proton.start("plain", **options)
    executable = capture_ops(fake_driver)
    for _ in range(3):
        fake_driver.replay(executable)
    proton.finalize(with_hook)
    proton.finalize(without)
    profile = profile_of("hooked.hatchet")
    own = graph_metrics(profile)
    assert (own["flops"], own["bytes"], own["tokens"], own["count"]) == (21.0, 600, 18, 3)
    assert "warps" not in own  # a property is one kernel's
    assert profile.losses == {}
    assert "flops" not in graph_metrics(profile_of("plain.hatchet"))


def test_launch_metadata_from_before_a_session_is_summed_too(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    other = proton.start("other", backend="cupti", mode="graphs=graph", hook="triton")
    executable = capture_ops(fake_driver)
    later = proton.start("later", backend="cupti", mode="graphs=graph", hook="triton")
    proton.finalize(other)
    for _ in range(2):
        fake_driver.replay(executable)
    proton.finalize(later)
    assert graph_metrics(profile_of("later.hatchet"))["flops"] == 14.0


def test_in_a_trace_the_span_of_the_graph_has_the_sum(fake_driver: Any, tmp_cwd: Path) -> None:
    proton.start("run", backend="cupti", mode="graphs=graph", hook="triton", data="trace")
    fake_driver.replay(capture_ops(fake_driver))
    proton.finalize()
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    (graph,) = [event for event in events if event["name"].startswith("<graph ")]
    assert graph["args"]["metrics"]["flops"] == 7.0


def test_a_graph_from_before_the_session_is_said_once_while_the_program_runs(
    fake_driver: Any, tmp_cwd: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older = capture(fake_driver)
    session = proton.start("run", backend="cupti")
    fake_driver.replay(older)
    for _ in range(2):
        proton.deactivate(session, flushing=True)
        proton.activate(session)
        fake_driver.replay(older)
    (said,) = [each.getMessage() for each in caplog.records if "captured while" in each.message]
    assert said.startswith("session 'run': 1 graph was captured while nothing was recorded")
    proton.finalize(session)
