"""Cubins of Triton kernels, for the lines of samples: out of Triton's memory, or of its cache.

CUPTI hands a module's cubin over when it is loaded; those of modules that were loaded before the
session, and the PTX that tells what was inlined where, are Triton's to give.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proton import _triton


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of Triton's cache is looked at; the newest comes first."""

    files: int = 4096
    size_bytes: int = 256 << 20
    time_s: float = 1.0


def in_memory(known: set[str]) -> Iterator[tuple[bytes, str]]:
    """Cubin and PTX of the kernels of this process that are not `known` yet; then they are."""
    for key, cubin, ptx in _triton.compiled_kernels():
        if key not in known:
            known.add(key)
            yield cubin, ptx


def in_cache(folder: str | None, limits: Limits | None = None) -> Iterator[tuple[bytes, str]]:
    """Cubin and PTX of what lies in Triton's cache, newest first, as far as the limits go."""
    limits = limits or Limits()
    end = time.monotonic() + limits.time_s
    left = limits.size_bytes
    for path in _newest(folder, end)[: limits.files]:
        if time.monotonic() > end:
            return
        try:
            if (size := path.stat().st_size) > left:
                return
            cubin = path.read_bytes()
        except OSError:  # cleared meanwhile
            continue
        left -= size
        yield cubin, _text_beside(path)


def _newest(folder: str | None, end: float) -> list[Path]:
    """The cubins of a folder of folders, the last written first."""
    found: list[tuple[float, str]] = []
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() > end:
                    break
                if entry.is_dir():
                    found += _cubins(entry.path)
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _cubins(folder: str) -> list[tuple[float, str]]:
    try:
        with os.scandir(folder) as entries:
            cubins = [entry for entry in entries if entry.name.endswith(".cubin")]
        return [(entry.stat().st_mtime, entry.path) for entry in cubins]
    except OSError:  # cleared meanwhile
        return []


def _text_beside(path: Path) -> str:
    try:
        return path.with_suffix(".ptx").read_text(errors="replace")
    except OSError:
        return ""
