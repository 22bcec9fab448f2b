"""Sessions on a real GPU: several at once, many in a row, phases, forks, exits and other tools."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


def count(path: Path) -> int:
    """All kernels of a profile."""
    pending, total = [json.loads(path.read_text())[0]], 0
    while pending:
        node = pending.pop()
        total += node["metrics"].get("count", 0)
        pending += node["children"]
    return total


def test_sessions_of_other_kinds_run_at_once(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")
    options: list[dict[str, str]] = [{}, {"context": "python"}, {"data": "trace"}]
    sessions = [
        proton.start(str(tmp_path / f"run{index}"), backend="cupti", **each)
        for index, each in enumerate(options)
    ]
    for _ in range(20):
        x.add_(1)
    for session in sessions:
        proton.finalize(session)
    assert count(tmp_path / "run0.hatchet") == count(tmp_path / "run1.hatchet") == 20
    events = json.loads((tmp_path / "run2.chrome_trace").read_text())["traceEvents"]
    assert sum(event.get("cat") == "kernel" for event in events) == 20


def test_a_paused_session_misses_what_others_see(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")
    first = proton.start(str(tmp_path / "first"), backend="cupti")
    second = proton.start(str(tmp_path / "second"), backend="cupti")
    x.add_(1)
    proton.deactivate(first)
    x.add_(1)
    proton.activate(first)
    x.add_(1)
    proton.finalize(first)
    proton.finalize(second)
    assert (count(tmp_path / "first.hatchet"), count(tmp_path / "second.hatchet")) == (2, 3)


def test_a_hundred_sessions_in_a_row_lose_nothing(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")
    for _ in range(100):
        session = proton.start(str(tmp_path / "run"), backend="cupti")
        for _ in range(10):
            x.add_(1)
        proton.finalize(session)
        assert count(tmp_path / "run.hatchet") == 10


def test_a_stopped_session_leaves_launches_as_fast_as_before(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")

    def launches_s() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(2000):
            x.add_(1)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    launches_s()
    before = min(launches_s() for _ in range(25))
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    launches_s()
    proton.finalize(session)
    after = min(launches_s() for _ in range(25))
    assert after < 1.2 * before


def test_phases_divide_the_kernels(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    assert session is not None
    for repeats in (3, 5):
        for _ in range(repeats):
            x.add_(1)
        proton.deactivate(session, flushing=True)
        proton.data.advance_phase(session)
        proton.activate(session)
    proton.finalize(session)
    parts = sorted(tmp_path.glob("run.part_*.hatchet"))
    assert [count(part) for part in parts] == [3, 5, 0]


def test_a_program_that_never_finalizes_leaves_its_profile(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        """
        import proton, torch
        x = torch.ones(16, device="cuda")
        proton.start("run", backend="cupti")
        for _ in range(12):
            x.add_(1)
        """
    )
    assert done.returncode == 0, done.stderr
    assert count(tmp_path / "run.hatchet") == 12


def test_a_profiled_program_may_reset_the_device(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        """
        import ctypes, proton, torch
        x = torch.ones(16, device="cuda")
        proton.start("run", backend="cupti")
        for _ in range(12):
            x.add_(1)
        torch.cuda.synchronize()
        ctypes.CDLL("libcudart.so.13", mode=ctypes.RTLD_GLOBAL).cudaDeviceReset()
        proton.finalize()
        import os
        os._exit(0)
        """
    )
    assert done.returncode == 0, done.stderr
    assert count(tmp_path / "run.hatchet") == 12


def test_workers_of_a_data_loader_inherit_nothing_broken(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        """
        import proton, torch
        x = torch.ones(16, device="cuda")
        proton.start("run", backend="cupti")
        loader = torch.utils.data.DataLoader(list(range(32)), batch_size=4, num_workers=2)
        for batch in loader:
            with proton.scope("batch"):
                x.add_(1)
        proton.finalize()
        """
    )
    assert done.returncode == 0, done.stderr
    assert count(tmp_path / "run.hatchet") == 8
    assert len(list(tmp_path.glob("*.hatchet"))) == 1


def test_beside_torchs_profiler_triton_kernels_are_timed_with_events(
    torch: Any, run_python: Any, tmp_path: Path
) -> None:
    folder = str(Path(__file__).parent)
    done = run_python(
        f"""
        import sys
        sys.path.insert(0, {folder!r})
        import proton, torch, torch.profiler
        from kernels import add_one
        x = torch.zeros(1024, device="cuda")
        add_one[(1,)](x, 1024, BLOCK=1024)
        with torch.profiler.profile() as prof:
            x.add_(1)
            proton.start("run", backend="cupti")
            with proton.scope("step"):
                add_one[(1,)](x, 1024, BLOCK=1024)
            proton.finalize()
        """
    )
    assert done.returncode == 0, done.stderr
    assert count(tmp_path / "run.hatchet") == 1
    (root, _) = json.loads((tmp_path / "run.hatchet").read_text())
    assert any("CUDA events" in text for text in root["proton"]["warnings"])


def test_torchs_profiler_works_after_a_session_has_ended(torch: Any, run_python: Any) -> None:
    done = run_python(
        """
        import proton, torch, torch.profiler
        x = torch.zeros(1024, device="cuda")
        for _ in range(2):
            session = proton.start("run", backend="cupti")
            x.add_(1)
            proton.finalize(session)
        with torch.profiler.profile() as prof:
            for _ in range(5):
                x.add_(1)
            torch.cuda.synchronize()
        kind = torch.autograd.DeviceType.CUDA
        print(sum(e.count for e in prof.key_averages() if e.device_type == kind))
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "5", (done.stdout, done.stderr)


def test_an_empty_session_is_an_honest_one(torch: Any, tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    with pytest.warns(ProtonWarning, match="captured nothing"):
        proton.finalize(session)
