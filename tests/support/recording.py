"""In-kernel recording switched on for a while, and a GPU that kernels are compiled for unseen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

from proton.inkernel.compiler.instrument import begin
from proton.inkernel.modes.mode_table import parse_instrumentation


@contextmanager
def recording(mode: str) -> Iterator[list[str]]:
    """Record in this mode; yields the warnings."""
    warnings: list[str] = []
    handle = begin(parse_instrumentation(mode), warn=warnings.append)
    try:
        yield warnings
    finally:
        handle.end()


@contextmanager
def absent_gpu(arch: int = 90) -> Iterator[None]:
    """Let kernels be compiled by their own `warmup`, as for a launch on a GPU of this kind."""
    before = driver._active
    target = GPUTarget("cuda", arch, 32)
    fake: Any = SimpleNamespace(
        get_current_target=lambda: target,
        get_current_device=lambda: 0,
        get_current_stream=lambda device: 0,
        get_active_torch_device=lambda: None,
    )
    driver.set_active(fake)
    try:
        yield
    finally:
        driver._active = before
