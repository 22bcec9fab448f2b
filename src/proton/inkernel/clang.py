"""Callbacks written in C++: `clang -emit-llvm` where clang is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from proton.errors import BackendUnavailable, UsageError

TRIPLES = {"nvidia": "nvptx64-nvidia-cuda", "amd": "amdgcn-amd-amdhsa"}
LIMIT_S = 60
OLDEST = 17  # 15 and 16 write atomics of NVIDIA that LLVM refuses, 14 pointers with types
NEWEST = 40  # that is looked for by its number
_FLAGS = (
    *("-S", "-emit-llvm", "-O2", "-std=c++17", "-x", "c++", "-nostdinc", "-ffreestanding"),
    *("-fno-exceptions", "-fno-rtti", "-fno-stack-protector"),
)
_FLAGS_OF = {"nvidia": (), "amd": ("-nogpulib",)}  # ROCm's libraries need not be there


def compile_callbacks(source: str | Path, output: str | Path, vendor: str = "nvidia") -> Path:
    """Compile a file of C++ to LLVM IR that `call-at` takes; returns `output`.

    Callbacks are `extern "C"`; nothing of a standard library is there. Pointers to the profile
    buffer are `__attribute__((address_space(1)))`.

    Raises:
        BackendUnavailable: there is no clang, or none that is new enough.
        UsageError: clang refuses the source, with its words, or the vendor is unknown.
    """
    if vendor not in TRIPLES:
        raise UsageError.unknown("vendor", vendor, choices=TRIPLES)
    command = [_find_clang(), *_FLAGS, *_FLAGS_OF[vendor], f"--target={TRIPLES[vendor]}"]
    command += [str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise UsageError(f"{source}: clang refuses it: {' '.join(done.stderr.split())[:400]}")
    return Path(output)


def _find_clang() -> str:
    """The first on PATH that is new enough: `clang++`, `clang`, then the newest with a number."""
    names = ["clang++", "clang"]
    names += [f"{name}-{at}" for at in range(NEWEST, OLDEST - 1, -1) for name in names]
    found = list(filter(None, map(shutil.which, names)))
    versions = {path: _version(path) for path in found}
    for path, version in versions.items():
        if version >= OLDEST:
            return path
    oldest = "".join(f"{path} is version {version}; " for path, version in versions.items())
    raise BackendUnavailable(
        "callbacks in C++",
        reason=f"{oldest}{OLDEST} is the oldest that will do"
        if found
        else "there is no clang on PATH",
        remedy=f"install clang {OLDEST} or later, or write the callback as LLVM IR",
    )


@cache
def _version(clang: str) -> int:
    """The first number of its version; 0 where it does not say."""
    done = subprocess.run([clang, "--version"], capture_output=True, text=True, timeout=LIMIT_S)
    matched = re.search(r"version (\d+)", done.stdout)
    return int(matched[1]) if matched else 0
