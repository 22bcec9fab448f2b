"""CUDA graphs on a real GPU: kernels of replays are counted and know where they were captured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.conftest import folder_of_proton
from tests.gpu.conftest import Recorded

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


SEEDS = "FillFunctor"  # torch sets its seeds when it captures a graph


@pytest.fixture
def capture(torch: Any) -> Callable[[], Any]:
    """Captures a graph of four kernels, in two scopes."""
    x = torch.ones(1024, device="cuda")
    x.add_(1)
    x.mul_(1)
    torch.cuda.synchronize()

    def make() -> Any:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            with proton.scope("captured_a"):
                x.add_(1)
                x.add_(1)
            with proton.scope("captured_b"):
                x.mul_(1)
                x.mul_(1)
        return graph

    return make


def test_replays_stand_under_the_replaying_and_the_capturing_scope(
    record: Any, capture: Any
) -> None:
    def work() -> None:
        with proton.scope("capture"):
            graph = capture()
        for _ in range(10):
            with proton.scope("replay"):
                graph.replay()

    recorded = record(work).without(SEEDS)
    kernels = "<captured_at>", "capture", "captured_a"
    assert recorded.count_under("replay", *kernels) == 20, recorded.file.paths()
    assert recorded.count_under("replay") == 40
    assert recorded.count_under("capture") == 0


def test_a_graph_captured_before_the_session_is_counted_and_named_so(
    record: Any, capture: Any
) -> None:
    graph = capture()

    def work() -> None:
        for _ in range(10):
            with proton.scope("replay"):
                graph.replay()

    recorded = record(work)
    assert recorded.count_under("replay") == 40
    paths = {path[1:4] for path, _ in recorded.kernels}
    assert len(paths) == 1, paths
    path = next(iter(paths))
    assert path[:2] == ("<captured_at>", "<captured while not recording>"), paths
    assert path[2].startswith("<graph "), paths
    warnings = recorded.file.header["warnings"]
    assert any("start the session before graphs are captured" in text for text in warnings)


def test_a_graph_can_be_one_event_a_replay(record: Any, capture: Any) -> None:
    def work() -> None:
        graphs = [capture(), capture()]
        for graph in graphs:
            for _ in range(10):
                with proton.scope("replay"):
                    graph.replay()

    recorded = record(work, mode="graphs=graph")
    assert recorded.count_under("replay") == 20
    assert recorded.time_ns() > 0
    names = {path[-1] for path, _ in recorded.kernels if path[0] == "replay"}
    assert len(names) == 2, names
    assert all(name.startswith("<graph ") for name in names), names


@pytest.mark.parametrize("mode", ["graphs=node", "graphs=graph"])
def test_metrics_of_captured_scopes_count_once_a_replay(record: Any, torch: Any, mode: str) -> None:
    x = torch.ones(1024, device="cuda")
    x.add_(1)
    torch.cuda.synchronize()

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            proton.enter_scope("at_entry", metrics={"tokens": 2})
            x.add_(1)
            proton.exit_scope("at_entry")
            proton.enter_scope("at_exit")
            x.add_(1)
            proton.exit_scope("at_exit", metrics={"tokens": 3})
        for _ in range(10):
            with proton.scope("replay"):
                graph.replay()

    file = record(work, mode=mode).file
    assert file.metrics("replay/<captured_at>/at_entry")["tokens"] == 20
    assert file.metrics("replay/<captured_at>/at_exit")["tokens"] == 30
    assert "tokens" not in file.metrics("at_entry")


def test_launch_metadata_of_a_whole_graph_is_summed_at_every_replay(
    record: Any, torch: Any, kernels: Any
) -> None:
    x = torch.ones(4096, device="cuda")
    sizes = (1024, 4096, 4096)
    for size in sizes:
        kernels.scale[(4,)](x, size, BLOCK=1024)  # compiles
    torch.cuda.synchronize()

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope("layer"):
            for size in sizes:
                kernels.scale[(4,)](x, size, BLOCK=1024)
        with proton.scope("replay"):
            for _ in range(3):
                graph.replay()

    recorded = record(work, mode="graphs=graph", hook="triton")
    found = [(path, own) for path, own in recorded.kernels if path[0] == "replay"]
    assert len(found) == 1, recorded.file.paths()
    path, own = found[0]
    assert path[-1].startswith("<graph "), path
    assert own["count"] == 3, own
    assert own["flops32"] == 3 * sum(sizes), own
    assert own["bytes"] == 3 * 8 * sum(sizes), own
    assert recorded.file.losses == {}


def test_a_session_by_node_beside_one_by_graph_sees_nodes(
    record: Any, capture: Any, tmp_path: Any
) -> None:
    def work() -> None:
        by_graph = proton.start(str(tmp_path / "other"), backend="cupti", mode="graphs=graph")
        graph = capture()
        for _ in range(10):
            graph.replay()
        proton.finalize(by_graph)

    assert sum(record(work).without(SEEDS).counts().values()) == 40


def test_a_graph_from_before_is_recorded_by_its_nodes_where_cupti_would_crash(
    record: Any, capture: Any
) -> None:
    graph = capture()

    def work() -> None:
        for _ in range(10):
            with proton.scope("replay"):
                graph.replay()

    recorded = record(work, mode="graphs=graph")
    assert recorded.count_under("replay") == 40
    assert any("captured before" in text for text in recorded.file.header["warnings"])


def test_two_sessions_over_one_graph_count_the_same(record: Any, capture: Any) -> None:
    graphs: list[Any] = []

    def first() -> None:
        graphs.append(capture())
        graphs[0].replay()

    assert sum(record(first).without(SEEDS).counts().values()) == 4
    again = record(lambda: graphs[0].replay())
    assert sum(again.counts().values()) == 4
    assert again.count_under("<captured_at>", "captured_a") == 2, again.file.paths()
    assert again.count_under("<captured_at>", "captured_b") == 2, again.file.paths()
    assert not again.file.header.get("warnings"), again.file.header


def libcupti_of(whose: str) -> str:
    """The folder of Triton's libcupti, or "" for the one that torch has loaded."""
    if whose == "torch":
        return ""
    triton = pytest.importorskip("triton")
    folder = Path(triton.__file__).parent / "backends" / "nvidia" / "lib" / "cupti"
    if not list(folder.glob("libcupti.so*")):
        pytest.skip("this Triton brings no libcupti")
    return str(folder)


@pytest.mark.parametrize("whose", ["torch", "triton"])
def test_graphs_that_outlive_sessions_are_known_again_and_leave_no_cost_behind(
    whose: str, torch: Any, tmp_path: Path, profile_of: Any
) -> None:
    program = str(Path(__file__).parent / "graph_sessions.py")
    env = {**os.environ, "PYTHONPATH": folder_of_proton()}
    if folder := libcupti_of(whose):
        env["TRITON_CUPTI_LIB_PATH"] = folder
    run = subprocess.run(
        [sys.executable, program, str(tmp_path)], env=env, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert any("triton" in path for path in said["libraries"]) == (whose == "triton"), said
    places = {
        "sin": "captured_sin",
        "cos": "<captured while not recording>",
        "tanh": "captured_tanh",
    }
    for session, known in {"one": ["sin"], "two": list(places), "three": list(places)}.items():
        recorded = Recorded(profile_of(tmp_path / f"{session}.hatchet")).without(SEEDS)
        assert sum(recorded.counts().values()) == 3 * len(known), recorded.kernels
        for name in known:
            count = recorded.count_under("<captured_at>", places[name], kind=f"{name}_kernel")
            assert count == 3, (session, name, recorded.kernels)
    # Had CUPTI 13.0 stayed: 32 bytes a launch, 6.4 MB.
    assert said["left_bytes"] < 1 << 20, said
