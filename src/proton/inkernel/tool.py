"""A tool of one's own: its passes, how its buffers are read, and what happens when one arrives.

A tool is a mode, so `proton.instrument(kernel, mode=MyTool())` and `proton.start(mode=MyTool())`
take it, and after `register` its name is one, too. `launch` runs a kernel once with a tool in it,
by itself, without a session, and `compile_kernel` compiles one where there is no GPU.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from proton import _torch, _triton
from proton._mode_text import NAME
from proton.errors import UsageError
from proton.inkernel.compiler.compile_hook import KernelRecords, read_records, read_warnings
from proton.inkernel.compiler.instrument import begin
from proton.inkernel.memory_counts import tensor_ranges
from proton.inkernel.modes.instrumentation_mode import SHARED, InstrumentationMode, option_fields
from proton.inkernel.modes.mode_table import MODES
from proton.inkernel.passes import convert_option, load_pass_class, register_pass
from proton.inkernel.tool_layouts import RecordLayout, ToolBuffer

_log = logging.getLogger("proton")
_OWN_MODES = tuple(MODES)


@dataclass(frozen=True)
class Tool(InstrumentationMode):
    """Base of tools: derive, give `name`, `passes` and `layout`, and write `on_buffer`.

    `passes` is a pass or several: classes (see docs/internals/passes.md), or names of those there
    are; fields that are called as a pass's options become them. In text, as in `waits:least=8`, a
    field is read as what its default is: a number, a truth, words. Buffers arrive one after the
    other, on a thread of Proton's.

    Raises:
        UsageError: something of that is missing; the message says what to write.

    Example:
        >>> @dataclass(frozen=True)
        ... class Waits(Tool):
        ...     name: str = field(default="waits", init=False)
        ...     passes: ClassVar[Any] = ("record-async-waits",)
        ...     layout: ClassVar[RecordLayout] = RecordsLayout()
        ...
        ...     def on_buffer(self, buffer: ToolBuffer) -> None:
        ...         print(buffer.kernel, buffer.contents.regions)
    """

    passes: ClassVar[Any] = ()  # names, once the class is made
    layout: ClassVar[RecordLayout | None] = None
    name: str = field(default="", init=False)
    code: str = ""  # digest of the tool's source: caches never mix two versions of a tool

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        listed = (cls.passes,) if isinstance(cls.passes, str | type) else cls.passes or ()
        cls.passes = tuple(
            each if isinstance(each, str) else register_pass(each) for each in listed
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read_options()
        kind = type(self).__name__
        if not self.name:
            raise UsageError(
                f"tool {kind} has no name; add: "
                'name: str = field(default="my-tool", init=False), below @dataclass(frozen=True)'
            )
        if not re.fullmatch(NAME, self.name, re.ASCII) or self.name in _OWN_MODES:
            raise UsageError(
                f"{self.name!r} is no name for a tool ({kind}): it becomes part of a mode's text; "
                f"take letters, digits, '-' and '_', and none of {', '.join(_OWN_MODES)}"
            )
        if not hasattr(self.layout, "read"):
            raise UsageError(
                f"tool {self.name!r} has no layout, so nobody can read its buffers; add: "
                "layout: ClassVar[RecordLayout] = RecordsLayout(), or MemoryLayout(), BytesLayout "
                "or an object with read(buffer)"
            )
        if isinstance(self.layout, type):
            layout = self.layout.__name__
            raise UsageError(
                f"tool {self.name!r}: layout {layout} is a class; give an object: {layout}()"
            )
        if not self.passes:
            raise UsageError(
                f"tool {self.name!r} has no passes, so it would record nothing; add: "
                "passes: ClassVar = (MyPass,), or names that proton-opt --list shows"
            )
        if type(self).on_buffer is Tool.on_buffer:
            raise UsageError(f"tool {self.name!r} has no on_buffer(self, buffer); write it")
        self._set("code", self.code or _digest_of(type(self)))

    def _read_options(self) -> None:
        """Options of its own that came as text, in a mode's, become what their defaults are."""
        for each in option_fields(type(self)):
            value = getattr(self, each.name)
            if each.name not in SHARED and isinstance(value, str):
                what = f"tool {self.name!r}: option {each.name!r}"
                self._set(each.name, convert_option(what, value, each.default))

    def on_buffer(self, buffer: ToolBuffer) -> None:
        """A launch has left a buffer: `buffer.contents` is what `layout` read in it."""
        raise NotImplementedError


def deliver(tool: Tool, buffer: ToolBuffer) -> bool:
    """Hand a buffer to its tool; whether it took it. Errors of a tool are warnings, not ours."""
    try:
        tool.on_buffer(buffer)
    except Exception as error:  # a stranger's code, on a thread of ours
        _log.warning(
            "tool %r failed on a buffer of kernel %r: %s: %s",
            *(tool.name, buffer.kernel, type(error).__name__, error),
        )
        return False
    return True


T = TypeVar("T", bound=type[Tool])


def register(tool: T) -> T:
    """Make a tool's name a mode's; a decorator for tools at the top of their module.

    Raises:
        UsageError: the name is taken, or the class stands inside a function.
    """
    name = tool().name
    target = f"{tool.__module__}:{tool.__qualname__}"
    if MODES.setdefault(name, target) != target:
        raise UsageError(f"mode {name!r} is there already ({MODES[name]}); name the tool otherwise")
    if "." in tool.__qualname__:
        del MODES[name]
        raise UsageError(f"tool {name!r} stands inside {tool.__qualname__!r}; put it into a module")
    return tool


def launch(
    tool: Tool, kernel: Any, grid: Sequence[int], *arguments: Any, **options: Any
) -> ToolBuffer:
    """Launch a kernel once with a tool in it, wait, and hand its buffer to the tool.

    For trying tools out, and for programs without a session. Needs torch and a GPU.

    Raises:
        UsageError: the kernel could not be recorded; the message says why.
    """
    if not _torch.is_imported():
        raise UsageError("tool.launch gives its buffer as a tensor of torch; import torch first")
    buffers: list[Any] = []

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        buffers.append(_torch.zeroed_buffer(size, alignment))
        return buffers[-1]

    handle = begin(tool, warn=lambda text: _log.warning("%s", text))
    try:
        with _triton.profile_allocator(allocate):
            compiled = kernel[tuple(grid)](*arguments, **options)
            _torch.synchronize()
    finally:
        handle.end()
    records = read_records(compiled.metadata)
    if records is None or not buffers:
        why = "; ".join(read_warnings(compiled.metadata)) or "it has nothing that the tool records"
        raise UsageError(f"tool {tool.name!r} got nothing of kernel {compiled.name!r}: {why}")
    assert tool.layout is not None
    left = _torch.bytes_of(buffers[-1])
    ctas = len(left) // records.scratch_bytes  # of clusters, too, which the grid does not count
    ranges = tensor_ranges(getattr(kernel, "arg_names", ()), arguments)
    buffer = ToolBuffer(compiled.name, left, records.record_map, ctas, tool.layout, ranges)
    tool.on_buffer(buffer)
    return buffer


def compile_kernel(tool: Tool, source: Any, target: Any) -> tuple[Any, KernelRecords | None]:
    """Compile a kernel with a tool in it, with no GPU.

    Args:
        tool: Whose passes to run.
        source: Triton's `ASTSource` of the kernel.
        target: Triton's `GPUTarget`.

    Returns:
        Triton's compiled kernel, and what it records; None: nothing, and a warning said why.
    """
    handle = begin(tool, warn=lambda text: _log.warning("%s", text))
    try:
        compiled = _triton.compile_kernel(source, target)
    finally:
        handle.end()
    return compiled, read_records(compiled.metadata)


def _digest_of(tool: type[Tool]) -> str:
    """A digest of the modules that the tool and its passes are written in."""
    digest = hashlib.sha256()
    for kind in (tool, *map(load_pass_class, tool.passes)):
        try:
            digest.update(inspect.getsource(inspect.getmodule(kind) or kind).encode())
        except (OSError, TypeError):  # typed into a prompt: only names are known
            digest.update(repr(sorted(vars(kind))).encode())
    return digest.hexdigest()[:12]
