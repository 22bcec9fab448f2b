"""The door to Triton's compiler, for kernels compiled with records.

Every function imports what it needs of Triton when it is called. Works with Triton 3.6 to 3.9.
"""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from proton import _triton
from proton._triton.types import (
    CompiledKernel,
    IrModule,
    Metadata,
    Stage,
    Target,
    TimingEvent,
    Wrapped,
)

Undo = Callable[[], None]


class NoClockError(LookupError):
    """Launches cannot be timed on their stream; the message says why."""


def jit_function_class() -> type[Any]:
    """`triton.runtime.jit.JITFunction`; kernels in Gluon are of a class below it."""
    kind: type[Any] = importlib.import_module("triton.runtime.jit").JITFunction
    return kind


def jit_function_of(kernel: object) -> object:
    """The kernel itself, inside the autotuners and heuristics around it; None where it is none."""
    if not _triton.is_imported():
        return None
    kind = jit_function_class()
    seen = 0
    while not isinstance(kernel, kind) and hasattr(kernel, "fn") and seen < 32:
        kernel, seen = kernel.fn, seen + 1
    return kernel if isinstance(kernel, kind) else None


def parse_module(text: str, context: object) -> IrModule:
    """A module of TTIR or TTGIR text, read and verified by Triton.

    Raises:
        RuntimeError: Triton refuses it; what it says is on stderr.
    """
    module: IrModule = _triton.parse_mlir(text, context)[0]
    return module


def printed_module(text: str, path: str) -> str:
    """A module of TTIR or TTGIR text as Triton prints it; `path` is where the text is from.

    Raises:
        RuntimeError: Triton refuses it; what it says is on stderr.
    """
    native = _triton.native_module()
    context = native.ir.context()
    for dialects in (native.ir, native.nvidia, native.amd):
        dialects.load_dialects(context)
    module, file = _triton.parse_mlir(text, context)
    return str(module).replace(file, re.sub(r'["\\\n]', "_", path))


def compiler_module() -> ModuleType:
    """`triton.compiler.compiler`: the stages of a kernel, one after the other."""
    return importlib.import_module("triton.compiler.compiler")


def compile_again(source: Any, target: Target, options: Mapping[str, object]) -> CompiledKernel:
    """What Triton makes of a kernel that it has compiled before, out of its cache if it can."""
    compiler = compiler_module()
    count = len(source.fn.params)
    plain = copy.copy(source)
    # from 3.7 on a launch with a hook on stages leaves an attribute behind those of the arguments
    plain.attrs = {path: value for path, value in source.attrs.items() if path[0] < count}
    compiled: CompiledKernel = compiler.compile(plain, target=target, options=dict(options))
    return compiled


def finish(text: str, target: Target, options: object, metadata: Metadata) -> object:
    """What Triton's stages behind `llir` make of LLVM text. LLVM may end the process."""
    compiler = compiler_module()
    language = importlib.import_module("triton.backends.compiler").Language.TRITON
    stages: dict[str, Stage] = {}
    compiler.make_backend(target).add_stages(stages, options, language)
    names = list(stages)
    _triton.native_module().llvm.init_targets()  # as `llir` does
    done: object = text
    for name in names[names.index("llir") + 1 :]:
        done = stages[name](done, metadata)
    return done


def stages_hook() -> Wrapped | None:
    """What Triton calls with the stages of every kernel it compiles."""
    hook: Wrapped | None = _triton.runtime_knobs().add_stages_inspection_hook
    return hook


def set_stages_hook(hook: Wrapped | None) -> None:
    """Have Triton call `hook` with the stages of every kernel it compiles."""
    _triton.runtime_knobs().add_stages_inspection_hook = hook


def salt_keys(salt: Callable[[], str]) -> Undo:
    """Put `salt()` into every key under which Triton 3.6 keeps a compiled kernel.

    From 3.7 on the hook on stages gives its own part of the keys, and nothing is done here. Where
    the program uses Triton's own instrumentation, keys in memory stay as they are:
    `own_instrumentation` says so.

    Returns:
        What takes the salt out again.
    """
    if _triton.version_pair() >= (3, 7):
        return lambda: None
    compiler: Any = compiler_module()
    knobs_class = type(_triton.knobs().compilation)
    inner_key, default = compiler.get_cache_key, knobs_class.instrumentation_mode

    def get_cache_key(*args: object, **kwargs: object) -> str:
        return f"{inner_key(*args, **kwargs)}{salt()}"

    def read(self: object) -> str:
        own = vars(self).get("instrumentation_mode", default)
        return str(own or salt())

    def write(self: object, value: str) -> None:
        vars(self)["instrumentation_mode"] = value

    # a property, not a value: which kernel is launched decides, and threads launch side by side
    knobs_class.instrumentation_mode = property(read, write)
    compiler.get_cache_key = get_cache_key

    def undo() -> None:
        knobs_class.instrumentation_mode = default
        if compiler.get_cache_key is get_cache_key:
            compiler.get_cache_key = inner_key

    return undo


def own_instrumentation() -> str:
    """What the program asked of Triton's own instrumentation; empty: nothing."""
    compilation = _triton.knobs().compilation
    own = vars(compilation).get("instrumentation_mode")
    if own is None:
        found = vars(type(compilation)).get("instrumentation_mode", "")
        own = found if isinstance(found, str) else ""
    return str(own)


def ir_module() -> ModuleType:
    """`triton._C.libtriton.ir`: what reads and builds IR."""
    module: ModuleType = _triton.native_module().ir
    return module


def wrap_function(owner: type | ModuleType, name: str, make: Callable[[Wrapped], Wrapped]) -> Undo:
    """Put `make(original)` in the place of a function of a module, or a method of a class.

    Returns:
        What puts the original back, unless somebody has wrapped ours meanwhile: then it stays, so
        it must pass calls through when it has nothing to do.
    """
    original = vars(owner)[name]
    ours = make(original)
    setattr(owner, name, ours)

    def undo() -> None:
        if vars(owner).get(name) is ours:
            setattr(owner, name, original)

    return undo


def event_maker() -> Callable[[], TimingEvent] | None:
    """What makes events that time a stream: record, query, elapsed_time (ms); None: not now.

    They are those that Triton's own benchmarks use, on the stream that Triton launches on.

    Raises:
        NoClockError: Triton's driver has none.
    """
    driver = importlib.import_module("triton.runtime.driver").driver.active
    try:
        interface = driver.get_device_interface()
    except ImportError as error:
        raise NoClockError(f"that takes torch ({error})") from None
    except AttributeError:
        raise NoClockError(f"{type(driver).__name__} has no events") from None
    is_capturing = getattr(interface, "is_current_stream_capturing", None)
    if is_capturing is not None and is_capturing():
        return None
    return lambda: interface.Event(enable_timing=True)
