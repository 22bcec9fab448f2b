"""The door to Triton's launches: the part of `_triton` for kernels that record about themselves.

Every function imports what it needs of Triton when it is called. Works with Triton 3.6 to 3.9.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from typing import Any

from proton import _triton

Undo = Callable[[], None]
# bytes, alignment, stream -> address
Allocator = Callable[[int, int, int | None], int]


def set_profile_allocator(allocator: Allocator) -> Undo:
    """Have `allocator` called, on the launching thread, for the buffer of a kernel that records.

    Returns:
        What puts the allocator of before back, unless somebody has set another one meanwhile.
    """
    place: Any = importlib.import_module("triton.runtime._allocation")._profile_allocator
    before = place.get()
    place.set(allocator)

    def undo() -> None:
        if place.get() is allocator:
            place.set(before)

    return undo


def exit_hooks() -> Any:
    """Triton's chain of hooks behind a launch; the last one in `calls` is called first."""
    return _triton.runtime_knobs().launch_exit_hook


def loaded_kernels() -> list[Any]:
    """The `CompiledKernel`s that the driver has; empty while Triton is not imported."""
    compiler = sys.modules.get("triton.compiler.compiler")
    kind = getattr(compiler, "CompiledKernel", None)
    if not isinstance(kind, type):
        return []
    return [
        each
        for each in gc.get_referrers(kind)
        if type(each) is kind and getattr(each, "function", None) is not None
    ]


def jit(function: Callable[..., Any]) -> Any:
    """`triton.jit(function)`."""
    return importlib.import_module("triton").jit(function)


def language() -> Any:
    """`triton.language`."""
    return importlib.import_module("triton.language")
