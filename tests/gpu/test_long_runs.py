"""Long runs on a real GPU: phases that flush themselves, kills, signals, workers, many sessions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.cli import main
from tests.conftest import folder_of_proton
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

PROGRAM = """
import torch, proton
x = torch.ones(1024, device="cuda")
torch.cuda.synchronize()
proton.start("run", backend="cupti", data={data!r})
print("started", flush=True)
steps = 0
while True:
    with proton.scope("step"):
        for _ in range(50):
            x.add_(1)
    steps += 1
    if steps == 100:
        torch.cuda.synchronize()
        print("100 steps", flush=True)
"""


def count(path: Path) -> int:
    pending, total = [json.loads(path.read_text())[0]], 0
    while pending:
        node = pending.pop()
        total += node["metrics"].get("count", 0)
        pending += node["children"]
    return total


def start_program(folder: Path, data: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(data=data)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": folder_of_proton()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "started", process.communicate()[1]
    return process


def wait_for_steps(process: subprocess.Popen[str]) -> None:
    """Until the program has launched 5000 kernels, and they have run."""
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "100 steps"


def wait_for_save(journal: Path) -> None:
    start_ns = time.time_ns()
    wait_for(
        lambda: journal.exists() and journal.stat().st_mtime_ns > start_ns, "the journal to grow"
    )


def test_a_phase_becomes_complete_without_synchronising(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(1024, device="cuda")
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    assert session is not None
    for phase in range(5):
        for _ in range(1000):
            x.add_(1)
        start = time.monotonic()
        proton.data.advance_phase(session)
        assert time.monotonic() - start < 0.05, "advance_phase must not wait"
        end = time.monotonic() + 20
        while not proton.data.is_phase_complete(session, phase):  # while the program goes on
            x.add_(1)
            assert time.monotonic() < end, f"phase {phase} did not become complete in 20 s"
    proton.finalize(session)
    whole = sum(count(path) for path in tmp_path.glob("run.part_*.hatchet"))
    (root, _) = json.loads((tmp_path / "run.part_0.hatchet").read_text())
    assert root["proton"].get("losses", {}) == {}, root["proton"]["losses"]
    assert count(tmp_path / "run.part_0.hatchet") == 1000
    assert whole >= 5000


def test_captured_launches_do_not_hold_a_phase_up(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(1024, device="cuda")
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    assert session is not None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            x.add_(1)
    for _ in range(20):
        graph.replay()
    proton.data.advance_phase(session)
    waited = wait_for(
        lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete", 25
    )
    proton.finalize(session)
    assert count(tmp_path / "run.part_0.hatchet") >= 200
    assert waited < 25, "only the time limit for launches without events ended it"


def test_periodic_flushing_writes_and_drops_phases(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(1024, device="cuda")
    session = proton.start(str(tmp_path / "run"), backend="cupti", mode="periodic_flushing")
    assert session is not None
    for _ in range(10):
        for _ in range(500):
            x.add_(1)
        torch.cuda.synchronize()
        proton.data.advance_phase(session)
    parts = [tmp_path / f"run.part_{phase}.hatchet" for phase in range(10)]
    wait_for(lambda: all(part.exists() for part in parts), "ten files")
    proton.finalize(session)
    assert [count(part) for part in parts] == [500] * 10


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_killed_process_is_recovered(tmp_path: Path, data: str) -> None:
    process = start_program(tmp_path, data)
    journal = tmp_path / "run.partial"
    wait_for_steps(process)
    wait_for_save(journal)  # which may have begun before those steps
    wait_for_save(journal)
    process.kill()
    process.wait(timeout=20)
    assert main(["recover", str(journal)]) == 0
    if data == "tree":
        assert count(tmp_path / "run.hatchet") > 1000
    else:
        events = json.loads((tmp_path / "run.chrome_trace").read_text())["traceEvents"]
        assert sum(event.get("cat") == "kernel" for event in events) > 1000


def test_sigterm_writes_the_profile(tmp_path: Path) -> None:
    process = start_program(tmp_path, "tree")
    wait_for_steps(process)
    start = time.monotonic()
    process.terminate()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM, errors
    assert time.monotonic() - start < 10
    assert count(tmp_path / "run.hatchet") > 100, errors


def test_forked_workers_of_a_data_loader_do_not_disturb(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        """
        import proton, torch
        from proton.runtime import autosave
        autosave.FIRST_SAVE_S = 0.05
        x = torch.ones(16, device="cuda")
        proton.start("run", backend="cupti")
        for _ in range(3):
            loader = torch.utils.data.DataLoader(
                list(range(64)), batch_size=4, num_workers=4, multiprocessing_context="fork")
            for batch in loader:
                with proton.scope("batch"):
                    x.add_(1)
        proton.finalize()
        """,
        env={"PROTON_JOURNAL_INTERVAL": "0.05"},
        timeout_s=120,
    )
    assert done.returncode == 0, done.stderr
    assert count(tmp_path / "run.hatchet") == 48
    assert len(list(tmp_path.glob("*.hatchet"))) == 1


@pytest.mark.timeout(300)
def test_a_thousand_sessions_leave_neither_memory_nor_threads(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")

    def resident_mib() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

    def cycle(number: int) -> None:
        for _ in range(number):
            session = proton.start(str(tmp_path / "run"), backend="cupti")
            for _ in range(5):
                x.add_(1)
            proton.finalize(session)
            assert count(tmp_path / "run.hatchet") == 5

    cycle(50)
    memory, threads = resident_mib(), len(os.listdir("/proc/self/task"))
    start = time.monotonic()
    cycle(1000)
    took_s = time.monotonic() - start
    assert resident_mib() - memory < 16, "memory grew by sessions"
    assert len(os.listdir("/proc/self/task")) <= threads + 1
    assert took_s < 240, f"1000 sessions took {took_s:.0f} s"
