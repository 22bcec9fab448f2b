"""Routes Triton's launches to the interpreter while any session asks for it, and back after.

One engine serves the process. It replaces methods of Triton's own classes, so it does not matter
when or how a kernel was decorated, and undoing it leaves no trace on any kernel.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from proton._triton.interpreter import interpreter_parts
from proton.backends.interpreter.arguments import ArrayView, as_view, as_views
from proton.backends.interpreter.builder import make_builder_class
from proton.backends.interpreter.interpreted_autotuning import Autotuning
from proton.backends.interpreter.interpreted_launch import Listener, Machine, launch
from proton.backends.interpreter.kernel_functions import KernelTable
from proton.backends.interpreter.patched_language import LanguagePatch
from proton.errors import UsageError


class Engine:
    """The interpreter of this process. Launches of several threads run one after the other."""

    def __init__(self) -> None:
        parts = interpreter_parts()
        builder_class = make_builder_class(parts)
        semantic = parts.interpreter.TritonSemantic(builder_class())
        names = {**vars(parts.interpreter), "interpreter_semantic": semantic}
        self._parts = parts
        patch = LanguagePatch(parts, semantic)
        self._machine = Machine(parts, semantic, patch, builder_class)
        self._kernels = KernelTable(parts, names, patch)
        self._autotuning = Autotuning(parts, self._on_autotune)
        self._listeners: list[Listener] = []
        self._undo = ExitStack()
        self._lock = threading.RLock()
        self._running_thread: int | None = None  # the thread that is inside a kernel
        os.register_at_fork(after_in_child=self._after_fork_in_child)

    def add(self, listener: Listener) -> None:
        """Tell `listener` of every launch from now on; the first one switches interpretation on."""
        if not self._listeners:
            self._install()
        self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        """Forget a listener; with the last one Triton is as it was before."""
        if listener in self._listeners:
            self._listeners.remove(listener)
            if not self._listeners:
                self._uninstall()

    def _on_autotune(self, record: Mapping[str, object]) -> None:
        for listener in tuple(self._listeners):
            listener.on_autotune(record)

    def _after_fork_in_child(self) -> None:
        """Another thread of the parent may have been inside a kernel, holding the lock."""
        if self._running_thread != threading.get_ident():
            self._lock = threading.RLock()
            self._running_thread = None
            self._machine.patch.reset()

    # what takes the place of Triton's methods

    def _run(self, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        grid, is_warmup = kwargs.pop("grid"), kwargs.pop("warmup")
        if isinstance(jitted, self._parts.jit.JITFunction) and jitted.is_gluon():
            raise UsageError(
                f"kernel {jitted.fn.__name__!r} is written in Gluon, which Triton's interpreter "
                "does not know; profile it on a GPU"
            )
        for hook in jitted.pre_run_hooks:
            hook(*args, **kwargs)
        if is_warmup:  # compiles ahead of time on a GPU; there is nothing to compile here
            return
        kernel = self._kernels.kernel(jitted)
        with self._lock:
            outer, self._running_thread = self._running_thread, threading.get_ident()
            try:
                launch(self._machine, kernel, args, kwargs, grid, self._listeners)
            finally:
                self._running_thread = outer

    def _install(self) -> None:
        parts = self._parts
        for kind in (parts.jit.JITFunction, parts.interpreter.InterpretedFunction):
            self._replace(kind, "run", self._make_run())
            self._replace(kind, "__call__", self._make_call(kind.__call__))
        self._replace(parts.Autotuner, "run", self._make_autotuned_run(parts.Autotuner.run))
        self._replace(parts.Autotuner, "_bench", self._autotuning.make_bench())
        for module in (parts.package, parts.package.runtime, parts.jit):
            self._replace(module, "reinterpret", self._make_reinterpret(module.reinterpret))

    def _uninstall(self) -> None:
        self._autotuning.forget()
        self._undo.close()

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._undo.callback(setattr, owner, name, vars(owner)[name])
        setattr(owner, name, value)

    def _make_run(self) -> Callable[..., None]:
        engine = self

        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            engine._run(self, args, kwargs)

        return run

    def _make_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A jitted function that another one calls; outside of kernels as ever."""
        engine = self

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if engine._running_thread != threading.get_ident():
                return original(self, *args, **kwargs)
            return engine._kernels.kernel(self).function(*args, **kwargs)

        return call

    def _make_autotuned_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        autotuning = self._autotuning

        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            # hooks and pruning functions call tensor methods, which numpy arrays lack
            views = {name: as_view(value) for name, value in kwargs.items()}
            return autotuning.run(self, original, as_views(args), views)

        return run

    def _make_reinterpret(self, original: Callable[..., Any]) -> Callable[..., Any]:
        wrapper = self._parts.jit.TensorWrapper

        def reinterpret(tensor: Any, dtype: Any) -> Any:
            value = as_view(tensor)
            return wrapper(value, dtype) if isinstance(value, ArrayView) else original(value, dtype)

        return reinterpret


_engine: Engine | None = None


def shared_engine() -> Engine:
    """The process's engine, made at first use; needs Triton and numpy."""
    global _engine
    if _engine is None:
        _engine = Engine()
    return _engine
