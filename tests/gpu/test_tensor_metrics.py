"""Metric values that are CUDA tensors: read in stream order, not waited for, also in graphs."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

OURS = "proton_read_metric_value"
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def metrics_of(file: Any) -> dict[str, dict[str, Any]]:
    """Path -> metrics of the nodes that are no kernels."""
    found: dict[str, dict[str, Any]] = {}
    pending = [("", child) for child in file.root["children"]]
    while pending:
        above, node = pending.pop()
        path = above + node["frame"]["name"]
        if node["metrics"] and "count" not in node["metrics"]:
            found[path] = node["metrics"]
        pending += [(path + "/", child) for child in node["children"]]
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_lists_of_every_type(torch: Any, record: Any, dtype: str) -> None:
    kind = getattr(torch, dtype)
    number = torch.tensor(3, dtype=kind, device="cuda")
    vector = torch.tensor([1, 0, 100], dtype=kind, device="cuda")

    def work() -> None:
        for _ in range(2):
            with proton.scope("a", {"x": number, "v": vector}):
                pass

    recorded = record(work)
    own = metrics_of(recorded.file)["a"]
    assert own == {"x": 6, "v": [2, 0, 200]}
    assert isinstance(own["x"], float if kind.is_floating_point else int)
    assert recorded.counts() == Counter(), "our own kernel must not show"
    assert recorded.file.losses == {}


def test_bools_negative_numbers_and_strides(torch: Any, record: Any) -> None:
    grid = torch.arange(12, dtype=torch.int32, device="cuda").reshape(3, 4)
    given = {
        "bool": torch.tensor(True, device="cuda"),
        "negative": torch.tensor(-5, dtype=torch.int8, device="cuda"),
        "half": torch.tensor(-0.5, dtype=torch.float16, device="cuda"),
        "column": grid[:, 1],
        "grid": grid,
        "long": torch.arange(1000, device="cuda"),
    }

    def work() -> None:
        with proton.scope("a", given):
            pass

    assert metrics_of(record(work).file)["a"] == {
        "bool": 1,
        "negative": -5,
        "half": -0.5,
        "column": [1, 5, 9],
        "grid": list(range(12)),
        "long": list(range(1000)),
    }


def test_the_value_is_that_of_the_call_in_stream_order(torch: Any, record: Any) -> None:
    value = torch.zeros((), dtype=torch.float64, device="cuda")

    def work() -> None:
        for _ in range(10):
            torch.cuda._sleep(2_000_000)
            with proton.scope("a", {"x": value}):
                value.add_(1)
            value.add_(1000)  # after the read
            value.sub_(1000)
        proton.enter_scope("b", metrics={"x": value})
        value.fill_(-1)
        proton.exit_scope("b", metrics={"y": value})
        value.fill_(7)

    found = metrics_of(record(work).file)
    assert found["a"] == {"x": 55.0}
    assert found["b"] == {"x": 10.0, "y": -1.0}


def test_the_host_does_not_wait_for_the_gpu(torch: Any, record: Any) -> None:
    value = torch.ones((), device="cuda")
    waits: list[float] = []

    def work() -> None:
        with proton.scope("a", {"x": value}):  # loads the kernel
            pass
        torch.cuda.synchronize()
        torch.cuda._sleep(1_000_000_000)  # half a second or more of GPU time
        start = time.perf_counter()
        for _ in range(100):
            with proton.scope("a", {"x": value}):
                pass
        waits.append(time.perf_counter() - start)
        torch.cuda.synchronize()
        waits.append(time.perf_counter() - start)

    assert metrics_of(record(work).file)["a"] == {"x": 101.0}
    returned, finished = waits
    assert finished > 0.2, f"the long kernel took {finished:.3f} s: too short for this test"
    assert returned < 0.1, f"100 scopes took {returned:.3f} s while the GPU was busy: they waited"


def test_kernel_counts_are_those_without_our_kernel(torch: Any, record: Any) -> None:
    x = torch.ones(1024, device="cuda")
    x.add_(1)

    def work(metrics: Any) -> None:
        for _ in range(20):
            with proton.scope("a", metrics):
                x.add_(1)

    plain = record(lambda: work(None))
    read = record(lambda: work({"x": x[0]}))
    assert read.counts() == plain.counts()
    assert read.file.losses == {}


def test_captured_values_count_at_every_replay_as_they_are_then(torch: Any, record: Any) -> None:
    value = torch.zeros((), dtype=torch.int64, device="cuda")
    vector = torch.ones(3, device="cuda")
    x = torch.ones(1024, device="cuda")
    x.add_(1)
    value.fill_(0)
    torch.cuda.synchronize()

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            with proton.scope("layer", {"x": value, "v": vector, "plain": 2}):
                x.add_(1)
            with proton.scope("no_kernel", {"x": value}):
                pass
        for step in range(5):
            value.fill_(10**step)
            with proton.scope("even" if step % 2 == 0 else "odd"):
                graph.replay()

    recorded = record(work)
    found = metrics_of(recorded.file)
    assert found["even/<captured_at>/layer"] == {"x": 10101, "v": [3.0] * 3, "plain": 6}
    assert found["odd/<captured_at>/layer"] == {"x": 1010, "v": [2.0] * 3, "plain": 4}
    assert found["even/<captured_at>/no_kernel"] == {"x": 10101}
    assert "layer" not in found, found
    assert OURS not in recorded.counts()
    assert recorded.file.losses == {}


def test_many_replays_lose_nothing_and_leave_nothing(torch: Any, record: Any) -> None:
    value = torch.ones((), dtype=torch.int64, device="cuda")
    x = torch.ones(16, device="cuda")
    x.add_(1)
    count = 100_000

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope("layer", {"x": value}):
            x.add_(1)
        for _ in range(count):
            graph.replay()

    recorded = record(work)
    assert metrics_of(recorded.file)["<captured_at>/layer"] == {"x": count}
    assert recorded.file.losses == {}
    assert _native.Cupti.stats()["values"] == 0


def test_launch_metadata_may_be_on_the_gpu(torch: Any, record: Any, kernels: Any) -> None:
    tokens = torch.zeros((), dtype=torch.int64, device="cuda")
    kernels.count_tokens[(1,)](tokens)  # compiles
    tokens.fill_(0)

    def work() -> None:
        with proton.scope("s"):
            for _ in range(5):
                kernels.count_tokens[(1,)](tokens)

    recorded = record(work, hook="triton")
    ((path, own),) = recorded.kernels
    assert path == ("s", "counted")
    assert (own["flops32"], own["tokens"], own["launches"], own["count"]) == (10.0, 10, 5, 5)
    assert recorded.file.losses == {}


@pytest.mark.parametrize("context", ["shadow", "python"])
def test_captured_launch_metadata_counts_at_every_replay(
    torch: Any, record: Any, kernels: Any, context: str
) -> None:
    tokens = torch.zeros((), dtype=torch.int64, device="cuda")
    kernels.count_tokens[(1,)](tokens)
    tokens.fill_(0)
    torch.cuda.synchronize()

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope("layer"):
            kernels.count_tokens[(1,)](tokens)
        for _ in range(5):
            graph.replay()

    recorded = record(work, hook="triton", context=context)
    found = [(path, own) for path, own in recorded.kernels if path[-1] == "counted"]
    assert len(found) == 1, recorded.file.paths()
    path, own = found[0]
    assert "<captured_at>" in path
    assert (own["tokens"], own["count"]) == (10, 5)


def test_streams_and_python_context(torch: Any, record: Any) -> None:
    streams = [torch.cuda.Stream() for _ in range(4)]
    values = [torch.full((), float(n), device="cuda") for n in range(4)]
    torch.cuda.synchronize()

    def work() -> None:
        for stream, value in zip(streams, values, strict=True):
            with torch.cuda.stream(stream):
                for _ in range(50):
                    with proton.scope("a", {"x": value}):
                        value.mul_(1)

    assert metrics_of(record(work).file)["a"] == {"x": 300.0}
    found = metrics_of(record(work, context="python").file)
    assert sum(own["x"] for own in found.values()) == 300.0
    assert all(path.split("/")[-1].count("@") == 1 for path in found), found


def test_sessions_and_phases_get_their_own_values(
    torch: Any, tmp_path: Path, profile_of: Any
) -> None:
    value = torch.ones((), dtype=torch.int64, device="cuda")
    x = torch.ones(16, device="cuda")
    x.add_(1)
    first = proton.start(str(tmp_path / "first"), backend="cupti")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), proton.scope("layer", {"x": value}):
        x.add_(1)
    graph.replay()
    second = proton.start(str(tmp_path / "second"), backend="cupti")
    value.fill_(10)
    graph.replay()
    with proton.scope("eager", {"x": value}):
        pass
    proton.data.advance_phase(first)
    value.fill_(100)
    graph.replay()
    with proton.scope("eager", {"x": value}):
        pass
    proton.deactivate(first)
    proton.deactivate(second)
    value.fill_(5)
    graph.replay()  # nobody's
    proton.activate(second)
    value.fill_(1000)
    graph.replay()
    proton.finalize()
    path = "<captured_at>/layer"
    parts = [metrics_of(profile_of(tmp_path / f"first.part_{n}.hatchet")) for n in range(2)]
    assert (parts[0][path], parts[0]["eager"]) == ({"x": 11}, {"x": 10})
    assert (parts[1][path], parts[1]["eager"]) == ({"x": 100}, {"x": 100})
    whole = metrics_of(profile_of(tmp_path / "second.hatchet"))
    assert (whole[path], whole["eager"]) == ({"x": 1110}, {"x": 110})


def test_graph_level_keeps_the_sum(torch: Any, record: Any) -> None:
    value = torch.ones((), dtype=torch.int64, device="cuda")
    x = torch.ones(16, device="cuda")
    x.add_(1)
    torch.cuda.synchronize()

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope("layer", {"x": value}):
            x.add_(1)
        for step in range(4):
            value.fill_(10**step)
            graph.replay()

    assert metrics_of(record(work, mode="graphs=graph").file)["<captured_at>/layer"] == {"x": 1111}
