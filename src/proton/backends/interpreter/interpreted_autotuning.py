"""Autotuning without a GPU: each configuration runs once, interpreted; what came of it is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from proton import _native, _triton
from proton._triton.interpreter import InterpreterParts
from proton.backends.common.autotune_record import SCOPE_NAME, Trial, Trials, describe


class Autotuning:
    """Takes the place of Triton's benchmark step, which needs a GPU driver."""

    def __init__(
        self, parts: InterpreterParts, on_record: Callable[[Mapping[str, object]], None]
    ) -> None:
        self._parts = parts
        self._on_record = on_record
        self._trials = Trials()
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
        known = set(autotuner.cache)
        # times on disk are of a GPU, and looking them up asks its driver
        uses_disk, autotuner.cache_results = autotuner.cache_results, False
        try:
            with self._trials.recorded(
                autotuner, args, kwargs, self._on_record, is_interpreted=True
            ):
                return original(autotuner, *args, **kwargs)
        finally:
            autotuner.cache_results = uses_disk
            self._tuned += [(autotuner, key) for key in autotuner.cache if key not in known]

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
        message = describe(error) if error else None
        self._trials.current.append(Trial(config, time_ns, message))
        # Triton takes the smallest: a list, as of its own benchmark
        return [float("inf") if time_ns is None else time_ns / 1e6] * 3
