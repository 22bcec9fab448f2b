"""Autotuning on a GPU: Triton benchmarks as ever; what it tried, and what came of it, is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from proton import _native, _triton
from proton._triton.types import Autotuner, Config, Wrapped
from proton.backends.common.autotune_record import SCOPE_NAME, Trial, Trials, describe

Listener = Callable[[Mapping[str, object]], None]


class AutotuneWatch:
    """Stands in Triton's `Autotuner` while somebody listens. There is one: `shared_watch`."""

    def __init__(self, autotuner_class: type[object]) -> None:
        self._class = autotuner_class
        self._listeners: list[Listener] = []
        self._trials = Trials()
        self._installed: dict[str, tuple[Wrapped, Wrapped]] = {}  # method -> ours, Triton's

    def add(self, listener: Listener) -> None:
        """Call `listener` with the record of every autotuning run from now on."""
        self._listeners.append(listener)
        for name, make in (("run", self._make_run), ("_bench", self._make_bench)):
            if name not in self._installed:
                original = vars(self._class)[name]
                self._installed[name] = make(original), original
                setattr(self._class, name, self._installed[name][0])

    def remove(self, listener: Listener) -> None:
        """Forget a listener; with the last one Triton's methods are back in their places."""
        if listener in self._listeners:
            self._listeners.remove(listener)
        if self._listeners:
            return
        for name, (ours, original) in list(self._installed.items()):
            # where somebody else wrapped ours, it has to stay: it passes calls through
            if vars(self._class)[name] is ours:
                setattr(self._class, name, original)
                del self._installed[name]

    def _make_run(self, original: Wrapped) -> Wrapped:
        watch = self

        def run(self: Autotuner, *args: object, **kwargs: object) -> object:
            if not watch._listeners:
                return original(self, *args, **kwargs)
            with watch._trials.recorded(self, args, kwargs, watch._tell, is_interpreted=False):
                return original(self, *args, **kwargs)

        return run

    def _tell(self, record: Mapping[str, object]) -> None:
        for listener in tuple(self._listeners):
            listener(record)

    def _make_bench(self, original: Wrapped) -> Wrapped:
        watch = self

        def bench(self: Autotuner, *args: object, config: Config, **meta: object) -> object:
            if not watch._listeners:
                return original(self, *args, config=config, **meta)
            compiled: list[object] = []
            errors: list[BaseException] = []
            with _native.Scope(SCOPE_NAME), _noting(self, compiled, errors):
                timings = original(self, *args, config=config, **meta)
            time_ms = timings[0] if isinstance(timings, list | tuple) else timings
            time_ns = None
            if isinstance(time_ms, int | float) and math.isfinite(time_ms):
                time_ns = round(time_ms * 1e6)
            error = describe(errors[-1]) if errors else "it did not run"
            watch._trials.current.append(
                Trial(
                    config,
                    time_ns,
                    error if time_ns is None else None,
                    resources_of(compiled[-1]) if compiled else {},
                )
            )
            return timings

        return bench


@contextmanager
def _noting(
    autotuner: Autotuner, compiled: list[object], errors: list[BaseException]
) -> Iterator[None]:
    """Note the kernel that the benchmark's first launch returns, or why it failed.

    Only the first: later launches, which are timed, go the way they always go.
    """
    function = autotuner.fn
    original = function.run

    def run(*args: object, **kwargs: object) -> object:
        vars(function).pop("run", None)
        try:
            kernel = original(*args, **kwargs)
        except Exception as error:
            errors.append(error)
            raise
        compiled.append(kernel)
        return kernel

    vars(function)["run"] = run
    try:
        yield
    finally:
        vars(function).pop("run", None)


def resources_of(kernel: object) -> dict[str, int]:
    """Registers and spills of a thread and shared memory of a block, where Triton knows them."""
    known = {
        "registers": getattr(kernel, "n_regs", None),
        "spills": getattr(kernel, "n_spills", None),
        "shared_bytes": getattr(getattr(kernel, "metadata", None), "shared", None),
    }
    return {name: value for name, value in known.items() if isinstance(value, int)}


_watch: AutotuneWatch | None = None


def shared_watch() -> AutotuneWatch:
    """The process's watch; Triton must have been imported."""
    global _watch
    if _watch is None:
        _watch = AutotuneWatch(_triton.autotuner_class())
    return _watch
