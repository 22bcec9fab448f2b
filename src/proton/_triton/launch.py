"""The door to Triton's launches, for kernels that record about themselves.

Every function imports what it needs of Triton when it is called. Works with Triton 3.6 to 3.9.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from proton import _triton
from proton._triton import compiler as _triton_compiler
from proton._triton.types import LoadedKernel, Wrapped

Undo = Callable[[], None]
# bytes, alignment, stream -> address
Allocator = Callable[[int, int, int | None], int]


def set_profile_allocator(allocator: Allocator, afterwards: Allocator) -> Undo:
    """Have `allocator` called, on the launching thread, for the buffer of a kernel that records.

    Args:
        allocator: While sessions record.
        afterwards: From then on, where the program had none: Triton's own refuses every launch.

    Returns:
        What puts the allocator of before back, unless somebody has set another one meanwhile.
    """
    allocation: Any = importlib.import_module("triton.runtime._allocation")
    place = allocation._profile_allocator
    before = place.get()
    place.set(allocator)

    def undo() -> None:
        if place.get() is allocator:
            place.set(afterwards if isinstance(before, allocation.NullAllocator) else before)

    return undo


def exit_hooks() -> Any:
    """Triton's chain of hooks behind a launch; the last one in `calls` is called first."""
    return _triton.runtime_knobs().launch_exit_hook


def loaded_kernels() -> list[LoadedKernel]:
    """The `CompiledKernel`s that the driver has; empty while Triton is not imported."""
    kernels = _triton.kernels_in_memory()
    return [each for each in kernels if getattr(each, "function", None) is not None]


def watch_launches(see: Callable[[LoadedKernel, tuple[object, ...]], None]) -> Undo:
    """Have `see(kernel, arguments)` called before each launch, when the kernel is loaded."""
    compiled = importlib.import_module("triton.compiler.compiler").CompiledKernel

    def make(original: Wrapped) -> Wrapped:
        def launch_metadata(
            self: LoadedKernel, grid: object, stream: object, *arguments: object
        ) -> object:
            described = original(self, grid, stream, *arguments)
            see(self, arguments)
            return described

        return launch_metadata

    return _triton_compiler.wrap_function(compiled, "launch_metadata", make)


def current_stream() -> int:
    """The stream that Triton launches on, on this thread."""
    active = importlib.import_module("triton.runtime.driver").driver.active
    return int(active.get_current_stream(active.get_current_device()))


def cache_clearer() -> Callable[[], None]:
    """What Triton's own benchmarks clear the GPU's cache with, on the current stream."""
    active = importlib.import_module("triton.runtime.driver").driver.active
    cache = active.get_empty_cache_for_benchmark()
    return lambda: active.clear_cache(cache)


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """`triton.jit(function, **options)`."""
    return importlib.import_module("triton").jit(function, **options)


def language() -> Any:
    """`triton.language`."""
    return importlib.import_module("triton.language")
