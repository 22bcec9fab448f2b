"""Runs one launch of a kernel: hooks, arguments, every program of the grid, and its event.

Where a kernel fails, the error names the kernel, the program and the user's line.
"""

from __future__ import annotations

import os
import textwrap
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np

from proton import _triton
from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter import events
from proton.backends.interpreter.arguments import Argument, ArgumentConverter, as_view
from proton.backends.interpreter.events import Client, KernelLaunch
from proton.backends.interpreter.kernel_functions import Kernel, LaunchTraits
from proton.backends.interpreter.observe import make_observed_class
from proton.backends.interpreter.patched_language import LanguagePatch
from proton.errors import KernelError, UsageError

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


class FinishedLaunch(NamedTuple):
    """What came of a launch; `given` are the metrics that launch metadata gave itself."""

    name: str
    start_ns: int
    end_ns: int
    metrics: Mapping[str, int | float]
    given: frozenset[str]


class Listener(Protocol):
    """A session as the interpreter sees it."""

    def on_launch(self, launch: FinishedLaunch) -> None:
        """Book a launch."""

    def on_failed_launch(self) -> None:
        """Count a launch whose kernel raised."""

    def on_autotune(self, record: Mapping[str, object]) -> None:
        """Keep the outcome of an autotuning run."""


@dataclass(frozen=True)
class Machine:
    """The interpreter of this process: its operations and the language they replace."""

    parts: InterpreterParts
    semantic: Any
    patch: LanguagePatch
    builder_class: type[Any]

    @cached_property
    def library_folders(self) -> tuple[str, ...]:
        """Where code that is not the user's lies."""
        return library_folders(self.parts.package.__file__)

    @cached_property
    def observed_class(self) -> type[Any]:
        """The builder for launches that a client of `events` listens to."""
        return make_observed_class(self.builder_class, self.library_folders)

    def make_builder(self, clients: tuple[Client, ...]) -> Any:
        """A builder for one launch."""
        if not clients:
            return self.builder_class()
        builder = self.observed_class()
        builder.clients = clients
        return builder


def launch(
    machine: Machine,
    kernel: Kernel,
    args: Sequence[Any],
    options: Mapping[str, Any],
    grid: Any,
    listeners: Sequence[Listener],
) -> None:
    """Interpret one launch and tell the listeners that there are when it ends.

    Raises:
        KernelError: the kernel failed; the original error is its cause.
        UsageError: an argument or the grid cannot be used.
    """
    bound = kernel.bind(args, options)
    name = kernel.specialized_name(bound)
    size = _grid_size(kernel.name, grid, bound)
    values, tensors = _converted(machine, kernel, bound)
    metadata = _launch_metadata(machine.parts, kernel, name, size, options, bound)
    knobs = _triton.runtime_knobs()
    clients = events.subscribers
    builder = machine.make_builder(clients)
    builder.begin_launch(tensors, _padded(size), _options(machine.parts, options))
    described = _described(kernel, builder, bound) if clients else None
    if knobs.launch_enter_hook is not None:
        knobs.launch_enter_hook(metadata)
    try:
        start_ns = time.monotonic_ns()
        _run_programs(machine, kernel, builder, values, clients, described)
        end_ns = time.monotonic_ns()
        metrics = builder.metrics()
        if metrics["programs"]:
            finished = FinishedLaunch(name, start_ns, end_ns, metrics, _given(metadata))
            for listener in tuple(listeners):
                listener.on_launch(finished)
    except KernelError:
        for listener in tuple(listeners):
            listener.on_failed_launch()
        raise
    finally:
        if knobs.launch_exit_hook is not None:
            knobs.launch_exit_hook(metadata)


def _run_programs(
    machine: Machine,
    kernel: Kernel,
    builder: Any,
    values: Mapping[str, Any],
    clients: tuple[Client, ...],
    described: Any,
) -> None:
    function, semantic = kernel.function, machine.semantic
    size_x, size_y, size_z = builder.grid_dim
    # a kernel may launch another through host code that it calls
    outer, semantic.builder = semantic.builder, builder
    failure: BaseException | None = None
    machine.patch.apply()
    try:
        for client in clients:
            client.on_kernel_begin(described)
        # lanes that are masked off hold anything: what they compute is nobody's concern
        with np.errstate(all="ignore"):
            for x in range(size_x):
                for y in range(size_y):
                    for z in range(size_z):
                        builder.grid_idx = (x, y, z)
                        for client in clients:
                            client.on_program_begin((x, y, z))
                        function(**values)
    except Exception as error:
        failure = error
        if _triton.knobs().compilation.front_end_debugging:
            raise
        program, folders = builder.grid_idx, machine.library_folders
        raise kernel_error(kernel.name, program, error, library_folders=folders) from error
    finally:
        machine.patch.restore()
        semantic.builder = outer
        for client in clients:
            client.on_kernel_end(described, failure)


def _converted(
    machine: Machine, kernel: Kernel, bound: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Argument]]:
    """What the kernel gets for its arguments, and the tensors among them."""
    converter = ArgumentConverter(machine.parts, machine.semantic, machine.patch, kernel.name)
    constexpr = machine.parts.language.core.constexpr
    values = {}
    for name, value in bound.items():
        if name not in kernel.constexprs:
            values[name] = converter.convert(name, value)
        else:
            values[name] = value.value if isinstance(value, constexpr) else value
    return values, converter.tensors


def _described(kernel: Kernel, builder: Any, bound: Mapping[str, Any]) -> KernelLaunch:
    tensors = {argument.name for argument in builder.arguments}
    code = kernel.function.__code__
    return KernelLaunch(
        name=kernel.name,
        file=code.co_filename,
        line=code.co_firstlineno,
        grid=builder.grid_dim,
        arguments=tuple(builder.arguments),
        scalars={name: value for name, value in bound.items() if name not in tensors},
    )


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
    return parts.interpreter.InterpreterOptions(debug=True, sanitize_overflow=debug)


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
