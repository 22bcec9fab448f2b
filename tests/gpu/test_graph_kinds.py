"""Graphs of every kind on a real GPU, made by the driver's own calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import proton
from proton import _native
from tests.gpu.raw_graphs import RawGraphs

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

ADD, MUL = "CUDAFunctorOnSelf_add", "MulFunctor"
CAPTURED = "<captured_at>"


@pytest.fixture
def raw(torch: Any) -> RawGraphs:
    return RawGraphs(torch)


@pytest.fixture
def mul(torch: Any) -> Callable[[], object]:
    """Launches another one, warm."""
    x = torch.ones(1024, device="cuda")
    x.mul_(2)
    torch.cuda.synchronize()
    return lambda: x.mul_(2)


def scoped(name: str, work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        with proton.scope(name):
            work()

    return run


def test_kernels_of_child_graphs_stand_where_the_child_was_captured(
    record: Any, raw: RawGraphs, add: Any
) -> None:
    def work() -> None:
        child = raw.capture(scoped("child", add))
        graph = raw.create()
        raw.add_child(graph, child)
        raw.add_child(graph, child)
        executable = raw.instantiate(graph)
        raw.destroy(graph, child)
        with proton.scope("replay"):
            raw.replay(executable, 3)

    recorded = record(work)
    assert recorded.count_under("replay", CAPTURED, "child") == 6, recorded.file.paths()


def test_only_the_taken_branch_of_a_condition_counts(record: Any, raw: RawGraphs, add: Any) -> None:
    def work() -> None:
        graph = raw.create()
        raw.capture(scoped("then", add), into=raw.add_if(graph, 1))
        raw.capture(scoped("else", add), into=raw.add_if(graph, 0))
        executable = raw.instantiate(graph)
        with proton.scope("replay"):
            raw.replay(executable, 4)

    recorded = record(work)
    # CUPTI 13.0 gives kernels of bodies no correlation id: no replay can claim them
    assert recorded.count_under(CAPTURED, "then") == 4, recorded.file.paths()
    assert sum(recorded.counts().values()) == 4, recorded.file.paths()
    assert not recorded.file.header.get("losses"), recorded.file.header


def test_clones_and_second_executables_keep_their_paths(
    record: Any, raw: RawGraphs, add: Any
) -> None:
    def work() -> None:
        graph = raw.capture(scoped("layer", add))
        executables = [raw.instantiate(graph), raw.instantiate(raw.clone(graph))]
        with proton.scope("replay"):
            for executable in executables:
                raw.replay(executable, 2)

    recorded = record(work)
    assert recorded.count_under("replay", CAPTURED, "layer") == 4, recorded.file.paths()


def test_a_changed_kernel_belongs_to_the_capture_that_changed_it(
    record: Any, raw: RawGraphs, add: Any, mul: Any
) -> None:
    def work() -> None:
        executable = raw.instantiate(raw.capture(scoped("first", add)))
        raw.update(executable, raw.capture(scoped("second", mul)))
        with proton.scope("replay"):
            raw.replay(executable, 3)

    recorded = record(work)
    counts = {name: recorded.count_under("replay", CAPTURED, name) for name in ("first", "second")}
    told = _native.Cupti.load("") >= 130000  # the version: loaded already
    assert counts == ({"first": 0, "second": 3} if told else {"first": 3, "second": 0}), (
        "CUPTI tells of updates from 13.0 on",
        recorded.file.paths(),
    )


def test_a_graph_destroyed_while_it_runs_is_counted(record: Any, raw: RawGraphs, add: Any) -> None:
    def work() -> None:
        graph = raw.capture(scoped("short", add))
        executable = raw.instantiate(graph)
        raw.replay(executable, 50)
        raw.destroy_executable(executable)
        raw.destroy(graph)

    recorded = record(work)
    assert recorded.count_under(CAPTURED, "short") == 50, recorded.file.paths()
    assert not recorded.file.header.get("losses"), recorded.file.header


def test_destroyed_graphs_leave_nothing_behind(record: Any, raw: RawGraphs, add: Any) -> None:
    def work() -> None:
        before = _native.Cupti.stats()["graph_nodes"]
        for _ in range(100):
            graph = raw.capture(scoped("short", add))
            executable = raw.instantiate(graph)
            raw.replay(executable)
            raw.destroy_executable(executable)
            raw.destroy(graph)
        assert _native.Cupti.stats()["graph_nodes"] == before

    assert record(work).count_under(CAPTURED, "short") == 100


def test_streams_that_join_a_capture_belong_to_it(record: Any, torch: Any) -> None:
    x, y = (torch.ones(1024, device="cuda") for _ in range(2))
    x.add_(1)
    y.mul_(1)
    torch.cuda.synchronize()

    def work() -> None:
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        with torch.cuda.graph(graph):
            main = torch.cuda.current_stream()
            side.wait_stream(main)
            with proton.scope("main"):
                x.add_(1)
            with torch.cuda.stream(side), proton.scope("side"):
                y.mul_(1)
                y.mul_(1)
            main.wait_stream(side)
        with proton.scope("replay"):
            for _ in range(5):
                graph.replay()

    recorded = record(work)
    assert recorded.count_under("replay", CAPTURED, "main", kind=ADD) == 5, recorded.file.paths()
    assert recorded.count_under("replay", CAPTURED, "side", kind=MUL) == 10


def test_compiled_models_with_graphs_are_attributed(record: Any, torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 64))
    model = model.cuda().eval()
    compiled = torch.compile(model, mode="reduce-overhead")
    x = torch.randn(8, 64, device="cuda")

    def work() -> None:
        with torch.no_grad():
            for _ in range(4):  # compiles, warms up, captures
                with proton.scope("first"):
                    compiled(x)
            torch.cuda.synchronize()
            for _ in range(10):
                with proton.scope("replay"):
                    compiled(x)

    recorded = record(work)
    replayed = recorded.count_under("replay", CAPTURED)
    assert replayed > 0, recorded.file.paths()
    assert replayed % 10 == 0, replayed
    assert recorded.count_under("replay", CAPTURED, "first") == replayed, (
        "all were captured within the session",
        recorded.file.paths(),
    )
