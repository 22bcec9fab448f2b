"""The record of one autotuning run, as profiles keep it; who ran it is the backend's business."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from proton import _native
from proton._triton.types import Autotuner, Config

SCOPE_NAME = "<autotune>"


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration that was tried.

    Attributes:
        time_ns: what its benchmark said; None where it did not run.
        error: why it did not run.
        resources: what the compiled kernel needs, by the names of the file format.
    """

    config: Config
    time_ns: int | None
    error: str | None = None
    resources: Mapping[str, int] = field(default_factory=dict)


class Trials(threading.local):
    """The trials of the autotuning run under way on this thread."""

    def __init__(self) -> None:
        self.current: list[Trial] = []

    @contextmanager
    def recorded(
        self,
        autotuner: Autotuner,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        on_record: Callable[[dict[str, object]], None],
        *,
        is_interpreted: bool,
    ) -> Iterator[None]:
        """A run of `autotuner`, whose record is handed on if it tried anything; runs may nest."""
        outer, self.current = self.current, []
        try:
            yield
        finally:
            trials, self.current = self.current, outer
            if trials:
                on_record(make_record(autotuner, trials, args, kwargs, is_interpreted))


def describe(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}"


def make_record(
    autotuner: Autotuner,
    trials: Sequence[Trial],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    is_interpreted: bool,
) -> dict[str, object]:
    """What the profile keeps of a run of `autotuner`; docs/reference/file-format has the keys."""
    times = [trial.time_ns for trial in trials if trial.time_ns is not None]
    winner = next(
        (i for i, trial in enumerate(trials) if times and trial.time_ns == min(times)), None
    )
    named = {**dict(zip(autotuner.arg_names, args, strict=False)), **kwargs}
    return {
        "kernel": autotuner.base_fn.__name__,
        "key": [_plain(named[name]) for name in autotuner.keys if name in named],
        "path": _native.context_path(),
        "configs": [_config(trial) for trial in trials],
        "winner": winner,
        "interpreted": is_interpreted,
    }


def _config(trial: Trial) -> dict[str, object]:
    config = trial.config
    entry: dict[str, object] = {
        "config": str(config),
        "kwargs": {name: _plain(value) for name, value in config.kwargs.items()},
        "num_warps": config.num_warps,
        "num_stages": config.num_stages,
        "time_ns": trial.time_ns,
        **trial.resources,
    }
    if trial.error is not None:
        entry["error"] = trial.error
    return entry


def _plain(value: object) -> object:
    """A value that JSON knows."""
    return value if isinstance(value, bool | int | float | str | type(None)) else str(value)
