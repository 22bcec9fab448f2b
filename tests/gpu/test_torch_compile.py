"""In-kernel recording of torch.compile: what it takes, and the warning where that is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proton.files.detect import open_profile

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

WARNING = "kernels of torch.compile are not recorded"
SCRIPT = """
import sys
import time
import torch
import proton

if int(sys.argv[1]) > 1:
    from torch._inductor.async_compile import AsyncCompile
    for _ in range(1200):  # until then torch compiles in this process
        if AsyncCompile.use_process_pool():
            break
        time.sleep(0.1)
session = proton.start("run", backend="instrumentation", mode="ops")
compiled = torch.compile(lambda x: torch.softmax(x * 2 + 1, -1))
x = torch.rand(64, 512, device="cuda")
expected = torch.softmax(x * 2 + 1, -1)
assert torch.allclose(compiled(x), expected)
proton.finalize(session)
"""


def _run(run_python: Callable[..., Any], threads: int, folder: Path) -> tuple[Any, str]:
    done = run_python(
        SCRIPT,
        str(threads),
        env={
            "TORCHINDUCTOR_COMPILE_THREADS": str(threads),
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "TRITON_CACHE_DIR": str(folder / "triton"),
        },
        timeout_s=240,
    )
    assert done.returncode == 0, done.stderr
    return open_profile(folder / "run.hatchet"), done.stderr


def test_kernels_that_this_process_compiles_are_recorded(
    torch: Any, run_python: Callable[..., Any], tmp_path: Path
) -> None:
    profile, said = _run(run_python, 1, tmp_path)
    assert profile.in_kernel, said
    assert all(kernel.regions for kernel in profile.in_kernel), profile.in_kernel
    assert WARNING not in said


def test_kernels_that_workers_compile_are_not_and_that_is_said(
    torch: Any, run_python: Callable[..., Any], tmp_path: Path
) -> None:
    profile, said = _run(run_python, 2, tmp_path)
    assert not profile.in_kernel
    assert [line.startswith(WARNING) for line in said.splitlines()].count(True) == 1, said
    assert any("TORCHINDUCTOR_COMPILE_THREADS=1" in each for each in profile.warnings), said
