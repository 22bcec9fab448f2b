"""Cubins of Triton kernels, for the lines of samples: out of Triton's memory, or of its cache.

CUPTI hands a module's cubin over when it is loaded; those of modules that were loaded before the
session, and the PTX that tells what was inlined where, are Triton's to give.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proton import _triton
from proton.errors import BackendUnavailable

Missing = list[tuple[int, str]]  # modules and symbols whose code is not known


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of Triton's cache is looked at; the newest comes first."""

    files: int = 512
    size_bytes: int = 256 << 20
    time_s: float = 1.0


class TritonCubins:
    """Hands what Triton knows of the process's modules to whoever resolves lines.

    Kernels that Triton loads from now on are given as they are loaded. Those that were there before
    are looked for when it is asked to, once: that takes some ten milliseconds in a large program.
    """

    def __init__(self, add: Callable[[bytes, str], None]) -> None:
        """`add` takes a cubin and its PTX, empty where there is none."""
        self._add = add
        self._pid = os.getpid()
        self._is_stale = True
        self._known: set[str] = set()
        self._tried: set[tuple[int, str]] = set()
        self._stop_waiting = _triton.when_imported(lambda: _triton.add_load_hook(self._on_load))

    def hand_over(self, find_missing: Callable[[], Missing]) -> None:
        """Give what was in memory before; for code that is missing then, what the cache has."""
        if self._is_stale:
            self._is_stale = False
            for key, cubin, ptx in _triton.compiled_kernels():
                if key not in self._known:
                    self._known.add(key)
                    self._give(cubin, ptx)
        missing = set(find_missing()) - self._tried
        if missing:
            self._tried |= missing
            for cubin, ptx in in_cache(_triton.cache_folder(), {symbol for _, symbol in missing}):
                self._give(cubin, ptx)

    def stop(self) -> None:
        """Watch Triton no more."""
        self._stop_waiting()
        if _triton.is_imported():
            _triton.remove_load_hook(self._on_load)

    def _on_load(
        self, module: object, function: object, name: str, group: Mapping[str, str], key: str
    ) -> None:
        """A kernel was loaded; `group` has the files that it was made of."""
        if os.getpid() != self._pid:  # a forked child has the hook, but no session
            return
        paths = [Path(path) for path in group.values() if path.endswith(".cubin")]
        try:
            cubins = [(path.read_bytes(), _text_beside(path)) for path in paths]
        except OSError:  # the cache was cleared; memory has it
            self._is_stale = True
            return
        self._known.add(key)
        for cubin, ptx in cubins:
            self._give(cubin, ptx)

    def _give(self, cubin: bytes, ptx: str) -> None:
        try:
            self._add(cubin, ptx)
        except BackendUnavailable:  # CUPTI refuses it; the profile says of which code it has none
            return


def in_cache(
    folder: str | None, symbols: Collection[str], limits: Limits | None = None
) -> Iterator[tuple[bytes, str]]:
    """Cubin and PTX of kernels in Triton's cache, newest first, as far as the limits go."""
    limits = limits or Limits()
    end = time.monotonic() + limits.time_s
    left = limits.size_bytes
    for path in _newest(folder, symbols, end)[: limits.files]:
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


def _newest(folder: str | None, symbols: Collection[str], end: float) -> list[Path]:
    """The cubins of a folder of folders that are of these symbols, the last written first."""
    found: list[tuple[float, str]] = []
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() > end:
                    break
                if entry.is_dir():
                    found += _cubins(entry.path, symbols)
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _cubins(folder: str, symbols: Collection[str]) -> list[tuple[float, str]]:
    try:
        with os.scandir(folder) as entries:
            cubins = [entry for entry in entries if _symbol(entry.name) in symbols]
        return [(entry.stat().st_mtime, entry.path) for entry in cubins]
    except OSError:  # cleared meanwhile
        return []


def _symbol(name: str) -> str | None:
    """The kernel that a file is the cubin of, by its name; None: it is none."""
    return name.removesuffix(".cubin") if name.endswith(".cubin") else None


def _text_beside(path: Path) -> str:
    try:
        return path.with_suffix(".ptx").read_text(errors="replace")
    except OSError:
        return ""
