"""Runs one launch of a kernel: hooks, arguments, every program of the grid, and its event."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from proton import _triton
from proton._triton import InterpreterParts
from proton.backends.interpreter.arguments import ArgumentConverter, as_view
from proton.backends.interpreter.failures import kernel_error, library_folders
from proton.backends.interpreter.kernels import Kernel, LaunchTraits
from proton.backends.interpreter.language import LanguagePatch
from proton.errors import UsageError


class Recorder(Protocol):
    """Where finished launches go."""

    def on_launch(
        self,
        name: str,
        start_ns: int,
        end_ns: int,
        metrics: Mapping[str, int | float],
        given: frozenset[str],
    ) -> None:
        """Book a launch; `given` are the metrics that launch metadata gave itself."""

    def on_failed_launch(self) -> None:
        """Count a launch whose kernel raised."""


@dataclass(frozen=True)
class Machine:
    """The interpreter of this process: its operations and the language they replace."""

    parts: InterpreterParts
    semantic: Any
    patch: LanguagePatch


def launch(
    machine: Machine,
    kernel: Kernel,
    args: Sequence[Any],
    options: Mapping[str, Any],
    grid: Any,
    recorder: Recorder,
) -> None:
    """Interpret one launch and record it.

    Raises:
        KernelError: the kernel failed; the original error is its cause.
        UsageError: an argument or the grid cannot be used.
    """
    bound = kernel.bind(args, options)
    name = kernel.specialized_name(bound)
    size = _grid_size(kernel.name, grid, bound)
    converter = ArgumentConverter(machine.parts, machine.semantic, kernel.name)
    knobs = _triton.runtime_knobs()
    metadata = _launch_metadata(machine.parts, kernel, name, size, options, bound)
    builder = machine.semantic.builder
    outer = dict(vars(builder))  # a kernel may launch another through host code it calls
    if knobs.launch_enter_hook is not None:
        knobs.launch_enter_hook(metadata)
    try:
        values = {
            key: _constexpr_value(value, machine.parts)
            if key in kernel.constexprs
            else converter.convert(key, value)
            for key, value in bound.items()
        }
        builder.begin_launch(converter.tensors, _padded(size), _options(machine.parts, options))
        try:
            start_ns = time.monotonic_ns()
            _run_programs(machine, kernel, values)
            end_ns = time.monotonic_ns()
            metrics = builder.metrics()
        except Exception:
            recorder.on_failed_launch()
            raise
        finally:
            vars(builder).update(outer)
        if metrics["programs"]:
            recorder.on_launch(name, start_ns, end_ns, metrics, _given(metadata))
    finally:
        if knobs.launch_exit_hook is not None:
            knobs.launch_exit_hook(metadata)


def _run_programs(machine: Machine, kernel: Kernel, values: Mapping[str, Any]) -> None:
    builder, function = machine.semantic.builder, kernel.function
    size_x, size_y, size_z = builder.grid_dim
    machine.patch.apply()
    try:
        # lanes that are masked off hold anything: what they compute is nobody's concern
        with np.errstate(all="ignore"):
            for x in range(size_x):
                for y in range(size_y):
                    for z in range(size_z):
                        builder.grid_idx = (x, y, z)
                        function(**values)
    except Exception as error:
        if _triton.knobs().compilation.front_end_debugging:
            raise
        folders = library_folders(machine.parts.package.__file__)
        raise kernel_error(kernel.name, builder.grid_idx, error, library_folders=folders) from error
    finally:
        machine.patch.restore()


def _grid_size(kernel: str, grid: Any, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    if callable(grid):
        grid = grid(arguments)
    try:
        size = tuple(int(extent) for extent in grid)
    except (TypeError, ValueError):
        size = ()
    if not 1 <= len(size) <= 3 or min(size) < 0:
        raise UsageError(
            f"grid of kernel {kernel!r} is {grid!r}; give a tuple of one to three sizes, "
            "or a function that returns one"
        )
    return size


def _padded(size: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z


def _options(parts: InterpreterParts, options: Mapping[str, Any]) -> Any:
    """Assertions are always on; checks of integer overflow only where the launch asks to debug."""
    debug = bool(options.get("debug")) or bool(_triton.runtime_knobs().debug)
    return parts.InterpreterOptions(debug=True, sanitize_overflow=debug)


def _constexpr_value(value: Any, parts: InterpreterParts) -> Any:
    return value.value if isinstance(value, parts.constexpr) else value


def _launch_metadata(
    parts: InterpreterParts,
    kernel: Kernel,
    name: str,
    size: tuple[int, ...],
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> Any:
    metadata = parts.LazyDict({"name": name, "function": None, "stream": None})
    if kernel.launch_metadata is not None:
        views = {key: as_view(value) for key, value in arguments.items()}
        metadata.add(kernel.launch_metadata, (size, LaunchTraits.of(name, options), views))
    return metadata


def _given(metadata: Any) -> frozenset[str]:
    """What launch metadata gave, where a hook asked for it; never asks itself."""
    values = metadata.data
    return (
        frozenset(values) - {"name", "function", "stream"} if not metadata.extras else frozenset()
    )
