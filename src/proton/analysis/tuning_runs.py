"""Autotuning runs: configurations tried, what each cost, the winner and by how much.

Records come from files, and readers do not check what is in them: here they get their types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from proton.model.profile import TreeProfile
from proton.model.tree import Steps, row_at


@dataclass(frozen=True, slots=True)
class TunedConfig:
    """One configuration that was tried; null: not known."""

    config: str
    kwargs: Mapping[str, str]
    num_warps: float | None
    num_stages: float | None
    time_ns: float | None
    over_best: float | None  # how many times as long as the winner
    registers: float | None
    spills: float | None
    shared_bytes: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class TuningRun:
    """One autotuning run. `row` is the context it was made in; null where the tree lacks it."""

    kernel: str
    key: Sequence[str]
    path: Sequence[str]
    row: int | None
    interpreted: bool
    winner: int | None
    best_ns: float | None
    over_next: float | None  # the second best, as many times as long as the winner
    over_median: float | None
    over_worst: float | None
    failed: int
    configs: Sequence[TunedConfig]


def tuning_runs(profile: TreeProfile) -> list[TuningRun]:
    """The autotuning runs of a profile, in the order in which they were made."""
    steps = profile.tree.steps() if profile.autotune else {}
    return [_run(record, steps) for record in profile.autotune]


def _run(record: Mapping[str, object], steps: Steps) -> TuningRun:
    path = _texts(record.get("path"))
    configs = [config for config in _list(record.get("configs")) if isinstance(config, Mapping)]
    times = [_number(config.get("time_ns")) for config in configs]
    winner = record.get("winner")
    best = winner if type(winner) is int and 0 <= winner < len(configs) else None
    best_ns = None if best is None else times[best]
    others = sorted(time for at, time in enumerate(times) if time is not None and at != best)
    return TuningRun(
        kernel=str(record.get("kernel") or ""),
        key=_texts(record.get("key")),
        path=path,
        row=row_at(steps, path) if path else None,
        interpreted=bool(record.get("interpreted")),
        winner=best,
        best_ns=best_ns,
        over_next=_ratio(others[0] if others else None, best_ns),
        over_median=_ratio(median(others) if others else None, best_ns),
        over_worst=_ratio(others[-1] if others else None, best_ns),
        failed=sum("error" in config for config in configs),
        configs=[
            _config(config, time, best_ns) for config, time in zip(configs, times, strict=True)
        ],
    )


def _config(
    config: Mapping[str, object], time_ns: float | None, best_ns: float | None
) -> TunedConfig:
    kwargs = config.get("kwargs")
    error = config.get("error")
    return TunedConfig(
        config=str(config.get("config") or ""),
        kwargs={str(name): str(value) for name, value in kwargs.items()}
        if isinstance(kwargs, Mapping)
        else {},
        num_warps=_number(config.get("num_warps")),
        num_stages=_number(config.get("num_stages")),
        time_ns=time_ns,
        over_best=_ratio(time_ns, best_ns),
        registers=_number(config.get("registers")),
        spills=_number(config.get("spills")),
        shared_bytes=_number(config.get("shared_bytes")),
        error=None if error is None else str(error),
    )


def _ratio(time_ns: float | None, best_ns: float | None) -> float | None:
    """How many times as long as the winner."""
    return None if time_ns is None or not best_ns else time_ns / best_ns


def _number(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def _texts(value: object) -> list[str]:
    return [str(part) for part in _list(value)]
