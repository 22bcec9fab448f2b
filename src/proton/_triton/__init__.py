"""The only package that imports Triton: each attribute we use, once, typed, when it is asked for.

`compiler` is for kernels compiled with records, `launch` for launches of kernels that record,
`interpreter` for kernels that are interpreted, `types` says what the objects look like.

Importing this module imports nothing of Triton. `when_imported` lets a session start before the
program imports Triton, and costs a program that never does nothing. Works with Triton 3.6 to 3.9.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from proton._import_watch import ImportWatch

LaunchHook = Callable[[Any], None]

_watch = ImportWatch("triton")


def is_imported() -> bool:
    """Whether the program has imported Triton, wholly."""
    module = sys.modules.get("triton")
    # a Triton that is still being imported has no `language` yet
    return module is not None and hasattr(module, "language") and hasattr(module, "jit")


def is_installed() -> bool:
    """Whether `import triton` would find something; imports nothing."""
    return "triton" in sys.modules or importlib.util.find_spec("triton") is not None


def when_imported(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` once Triton is imported: now, or right after the program imports it.

    Returns:
        A function that takes the callback back; calling it late or twice is harmless.
    """
    if is_imported():
        callback()
        return lambda: None
    return _watch.add(callback)


def version() -> str | None:
    """The version of the Triton that is imported or installed; imports nothing."""
    module = sys.modules.get("triton")
    if module is not None and hasattr(module, "__version__"):
        return str(module.__version__)
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None


def is_supported() -> bool:
    """Whether the Triton that is imported or installed is one of 3.6 to 3.9."""
    return (3, 6) <= version_pair() <= (3, 9)


def version_pair() -> tuple[int, int]:
    """Major and minor number of the Triton that is imported or installed; (0, 0) without one."""
    major, minor, *_ = ((version() or "0.0") + ".0").split(".")
    return int(major), int(minor)


def language_core() -> Any:
    """`triton.language.core`."""
    return importlib.import_module("triton.language.core")


def runtime_knobs() -> Any:
    """`triton.knobs.runtime`: launch hooks, interpret, debug."""
    return importlib.import_module("triton.knobs").runtime


def knobs() -> Any:
    """`triton.knobs`."""
    return importlib.import_module("triton.knobs")


def add_launch_hooks(enter: LaunchHook, leave: LaunchHook, *, is_outermost: bool = False) -> None:
    """Have `enter` and `leave` called with the launch's LazyDict around every kernel launch.

    Hooks nest in the order in which they were added; `is_outermost` goes before the others.
    """
    runtime = runtime_knobs()
    for chain, hook in ((runtime.launch_enter_hook, enter), (runtime.launch_exit_hook, leave)):
        if not is_outermost:
            chain.add(hook)
        elif hook not in chain.calls:
            chain.calls.insert(0, hook)  # Triton walks the exits backwards


def remove_launch_hooks(enter: LaunchHook, leave: LaunchHook) -> None:
    """Undo `add_launch_hooks`; harmless where it was not done."""
    runtime = runtime_knobs()
    runtime.launch_enter_hook.remove(enter)
    runtime.launch_exit_hook.remove(leave)


def add_load_hook(hook: Callable[..., None]) -> None:
    """Have `hook` called when Triton has loaded a kernel into the driver."""
    runtime_knobs().kernel_load_end_hook.add(hook)


def remove_load_hook(hook: Callable[..., None]) -> None:
    """Undo `add_load_hook`; harmless where it was not done."""
    runtime_knobs().kernel_load_end_hook.remove(hook)


def autotuner_class() -> type[Any]:
    """`triton.runtime.autotuner.Autotuner`."""
    kind: type[Any] = importlib.import_module("triton.runtime.autotuner").Autotuner
    return kind


def kernels_in_memory() -> list[Any]:
    """All `CompiledKernel`s, whoever keeps them (Triton's own caches, torch.compile)."""
    compiler = sys.modules.get("triton.compiler.compiler")
    kind = getattr(compiler, "CompiledKernel", None)
    if not isinstance(kind, type):
        return []
    return [each for each in gc.get_referrers(kind) if type(each) is kind]


def compiled_kernels() -> list[tuple[str, bytes, str]]:
    """The kernels that this process has compiled or loaded: a key of each, its cubin and its PTX.

    Empty while Triton is not imported.
    """
    found = []
    for kernel in kernels_in_memory():
        texts = getattr(kernel, "asm", None)
        if isinstance(texts, dict) and isinstance(cubin := texts.get("cubin"), bytes):
            ptx = texts.get("ptx")
            key = getattr(kernel, "hash", None)
            found.append((str(key or id(kernel)), cubin, ptx if isinstance(ptx, str) else ""))
    return found


def cache_folder() -> str | None:
    """Where Triton keeps what it compiled; None while Triton is not imported."""
    if not is_imported():
        return None
    return str(knobs().cache.dir)


def compile_kernel(source: Any, target: Any) -> Any:
    """`triton.compile`."""
    return importlib.import_module("triton").compile(source, target=target)


@contextmanager
def profile_allocator(allocate: Callable[[int, int, Any], Any]) -> Iterator[None]:
    """Have `allocate(size, alignment, stream)` give the profile buffers of launches meanwhile."""
    allocation = importlib.import_module("triton.runtime._allocation")
    before = allocation._profile_allocator.get()
    allocation.set_profile_allocator(allocate)
    try:
        yield
    finally:
        allocation._profile_allocator.set(before)


def native_module() -> Any:
    """`triton._C.libtriton`: what reads and builds IR, and LLVM."""
    return importlib.import_module("triton._C.libtriton")


def parse_mlir(text: str, context: object) -> tuple[Any, str]:
    """A module of MLIR text, and the file that operations without a location are placed in.

    Raises:
        RuntimeError: Triton refuses it; what it says is on stderr.
    """
    with tempfile.TemporaryDirectory(prefix="proton-ir-") as folder:
        file = Path(folder, "kernel.ttgir")
        file.write_text(text, encoding="utf-8")
        module = native_module().ir.parse_mlir_module(str(file), context)
    module.context = context
    return module, str(file)


def llvm_parse_error(text: str) -> str | None:
    """Why LLVM refuses the module `text`; None where it reads it. Imports Triton.

    Triton's own way from text to code ends the process on text that does not parse; linking the
    text into an empty module reads it the same way and raises.
    """
    native = native_module()
    with tempfile.TemporaryDirectory(prefix="proton-llvm-") as folder:
        full = Path(folder, "kernel.ll")
        full.write_text(text, encoding="utf-8")
        llvm_context = native.llvm.context()
        target = native.llvm.to_module(_empty_module(), llvm_context)
        try:
            native.llvm.link_extern_libs(target, [str(full)])
        except (ValueError, RuntimeError) as error:
            return str(error).strip() or "LLVM does not say why"
        finally:
            del target, llvm_context  # in this order: the module lives in its context
    return None


def end_on_parse_error(text: str) -> None:
    """Have LLVM read text that `llvm_parse_error` refused: its words go to stderr, and it exits.

    Only for a process of its own: this one ends.
    """
    native = native_module()
    native.llvm.init_targets()
    switches = [False] * (3 if version_pair() >= (3, 8) else 2)
    native.llvm.translate_to_asm(text, "nvptx64-nvidia-cuda", "sm_80", "", [], *switches)


@cache
def _empty_module() -> Any:
    """An MLIR module with nothing to run in it; loading the dialects takes longer than the rest."""
    ir = native_module().ir
    context = ir.context()
    ir.load_dialects(context)
    return parse_mlir("module { llvm.func @proton_empty() }\n", context)[0]


def opaque_value(payload: object) -> Any:
    """`payload` as a value that a compiled kernel may keep and pass on, with no code behind it."""
    return _opaque_class()(payload)


@lru_cache(maxsize=1)
def _opaque_class() -> type[Any]:
    core = language_core()

    def init(self: Any, payload: object) -> None:
        self.payload = payload
        self.type = type_class()
        self.type.payload = payload

    value_class = type(
        "OpaqueValue",
        (core.base_value,),
        {
            "__init__": init,
            "_flatten_ir": lambda self, handles: None,
            "_set_name": lambda self, builder, name: None,
        },
    )
    type_class = type(
        "OpaqueType",
        (core.base_type,),
        {
            "_unflatten_ir": lambda self, handles, at: (value_class(self.payload), at),
            "_flatten_ir_types": lambda self, builder, out: None,
            "__eq__": lambda self, other: getattr(other, "payload", None) == self.payload,
            "__hash__": lambda self: hash(self.payload),
            "mangle": lambda self: f"opaque{hash(self.payload) & 0xFFFFFFFF:x}",
        },
    )
    return value_class
