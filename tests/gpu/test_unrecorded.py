"""Launches that CUPTI gives no record of, on a real GPU: counted where there are some, else not."""

from __future__ import annotations

import ctypes
import json
import threading
from pathlib import Path
from typing import Any

import pytest

import proton

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

LOSS = "unrecorded_launch"
LIMIT_S = 180

# 5 launches before torch's profiler, 7 while it records, 9 after; PAUSE and RESUME around it.
BESIDE_PROFILER = """
import json, proton, torch, torch.profiler
x = torch.zeros(1024, device="cuda")
x.add_(1)
torch.cuda.synchronize()
session = proton.start("run", backend="cupti")
for _ in range(5):
    x.add_(1)
PAUSE
with torch.profiler.profile() as prof:
    for _ in range(7):
        x.add_(1)
    torch.cuda.synchronize()
RESUME
for _ in range(9):
    x.add_(1)
proton.finalize(session)
kind = torch.autograd.DeviceType.CUDA
print("torch.profiler saw", sum(e.count for e in prof.key_averages() if e.device_type == kind))
"""


def counted(folder: Path) -> tuple[int, dict[str, int], list[str]]:
    """Kernels of the profile, its losses, its warnings."""
    root = json.loads((folder / "run.hatchet").read_text())[0]
    pending, total = [root], 0
    while pending:
        node = pending.pop()
        total += node["metrics"].get("count", 0)
        pending += node["children"]
    return total, root["proton"]["losses"], root["proton"]["warnings"]


def test_beside_torchs_profiler_each_launch_is_recorded_or_a_loss_with_a_warning(
    torch: Any, run_python: Any, tmp_path: Path
) -> None:
    done = run_python(BESIDE_PROFILER.replace("PAUSE", "").replace("RESUME", ""), timeout_s=LIMIT_S)
    assert done.returncode == 0, done.stderr
    kernels, losses, warnings = counted(tmp_path)
    facts = f"{kernels=} {losses=} {warnings=} {done.stdout=} {done.stderr[-2000:]=}"
    assert kernels <= 21, facts
    assert kernels + losses.get(LOSS, 0) + losses.get("dropped_event", 0) >= 21, facts
    assert (LOSS in losses) == any(LOSS in text for text in warnings), facts


def test_a_session_that_pauses_for_torchs_profiler_loses_nothing(
    torch: Any, run_python: Any, tmp_path: Path
) -> None:
    script = BESIDE_PROFILER.replace("PAUSE", "proton.deactivate(session, flushing=True)")
    done = run_python(script.replace("RESUME", "proton.activate(session)"), timeout_s=LIMIT_S)
    assert done.returncode == 0, done.stderr
    kernels, losses, warnings = counted(tmp_path)
    facts = f"{kernels=} {losses=} {warnings=} {done.stdout=} {done.stderr[-2000:]=}"
    assert kernels + losses.get(LOSS, 0) >= 14, facts
    assert (kernels, losses, warnings) == (14, {}, []), facts


def fail_a_launch(kernels: Any, x: Any, torch: Any) -> None:
    """A grid of no blocks: the driver refuses it."""
    compiled = kernels.add_one[(1,)](x, 16, BLOCK=16)
    function = ctypes.c_void_p(compiled.function)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    for _ in range(5):
        assert launch(function, 0, 1, 1, 32, 1, 1, 0, stream, None, None) != 0


@pytest.mark.parametrize("options", [{}, {"context": "python"}, {"mode": "graphs=graph"}])
def test_a_session_of_ops_graphs_threads_and_failed_launches_counts_none(
    torch: Any, kernels: Any, record: Any, options: dict[str, str]
) -> None:
    x = torch.ones(1024, device="cuda", requires_grad=True)
    y = torch.ones(16, device="cuda")

    def work() -> None:
        (x * 2 + 1).sum().backward()
        fail_a_launch(kernels, y, torch)
        with torch.no_grad():
            z = x.detach().clone()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                z.add_(1)
            for _ in range(3):
                graph.replay()
            never_run = torch.cuda.CUDAGraph()
            with torch.cuda.graph(never_run):
                z.mul_(2)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            y.add_(1)
        thread = threading.Thread(target=lambda: y.mul_(2))
        thread.start()
        thread.join()
        proton.deactivate()
        y.add_(1)
        proton.activate()
        y.add_(1)
        with proton.scope("metrics", {"sum": y.sum()}):
            y.add_(1)

    recorded = record(work, **options)
    header = recorded.file.header
    assert header.get("losses", {}) == {}, header
    assert [text for text in header["warnings"] if LOSS in text] == [], header


def test_sessions_that_come_and_go_beside_launching_threads_count_none(
    torch: Any, tmp_path: Path
) -> None:
    is_over = threading.Event()

    def launch() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.ones(16, device="cuda")
            while not is_over.is_set():
                x.add_(1)

    threads = [threading.Thread(target=launch) for _ in range(3)]
    for thread in threads:
        thread.start()
    lost: list[dict[str, int]] = []
    try:
        for _ in range(20):
            session = proton.start(str(tmp_path / "run"), backend="cupti")
            proton.deactivate(session)
            proton.activate(session)
            torch.ones(1, device="cuda").add_(1)
            proton.finalize(session)
            lost.append(counted(tmp_path)[1])
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert [each for each in lost if LOSS in each] == [], lost
