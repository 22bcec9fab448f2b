"""CUDA graphs on a real GPU: kernels of replays are counted and know where they were captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import proton

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
    paths = {path[1] for path, _ in recorded.kernels}
    assert len(paths) == 1, paths
    assert next(iter(paths)).startswith("<"), paths


def test_a_graph_can_be_one_event_a_replay(record: Any, capture: Any) -> None:
    def work() -> None:
        graph = capture()
        for _ in range(10):
            with proton.scope("replay"):
                graph.replay()

    recorded = record(work, mode="graphs=graph")
    assert recorded.count_under("replay") == 10
    assert recorded.time_ns() > 0


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
