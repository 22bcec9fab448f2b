"""NVTX ranges of torch, of its operators and of the `nvtx` package, above real kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton

pytestmark = pytest.mark.gpu


@pytest.fixture
def nvtx(torch: Any) -> Any:
    """torch.cuda.nvtx, reached by the library that `import proton` named."""
    from proton import _native
    from proton.runtime import nvtx as runtime

    if runtime.other_tool() is not None:
        pytest.skip("another tool follows NVTX here")
    torch.cuda.nvtx.mark("first call")
    session = proton.start("/tmp/proton_nvtx_probe", backend="cupti")
    with torch.cuda.nvtx.range("probe"):
        torch.zeros(1, device="cuda")
    proton.finalize(session)
    assert _native.Nvtx.module_count() > 0, "torch made its first NVTX call before import proton"
    return torch.cuda.nvtx


def test_kernels_are_booked_below_push_and_pop(record: Any, torch: Any, nvtx: Any) -> None:
    x = torch.ones(1024, device="cuda")

    def work() -> None:
        with proton.scope("scope"):
            nvtx.range_push("outer")
            x.add_(1)
            with nvtx.range("inner"), proton.scope("deep"):
                x.add_(1)
                x.add_(1)
            nvtx.range_pop()
            x.add_(1)

    recorded = record(work)
    assert recorded.count_under("scope", "outer") == 3
    assert recorded.count_under("scope", "outer", "inner", "deep") == 2
    assert recorded.count_under("scope") == 4
    assert "unmatched_nvtx" not in recorded.file.losses


def test_started_ranges_hold_kernels_until_they_end(record: Any, torch: Any, nvtx: Any) -> None:
    x = torch.ones(1024, device="cuda")

    def work() -> None:
        started = nvtx.range_start("started")
        x.add_(1)
        nvtx.range_end(started)
        x.add_(1)
        nvtx.mark("mark")

    recorded = record(work)
    assert recorded.count_under("started") == 1
    assert sum(recorded.counts().values()) == 2
    assert recorded.file.metrics("mark") == {"marks": 1}


def test_operators_of_emit_nvtx_hold_their_kernels_also_in_backward(
    record: Any, torch: Any, nvtx: Any
) -> None:
    layer = torch.nn.Linear(64, 64, device="cuda")
    x = torch.randn(8, 64, device="cuda")

    def work() -> None:
        with torch.autograd.profiler.emit_nvtx():
            for _ in range(3):
                with proton.scope("step"):
                    layer(x).sum().backward()

    work()
    recorded = record(work)
    names = {name for path, _ in recorded.kernels for name in path[:-1]}
    assert "aten::linear" in names, names
    assert any("Backward" in name for name in names), names
    assert not any("seq = " in name or "op_id" in name for name in names), names
    inside = sum(metrics["count"] for path, metrics in recorded.kernels if len(path) > 2)
    assert inside == sum(recorded.counts().values()), [path for path, _ in recorded.kernels]


def test_a_trace_has_ranges_on_the_lane_of_their_thread(
    tmp_path: Path, torch: Any, nvtx: Any
) -> None:
    x = torch.ones(1024, device="cuda")
    session = proton.start(str(tmp_path / "run"), backend="cupti", data="trace")
    with proton.scope("scope"), nvtx.range("range"):
        x.add_(1)
        nvtx.mark("mark")
    proton.finalize(session)
    events = json.loads((tmp_path / "run.chrome_trace").read_bytes())["traceEvents"]
    spans = {event["name"]: event for event in events if event["ph"] in "Xi"}
    assert spans["range"]["tid"] == spans["scope"]["tid"] == spans["mark"]["tid"]
    stacks = [event["args"]["call_stack"] for event in events if event.get("cat") == "kernel"]
    assert stacks
    assert all(stack[:3] == ["ROOT", "scope", "range"] for stack in stacks)


def test_kernels_in_a_graph_keep_the_ranges_they_were_captured_in(
    record: Any, torch: Any, nvtx: Any
) -> None:
    x = torch.ones(1024, device="cuda")

    def work() -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), nvtx.range("captured"):
            x.add_(1)
        with nvtx.range("replay"):
            graph.replay()
            graph.replay()

    recorded = record(work)
    assert recorded.count_under("replay", "<captured_at>", "captured") == 2


@pytest.mark.parametrize("order", ["import torch, proton", "import proton, torch"])
def test_the_proton_command_follows_a_script_that_imports_torch_first(
    order: str, tmp_path: Path, torch: Any, profile_of: Callable[..., Any]
) -> None:
    (tmp_path / "script.py").write_text(
        f"""
{order}
x = torch.ones(16, device="cuda")
with torch.cuda.nvtx.range("range"):
    x.add_(1)
"""
    )
    command = [sys.executable, "-m", "proton", "--quiet", "-b", "cupti", "-n", "run", "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    paths = profile_of(tmp_path / "run.hatchet").paths()
    assert any(path.startswith("range/") for path in paths), paths


def test_the_nvtx_package_is_followed(record: Any, torch: Any, nvtx: Any) -> None:
    package = pytest.importorskip("nvtx")
    x = torch.ones(1024, device="cuda")

    def work() -> None:
        with package.annotate("work", domain="mine", payload=5):
            x.add_(1)

    recorded = record(work)
    assert recorded.count_under("mine:work") == 1
    assert recorded.file.metrics("mine:work")["payload"] == 5
