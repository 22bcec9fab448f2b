"""Which contexts are code of installed packages, not the program's own.

With `context="python"` most frames between a line of the program and its kernel belong to torch,
Triton or the standard library. Viewers can hide them; pages and the terminal hide the same, because
both ask here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from proton.analysis.select import Mask
from proton.model.frame import Frame, FrameKind
from proton.model.library_files import is_library_file
from proton.model.metric import MetricKind
from proton.model.tree import Tree

# Traces know frames by names only: `file:12@function`, in those of torch `file(12): function`.
_FRAME = re.compile(r"(?s)(?P<file>.+?)(?::(?P<line>\d{1,9})@.+|\((?P<at>\d{1,9})\): .+)")


def is_library(frame: Frame) -> bool:
    """Whether a frame is Python code of an installed package or of the standard library.

    Scopes, kernels and lines inside of kernels are none, whoever wrote them.
    """
    file = python_file(frame)
    return file is not None and is_library_file(file)


def python_file(frame: Frame) -> str | None:
    """The file of a Python frame; None for all others."""
    if frame.kind is FrameKind.PYTHON and frame.file is not None:
        return frame.file
    if frame.kind not in (FrameKind.PYTHON, FrameKind.SCOPE):
        return None
    return python_place(frame)[0]


def python_place(frame: Frame) -> tuple[str | None, int]:
    """The file and line of a frame that is one of Python by its kind or its name; else None."""
    if frame.kind is FrameKind.PYTHON and frame.file is not None:
        return frame.file, frame.line or 0
    found = _FRAME.fullmatch(frame.name)
    return (None, 0) if found is None else (found["file"], int(found["line"] or found["at"]))


def library_names(names: Sequence[str]) -> list[int]:
    """Places of the names of spans that are frames of libraries."""
    return [at for at, name in enumerate(names) if is_library(Frame(name))]


def library_rows(tree: Tree, kind_of: Callable[[str], MetricKind]) -> Mask:
    """The rows that can be hidden: frames of libraries.

    One that measured what does not add up to its parents, such as a time of the host, stays: no
    other row can show it.
    """
    library = {frame: is_library(frame) for frame in set(tree.frames)}
    inclusive: dict[str, bool] = {}
    mask = bytearray(len(tree))
    for row, (frame, own) in enumerate(zip(tree.frames, tree.own, strict=True)):
        if not library[frame]:
            continue
        for metric in own:
            if metric not in inclusive:
                inclusive[metric] = kind_of(metric) is MetricKind.INCLUSIVE
        mask[row] = all(inclusive[metric] for metric in own)
    return mask
