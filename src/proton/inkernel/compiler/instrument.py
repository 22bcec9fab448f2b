"""Switches in-kernel recording on and off, for all kernels or for some.

`begin` and `end` are what sessions call: meanwhile Triton's compiler has our passes in it, and keys
of its caches are salted, so that a kernel which is loaded already gets a twin with records and is
itself again afterwards, with nothing compiled twice. `instrument` and `restore` are what users call
to choose kernels and modes; a choice counts while a session of this kind records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, overload

from proton import _triton
from proton._mode_text import BaseMode
from proton._triton import compiler as _triton_compiler
from proton._triton.compiler import wrap_function
from proton._triton.types import Wrapped
from proton.errors import UsageError
from proton.inkernel.compiler.budget import Budgets
from proton.inkernel.compiler.compile_hook import CompileHook, read_warnings
from proton.inkernel.compiler.overridden_files import read_records_in_files, watch_files
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.compiler.torch_compile import watch_torch_compile
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode
from proton.inkernel.modes.mode_table import parse_instrumentation

F = TypeVar("F")
Warn = Callable[[str], None]


class Handle:
    """One user of recording; recording is off when all have ended."""

    def __init__(self, mode: InstrumentationMode, warn: Warn) -> None:
        self.mode = mode
        self._warn = warn
        self._said: set[str] = set()
        self.is_paused = False

    def say(self, text: str) -> None:
        """Warn, once for each text."""
        if text not in self._said:
            self._said.add(text)
            self._warn(text)

    def pause(self) -> None:
        """Want no records for now; kernels are plain while no user wants any."""
        _switch.set_paused(self, True)

    def resume(self) -> None:
        """Want records again; kernels that were launched before are compiled already."""
        _switch.set_paused(self, False)

    def end(self) -> None:
        """Stop recording for this user; calling it again does nothing."""
        _switch.leave(self)


class _Switch:
    """Our places in Triton, taken by the first handle and given back by the last."""

    def __init__(self) -> None:
        self._open: list[Handle] = []
        self._undo: list[Callable[[], None]] = []
        self._forget_import: Callable[[], None] = lambda: None
        self._budgets = Budgets(self.say)
        self._noted: dict[int, object] = {}
        self._lock = threading.RLock()  # taken before that of `choice`

    def after_fork(self) -> None:
        """In a forked child: a thread of the parent may have held the lock."""
        self._lock = threading.RLock()

    def enter(self, handle: Handle) -> None:
        with self._lock:
            if self._open and self._open[0].mode != handle.mode:
                raise UsageError(
                    f"kernels are recorded in mode {str(self._open[0].mode)!r} already and cannot "
                    f"be in mode {str(handle.mode)!r} at the same time; finalize that session "
                    "first, or join the two with '+' in both"
                )
            self._open.append(handle)
            try:
                if len(self._open) == 1:
                    choice.set_session(handle.mode)
                    self._forget_import = _triton.when_imported(self._install)
                else:
                    self._pause_if_all_do()
            except BaseException:
                self.leave(handle)
                raise

    def set_paused(self, handle: Handle, is_paused: bool) -> None:
        with self._lock:
            handle.is_paused = is_paused
            if handle in self._open:
                self._pause_if_all_do()

    def _pause_if_all_do(self) -> None:
        choice.pause(all(each.is_paused for each in self._open))

    def leave(self, handle: Handle) -> None:
        with self._lock:
            if handle not in self._open:
                return
            self._open.remove(handle)
            if self._open:
                self._pause_if_all_do()
                return
            choice.set_session(None)
            self._forget_import()
            while self._undo:
                self._undo.pop()()
            self._budgets.forget()
            self._noted.clear()

    def handles(self) -> tuple[Handle, ...]:
        """The users of recording."""
        return tuple(self._open)

    def say(self, text: str) -> None:
        """Warn every user of recording."""
        for handle in self.handles():
            handle.say(text)

    def _install(self) -> None:
        if not _triton.is_supported():
            self.say(
                f"kernels are not recorded: this is Triton {_triton.version()} and records are "
                "known to work in 3.6 to 3.9; install one of those"
            )
            return
        hook = CompileHook(self.say)
        self._undo.append(hook.remove)
        hook.install()
        self._undo.append(read_records_in_files(self.say))
        self._undo.append(watch_files())
        self._undo.append(watch_torch_compile(self.say))
        for owner, name, make in (
            (_triton_compiler.jit_function_class(), "run", self._make_run),
            (_triton.autotuner_class(), "_bench", _make_bench),
        ):
            self._undo.append(wrap_function(owner, name, make))

    def _note(self, kernel: object) -> None:
        """Pass on what was said when a kernel that came out of Triton's cache was compiled."""
        if id(kernel) in self._noted:
            return
        self._noted[id(kernel)] = kernel  # kept, so that its id stays its own
        for text in read_warnings(getattr(kernel, "metadata", None)):
            self.say(text)

    def _make_run(self, original: Wrapped) -> Wrapped:
        """A launch that says which kernel it is of: a mode may have been chosen for it."""
        budgets, note = self._budgets, self._note

        def run(self: object, *args: object, **kwargs: object) -> object:
            if choice.is_launching(self):
                return original(self, *args, **kwargs)
            if choice.session is None:
                with choice.launching_plainly():
                    return original(self, *args, **kwargs)

            def launch() -> object:
                choice.decide()
                return original(self, *args, **kwargs)

            with choice.launching(self):
                chosen = choice.current()
                if chosen is not None and chosen.mode.budget and not kwargs.get("warmup"):
                    kernel = budgets.launch(self, chosen, launch)
                else:
                    kernel = launch()
            note(kernel)
            return kernel

        return run


def _make_bench(original: Wrapped) -> Wrapped:
    """Trials of an autotuner run plain: records must not decide which configuration wins."""

    def bench(self: object, *args: object, **kwargs: object) -> object:
        with choice.plainly():
            return original(self, *args, **kwargs)

    return bench


_switch = _Switch()


def begin(mode: InstrumentationMode, *, warn: Warn) -> Handle:
    """Record in every kernel that is compiled or launched from now on, until `Handle.end`.

    Args:
        mode: For kernels that `instrument` chose no other for.
        warn: Called with one line for every kernel that cannot be recorded as asked.

    Raises:
        UsageError: kernels are recorded in another mode at this time.
    """
    handle = Handle(mode, warn)
    _switch.enter(handle)
    return handle


def forget_locks() -> None:
    """In a forked child: threads of the parent may have held them."""
    choice.after_fork()
    _switch.after_fork()


class EveryKernel:
    """What `instrument` chose for every kernel; as a decorator, it is for one kernel alone."""

    def __init__(self, mode: InstrumentationMode) -> None:
        self._mode, self._before = mode, choice.choose_everywhere(mode)

    def __call__(self, fn: F) -> F:
        """Choose `fn` alone: other kernels are recorded as before.

        Raises:
            UsageError: `fn` is no kernel.
        """
        choice.undo_everywhere(self._mode, self._before)
        choice.choose(_kernel_of(fn), self._mode)
        return fn

    def __repr__(self) -> str:
        return f"<mode {str(self._mode)!r} for every kernel>"


@overload
def instrument(fn: None = None, mode: str | BaseMode = "default") -> EveryKernel: ...


@overload
def instrument(fn: F, mode: str | BaseMode = "default") -> F: ...


def instrument(fn: object = None, mode: str | BaseMode = "default") -> object:
    """Record inside `fn` in this mode while a session of backend "instrumentation" is active.

    Args:
        fn: A kernel: what `@triton.jit`, `@gluon.jit` or an autotuner around one made. None: every
            kernel that was not chosen by itself.
        mode: What to record: `"ops"`, `"loops:cap=8+mma"`, or an object of `proton.mode`.

    Returns:
        `fn`, so that `@proton.instrument` may stand above `@triton.jit`. Without `fn`, what makes
        `@proton.instrument(mode="ops")` there choose the kernel below it, and no other.

    Raises:
        UsageError: `fn` is no kernel, or the mode means nothing.

    Example:
        >>> proton.instrument(matmul, mode="loops")
        >>> proton.start("run", backend="instrumentation")
    """
    parsed = parse_instrumentation(mode)
    if fn is None:
        return EveryKernel(parsed)
    choice.choose(_kernel_of(fn), parsed)
    return fn


def restore(fn: object = None) -> None:
    """Take back what `instrument` chose: for one kernel, or for all.

    Raises:
        UsageError: `fn` is no kernel, or nothing was chosen for it.
    """
    kernel = None if fn is None else _kernel_of(fn)
    if not choice.take_back(kernel):
        if fn is None:
            raise UsageError("no kernel is instrumented; there is nothing to restore")
        raise UsageError(f"{fn!r} is not instrumented; there is nothing to restore")


def _kernel_of(fn: object) -> object:
    kernel = _triton_compiler.jit_function_of(fn)
    if kernel is None:
        hint = f"; a mode is given as mode={fn!r}" if isinstance(fn, str) else ""
        if type(fn).__name__ == "InterpretedFunction":
            hint = "; an interpreted kernel has no machine code to record in"
        raise UsageError(
            f"{fn!r} is no kernel; pass what @triton.jit or @gluon.jit made, or leave it out for "
            f"all kernels{hint}"
        )
    return kernel
