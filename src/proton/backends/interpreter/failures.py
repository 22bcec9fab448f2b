"""Names the kernel, the program and the user's line when an interpreted kernel fails."""

from __future__ import annotations

import os
import textwrap
import traceback
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from proton.errors import KernelError

_LONGEST_TEXT = 400  # Triton's messages print whole blocks


def kernel_error(
    kernel: str,
    program: Sequence[int],
    error: Exception,
    *,
    library_folders: Sequence[str],
) -> KernelError:
    """The error to raise from `error`, which the body of a kernel raised.

    The line is the innermost one outside `library_folders`: the user's, not Triton's.
    """
    where = _user_line(error.__traceback__, library_folders)
    at = f" at {where}" if where else ""
    text = textwrap.shorten(str(error), _LONGEST_TEXT, placeholder=" ...") or "no message"
    x, y, z = program
    return KernelError(
        f"kernel {kernel!r} failed in program ({x}, {y}, {z}){at}: {type(error).__name__}: {text}"
    )


def library_folders(*modules: str) -> tuple[str, ...]:
    """The folders of the modules with these files, and ours and numpy's."""
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = [*modules, np.__file__]
    return (ours + os.sep, *(os.path.dirname(file) + os.sep for file in files))


def _user_line(tb: TracebackType | None, folders: Sequence[str]) -> str | None:
    where = None
    for frame, line in traceback.walk_tb(tb):
        file = frame.f_code.co_filename
        if not file.startswith(tuple(folders)):
            where = f"{file}:{line}"
    return where
