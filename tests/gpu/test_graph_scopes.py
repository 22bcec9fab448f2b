"""Scopes with metrics around captures on a real GPU: steps count once, pure captures per replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.gpu.raw_graphs import RawGraphs

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

CAPTURED = "<captured_at>"


@pytest.fixture
def steps(torch: Any, add: Any) -> Callable[[], None]:
    """Ten steps with metrics: the first captures a graph with torch, and all replay it."""

    def run() -> None:
        graph = torch.cuda.CUDAGraph()
        for step in range(10):
            with proton.scope("step", metrics={"tokens": 1000}):
                if step == 0:
                    with torch.cuda.graph(graph), proton.scope("layer", metrics={"rows": 3}):
                        add()
                graph.replay()

    return run


def sums_of(root: dict[str, Any], metric: str) -> dict[tuple[bool, str], float]:
    """(below a replay?, innermost frame) -> all values of a metric."""
    found: dict[tuple[bool, str], float] = {}
    pending = [(root, False)]
    while pending:
        node, is_below = pending.pop()
        name = node["frame"]["name"]
        is_replay = is_below or name == CAPTURED
        pending += [(child, is_replay) for child in node["children"]]
        if value := node["metrics"].get(metric):
            found[is_replay, name] = found.get((is_replay, name), 0) + value
    return found


@pytest.mark.parametrize("mode", ["graphs=node", "graphs=graph"])
def test_a_step_that_also_captures_counts_once(record: Any, steps: Any, mode: str) -> None:
    root = record(steps, mode=mode).file.root
    assert sums_of(root, "tokens") == {(False, "step"): 10000}
    assert sums_of(root, "rows") == {(True, "layer"): 30}


def test_with_python_frames_too(record: Any, steps: Any) -> None:
    root = record(steps, context="python").file.root
    tokens, rows = sums_of(root, "tokens"), sums_of(root, "rows")
    assert sum(tokens.values()) == 10000, tokens
    assert sum(rows.values()) == 30, rows
    assert {is_replay for is_replay, _ in tokens} == {False}, tokens
    assert {is_replay for is_replay, _ in rows} == {True}, rows


def test_in_a_trace_every_step_keeps_its_metrics(steps: Any, torch: Any, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "run"), backend="cupti", data="trace")
    try:
        steps()
    finally:
        proton.finalize(session, output_format="chrome_trace")
    events = json.loads((tmp_path / "run.chrome_trace").read_text())["traceEvents"]
    given = [
        (event["cat"], float(event["args"]["metrics"]["tokens"]))
        for event in events
        if "tokens" in event.get("args", {}).get("metrics", {})
    ]
    assert given == [("metric", 1000.0)] * 10


@pytest.mark.parametrize("mode", ["graphs=node", "graphs=graph"])
@pytest.mark.parametrize("is_at_entry", [False, True])
def test_a_scope_that_holds_nothing_but_a_capture_counts_at_every_replay(
    record: Any, torch: Any, add: Any, mode: str, is_at_entry: bool
) -> None:
    raw = RawGraphs(torch)  # torch's own captures set seeds

    def build(name: str, work: Callable[[], object]) -> Any:
        proton.enter_scope(name, metrics={"tokens": 5} if is_at_entry else None)
        work()
        executable = raw.instantiate(raw.capture(add))
        proton.exit_scope(name, metrics=None if is_at_entry else {"tokens": 5})
        return executable

    def work() -> None:
        add()
        pure, mixed = build("pure", lambda: None), build("mixed", add)
        raw.replay(pure, 4)
        raw.replay(mixed, 7)

    root = record(work, mode=mode).file.root
    assert sums_of(root, "tokens") == {(True, "pure"): 20, (False, "mixed"): 5}


def test_a_scope_around_a_capture_of_torch_counts_once(record: Any, torch: Any, add: Any) -> None:
    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with proton.scope("build", metrics={"tokens": 5}), torch.cuda.graph(graph):
            add()
        for _ in range(4):
            graph.replay()

    assert sums_of(record(work).file.root, "tokens") == {(False, "build"): 5}


@pytest.mark.parametrize("context", ["shadow", "python"])
def test_steps_of_a_compiled_program_count_once_each(record: Any, torch: Any, context: str) -> None:
    """It warms up, captures and replays, forward and backward, within the steps of a loop."""
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).cuda()
    compiled = torch.compile(model, mode="reduce-overhead")
    x = torch.ones(8, 64, device="cuda")

    def work() -> None:
        for _ in range(8):
            torch.compiler.cudagraph_mark_step_begin()
            with proton.scope("step", metrics={"tokens": 1000}):
                with proton.scope("forward", metrics={"rows": 8}):
                    loss = compiled(x).sum()
                with proton.scope("backward", metrics={"columns": 16}):
                    loss.backward()
            model.zero_grad()  # lets go of what the graphs wrote

    recorded = record(work, context=context)
    replayed = [path for path, _ in recorded.kernels if CAPTURED in path]
    assert replayed, f"nothing was captured: {recorded.file.paths()}"
    for metric, total in ("tokens", 8000), ("rows", 64), ("columns", 128):
        found = sums_of(recorded.file.root, metric)
        assert sum(found.values()) == total, (metric, found)
        assert {is_replay for is_replay, _ in found} == {False}, (metric, found)
