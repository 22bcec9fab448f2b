"""Callbacks written in C++: `clang -emit-llvm` where clang is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from proton.errors import BackendUnavailable, UsageError

TRIPLES = {"nvidia": "nvptx64-nvidia-cuda", "amd": "amdgcn-amd-amdhsa"}
LIMIT_S = 60
_FLAGS = (
    *("-S", "-emit-llvm", "-O2", "-std=c++17", "-x", "c++", "-nostdinc", "-ffreestanding"),
    *("-fno-exceptions", "-fno-rtti", "-fno-stack-protector"),
)


def compile_callbacks(source: str | Path, output: str | Path, vendor: str = "nvidia") -> Path:
    """Compile a file of C++ to LLVM IR that `call-at` takes; returns `output`.

    Callbacks are `extern "C"`; nothing of a standard library is there. Pointers to the profile
    buffer are `__attribute__((address_space(1)))`.

    Raises:
        BackendUnavailable: there is no clang.
        UsageError: clang refuses the source, with its words, or the vendor is unknown.
    """
    if vendor not in TRIPLES:
        raise UsageError.unknown("vendor", vendor, choices=TRIPLES)
    clang = shutil.which("clang++") or shutil.which("clang")
    if clang is None:
        raise BackendUnavailable(
            "callbacks in C++",
            reason="there is no clang on PATH",
            remedy="install it, or write the callback as LLVM IR",
        )
    command = [clang, *_FLAGS, f"--target={TRIPLES[vendor]}", str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise UsageError(f"{source}: clang refuses it: {' '.join(done.stderr.split())[:400]}")
    return Path(output)
