"""CUPTI's own look-up of source lines, held against ours.

`python -m tests.support.cupti_lines LIBCUPTI FILE.cubin...` prints one JSON object; run it in a
process of its own, as a process opens one libcupti for good. Needs no GPU.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any


class Correlation(ctypes.Structure):
    """CUpti_GetSassToSourceCorrelationParams."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("cubin", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("cubin_size", ctypes.c_size_t),
        ("line", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("file", ctypes.c_void_p),
        ("folder", ctypes.c_void_p),
    ]


def look_up(cupti: Any, cubin: bytes, function: str, offset: int) -> tuple[str, int] | None:
    """The file's name and the line that CUPTI gives for an instruction; None: it knows none."""
    size = ctypes.sizeof(Correlation)
    asked = Correlation(size, cubin, function.encode(), len(cubin), 0, offset, None, None)
    if cupti.cuptiGetSassToSourceCorrelation(ctypes.byref(asked)) != 0 or asked.line == 0:
        return None
    name = ctypes.string_at(asked.file).decode() if asked.file else ""
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(asked.file)
    free(asked.folder)
    return os.path.basename(name), asked.line


def compare(cupti: Any, image: bytes, ptx: str) -> tuple[int, list[str]]:
    """How many instructions CUPTI knows the line of, and where we differ from it."""
    from proton import _native

    cubin = _native.Cubin(image, ptx)
    known, differences = 0, []
    for name in cubin.functions():
        offsets = list(range(0, len(cubin.code(name)), 16))
        for offset, frames in zip(offsets, cubin.locate(name, offsets), strict=True):
            if cubin.routine(name, offset) != name:
                continue  # CUPTI gives routines behind a kernel the kernel's last line
            theirs = look_up(cupti, image, name, offset)
            if theirs is None:
                continue
            known += 1
            # CUPTI knows the innermost place only
            ours = (os.path.basename(frames[-1][0]), frames[-1][1]) if frames else None
            if ours != theirs:
                differences.append(f"{name}+{offset:#x}: CUPTI {theirs}, Proton {frames}")
    return known, differences


def main(library: str, *paths: str) -> None:
    cupti = ctypes.CDLL(library)
    found = {}
    for path in map(Path, paths):
        ptx = path.with_suffix(".ptx")
        text = ptx.read_text() if ptx.exists() else ""
        known, differences = compare(cupti, path.read_bytes(), text)
        found[path.stem] = {"known": known, "differences": differences[:20]}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
