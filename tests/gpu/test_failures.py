"""What goes wrong on a real GPU: clear errors, counted losses, and a process left as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

import proton

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

LIMIT_S = 180

BAD_KERNEL = """
import triton
import triton.language as tl

@triton.jit
def store_far_away(pointer, distance):
    tl.store(pointer + distance, 1.0)
"""


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own: what it does to the GPU must not touch the tests."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


def summary_of(path: Path) -> tuple[dict[str, int], dict[str, Any]]:
    """Kernel -> how often it ran, and the `proton` key."""
    root = json.loads(path.read_bytes())[0]
    counts: dict[str, int] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        if "count" in node["metrics"] and node is not root:
            name = node["frame"]["name"]
            counts[name] = counts.get(name, 0) + node["metrics"]["count"]
        pending += node["children"]
    return counts, root["proton"]


def show(done: subprocess.CompletedProcess[str]) -> str:
    return f"exit {done.returncode}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr[-3000:]}"


def test_a_context_destroyed_before_finalize_keeps_its_kernels(torch: Any, tmp_path: Path) -> None:
    done = run(
        """
        import ctypes, proton, torch
        cuda = ctypes.CDLL("libcuda.so.1")
        torch.zeros(1, device="cuda")
        session = proton.start("run", backend="cupti")
        own = ctypes.c_void_p()
        device = ctypes.c_int()
        cuda.cuDeviceGet(ctypes.byref(device), 0)
        # the fourth argument is there since CUDA 13's _v4; the old name takes three
        assert cuda.cuCtxCreate_v2(ctypes.byref(own), 0, device) == 0
        pointer = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) == 0
        for _ in range(100):
            assert cuda.cuMemsetD8Async(pointer, 0, ctypes.c_size_t(1 << 20), None) == 0
        assert cuda.cuCtxDestroy_v2(own) == 0
        x = torch.ones(16, device="cuda")
        x.add_(1)
        proton.finalize(session)
        """,
        tmp_path,
    )
    assert done.returncode == 0, show(done)
    counts, proton_key = summary_of(tmp_path / "run.hatchet")
    assert counts.get("<memset>") == 100, (counts, proton_key)
    assert proton_key["losses"] == {}, proton_key
    assert proton_key["warnings"] == [], proton_key


def test_copies_between_contexts_of_one_device_are_seen(torch: Any, tmp_path: Path) -> None:
    # CUPTI has a kind of its own for copies between devices, which costs something and is not
    # asked for where there is one device.
    done = run(
        """
        import ctypes, proton
        cuda = ctypes.CDLL("libcuda.so.1")
        session = proton.start("run", backend="cupti")  # nobody can count the devices yet
        assert cuda.cuInit(0) == 0
        contexts, pointers, size = [], [], ctypes.c_size_t(1 << 20)
        for _ in range(2):
            contexts.append(ctypes.c_void_p())
            assert cuda.cuCtxCreate_v2(ctypes.byref(contexts[-1]), 0, 0) == 0
            pointers.append(ctypes.c_uint64())
            assert cuda.cuMemAlloc_v2(ctypes.byref(pointers[-1]), size) == 0
        ends = pointers[1], contexts[1], pointers[0], contexts[0], size
        for _ in range(10):
            assert cuda.cuMemcpyPeer(*ends) == 0
            assert cuda.cuMemcpyPeerAsync(*ends, None) == 0
            assert cuda.cuMemcpyAsync(pointers[1], pointers[0], size, None) == 0
        proton.finalize(session)
        """,
        tmp_path,
    )
    assert done.returncode == 0, show(done)
    counts, proton_key = summary_of(tmp_path / "run.hatchet")
    assert sum(counts.values()) == 30, (counts, proton_key)
    assert proton_key["losses"] == {}, proton_key


def test_a_device_reset_in_mid_run_is_survived(torch: Any, tmp_path: Path) -> None:
    done = run(
        """
        import ctypes, proton, sys, time
        cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        session = proton.start("run", backend="cupti")
        assert cuda.cuInit(0) == 0
        cuda.cuDeviceGet(ctypes.byref(device), 0)
        for round in range(2):
            assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
            assert cuda.cuCtxSetCurrent(context) == 0
            pointer = ctypes.c_uint64()
            assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) == 0
            for _ in range(50):
                assert cuda.cuMemsetD8Async(pointer, 0, ctypes.c_size_t(1 << 20), None) == 0
            assert cuda.cuCtxSynchronize() == 0
            assert cuda.cuDevicePrimaryCtxReset_v2(device) == 0
        begin = time.monotonic()
        proton.finalize(session)
        print(time.monotonic() - begin)
        """,
        tmp_path,
    )
    assert done.returncode == 0, show(done)
    assert float(done.stdout) < 20, show(done)
    counts, proton_key = summary_of(tmp_path / "run.hatchet")
    assert counts.get("<memset>") == 100, (counts, proton_key)


def test_a_kernel_that_crashes_the_device_is_told(torch: Any, tmp_path: Path) -> None:
    """An illegal access ends all work of the context: the file is written and says so."""
    (tmp_path / "bad.py").write_text(BAD_KERNEL)  # Triton reads a kernel's source from its file
    done = run(
        """
        import bad, proton, torch
        x = torch.ones(16, device="cuda")
        session = proton.start("run", backend="cupti")
        x.add_(1)
        torch.cuda.synchronize()
        bad.store_far_away[(1,)](x, 1 << 44)
        try:
            torch.cuda.synchronize()
        except Exception as error:
            print("torch said:", type(error).__name__)
        proton.finalize(session)
        print("written")
        """,
        tmp_path,
    )
    assert "written" in done.stdout, show(done)
    _, proton_key = summary_of(tmp_path / "run.hatchet")
    assert any("failed with" in text for text in proton_key["warnings"]), proton_key


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"TRITON_PROFILE_BUFFER_SIZE": "many"}, "whole number of bytes"),
        ({"TRITON_PROFILE_BUFFER_SIZE": "17"}, "is no good for CUPTI"),
        ({"TRITON_CUPTI_LIB_PATH": "/nowhere"}, "holds no libcupti that can be used"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(
    torch: Any, tmp_path: Path, environment: dict[str, str], message: str
) -> None:
    done = run(
        """
        import proton
        proton.start("run", backend="cupti")
        print("started")
        """,
        tmp_path,
        **environment,
    )
    assert done.returncode != 0, show(done)
    assert message in done.stderr, show(done)
    assert "started" not in done.stdout


def test_a_hidden_gpu_means_the_interpreter_and_an_error_for_cupti(
    torch: Any, tmp_path: Path
) -> None:
    done = run(
        """
        import proton
        try:
            session = proton.start("run", backend="cupti")
            proton.finalize(session)
            print("no error")
        except proton.errors.BackendUnavailable as error:
            print("refused:", error)
        """,
        tmp_path,
        CUDA_VISIBLE_DEVICES="",
    )
    assert done.returncode == 0, show(done)
    assert "Traceback" not in done.stderr, show(done)


def test_the_process_is_as_fast_after_a_session_as_before(torch: Any, tmp_path: Path) -> None:
    x = torch.ones(16, device="cuda")

    def pass_ns() -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(5000):
            x.add_(1)
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - begin) / 5000

    for _ in range(3):
        pass_ns()
    before = min(pass_ns() for _ in range(7))
    session = proton.start(str(tmp_path / "run"), backend="cupti")
    during = min(pass_ns() for _ in range(3))
    proton.finalize(session)
    # The machine has slow seconds, in which nothing can be told; what stays in the way stays.
    after: list[float] = []
    while len(after) < 5 and not (after and after[-1] < before * 1.10):
        if after:
            time.sleep(1)
        after.append(min(pass_ns() for _ in range(7)))
    windows = [round(each) for each in after]
    assert after[-1] < before * 1.10, f"ns a launch: {before=:.0f} {during=:.0f} after={windows}"
