"""Autotuning without a GPU: each configuration runs once, interpreted; what came of it is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from proton import _native, _triton
from proton._triton import InterpreterParts

SCOPE_NAME = "<autotune>"


class Autotuning:
    """Takes the place of Triton's benchmark step, which needs a GPU driver."""

    def __init__(
        self, parts: InterpreterParts, on_record: Callable[[Mapping[str, object]], None]
    ) -> None:
        self._parts = parts
        self._on_record = on_record
        self._trials = _Trials()
        self._tuned: list[tuple[Any, Any]] = []  # autotuner and key of every choice made here

    def forget(self) -> None:
        """Drop the choices made on interpreted times: a GPU will choose for itself."""
        while self._tuned:
            autotuner, key = self._tuned.pop()
            autotuner.cache.pop(key, None)

    def run(
        self,
        autotuner: Any,
        original: Callable[..., Any],
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Triton's `Autotuner.run`, with a record of the configurations it tried."""
        outer, self._trials.current = self._trials.current, []
        known = set(autotuner.cache)
        # times on disk are of a GPU, and looking them up asks its driver
        uses_disk, autotuner.cache_results = autotuner.cache_results, False
        try:
            return original(autotuner, *args, **kwargs)
        finally:
            autotuner.cache_results = uses_disk
            self._tuned += [(autotuner, key) for key in autotuner.cache if key not in known]
            trials, self._trials.current = self._trials.current, outer
            if trials:
                self._on_record(_record(autotuner, trials, args, kwargs))

    def make_bench(self) -> Callable[..., Any]:
        """What replaces `Autotuner._bench`."""
        autotuning = self

        def bench(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
            return autotuning._try(self, args, config, meta)

        return bench

    def _try(self, autotuner: Any, args: tuple[Any, ...], config: Any, meta: dict[str, Any]) -> Any:
        if conflicts := meta.keys() & config.kwargs.keys():
            raise ValueError(
                f"autotuned parameters {sorted(conflicts)} are also given by the launch of kernel "
                f"{autotuner.base_fn.__name__!r}; give each in one place"
            )
        if _triton.knobs().autotuning.print:
            print(f"Autotuning kernel {autotuner.base_fn.__name__} with config {config}")
        current = {**meta, **config.all_kwargs()}
        arguments = {**autotuner.nargs, **current}
        error: Exception | None = None
        start_ns = end_ns = 0
        with _native.Scope(SCOPE_NAME):
            try:
                if config.pre_hook:
                    config.pre_hook(arguments)
                autotuner.pre_hook(arguments)
                start_ns = time.monotonic_ns()
                try:
                    autotuner.fn.run(*args, **current)
                finally:
                    end_ns = time.monotonic_ns()
            except Exception as raised:  # one configuration that fails leaves the others
                error = raised
            autotuner.post_hook(arguments, exception=error)
        time_ns = None if error else end_ns - start_ns
        self._trials.current.append((config, time_ns, error))
        # Triton takes the smallest: a list, as of its own benchmark
        return [float("inf") if time_ns is None else time_ns / 1e6] * 3


class _Trials(threading.local):
    """The trials of the autotuning run under way on this thread."""

    def __init__(self) -> None:
        self.current: list[tuple[Any, int | None, Exception | None]] = []


def _record(
    autotuner: Any,
    trials: list[tuple[Any, int | None, Exception | None]],
    args: list[Any],
    kwargs: dict[str, Any],
) -> dict[str, object]:
    times = [time_ns for _, time_ns, _ in trials if time_ns is not None]
    winner = next((i for i, trial in enumerate(trials) if times and trial[1] == min(times)), None)
    named = {**dict(zip(autotuner.arg_names, args, strict=False)), **kwargs}
    return {
        "kernel": autotuner.base_fn.__name__,
        "key": [_plain(named[name]) for name in autotuner.keys if name in named],
        "path": _native.context_path(),
        "configs": [_config(*trial) for trial in trials],
        "winner": winner,
        "interpreted": True,
    }


def _config(config: Any, time_ns: int | None, error: Exception | None) -> dict[str, object]:
    entry: dict[str, object] = {
        "config": str(config),
        "kwargs": {name: _plain(value) for name, value in config.kwargs.items()},
        "num_warps": config.num_warps,
        "num_stages": config.num_stages,
        "time_ns": time_ns,
    }
    if error is not None:
        entry["error"] = f"{type(error).__name__}: {error}"
    return entry


def _plain(value: Any) -> Any:
    """A value that JSON knows."""
    return value if isinstance(value, bool | int | float | str | type(None)) else str(value)
