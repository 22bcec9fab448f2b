"""Switches whose effect depends on the real GPU: those for Blackwell, on whatever GPU is here."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti.gpu_capability import BLACKWELL, newest_capability, text_of

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

SCRIPT = """
import proton
session = proton.start("run", backend="cupti")
import torch
x = torch.ones(1000, device="cuda")
x.add_(1)
proton.finalize(session)
print("kernels", open("run.hatchet").read().count('"count"'))
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One session that starts before the program uses the GPU, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )


def show(done: subprocess.CompletedProcess[str]) -> str:
    return f"exit {done.returncode}\n{done.stdout}\n{done.stderr[-4000:]}"


def capability_of(torch: Any) -> int:
    found = [torch.cuda.get_device_capability(each) for each in range(torch.cuda.device_count())]
    return max(int(major) * 10 + int(minor) for major, minor in found)


def test_the_newest_capability_is_torchs_and_found_without_cuda(torch: Any) -> None:
    code = (
        "from proton.backends.cupti.gpu_capability import newest_capability\n"
        "from proton.backends.common.knobs import Knobs\n"
        "import ctypes\n"
        "found = newest_capability(Knobs())\n"
        "count = ctypes.c_int()\n"
        "print(found, ctypes.CDLL('libcuda.so.1').cuDeviceGetCount(ctypes.byref(count)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [str(capability_of(torch)), "3"], show(done)  # not initialised
    assert newest_capability(Knobs()) == capability_of(torch)


def test_hardware_trace_is_on_or_says_why_not(torch: Any, tmp_path: Path) -> None:
    done = run(tmp_path, TRITON_ENABLE_HW_TRACE="1")
    assert done.returncode == 0, show(done)
    assert "kernels 0" not in done.stdout, show(done)
    said = done.stderr.count("TRITON_ENABLE_HW_TRACE has no effect")
    capability = capability_of(torch)
    if capability < BLACKWELL:
        assert said == 1, show(done)
        assert f"the newest one here has {text_of(capability)}" in done.stderr, show(done)
    else:
        assert said == 0, show(done)


def test_the_path_for_blackwell_is_for_blackwell(torch: Any, tmp_path: Path) -> None:
    done = run(tmp_path, TRITON_CUPTI_LIB_BLACKWELL_PATH="/nowhere")
    if capability_of(torch) < BLACKWELL:
        assert done.returncode == 0, show(done)
        assert "kernels 0" not in done.stdout, show(done)
    else:
        assert done.returncode != 0, show(done)
        assert "TRITON_CUPTI_LIB_BLACKWELL_PATH='/nowhere' holds no libcupti" in done.stderr
