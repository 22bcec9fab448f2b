"""The page's autotuning runs: configurations tried, what each cost, the winner and by how much."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any

from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.page.pack import Columns


def autotune_part(profile: TreeProfile, columns: Columns) -> dict[str, Any] | None:
    """The autotuning runs of a profile, in the order in which they were made; None without any."""
    if not profile.autotune:
        return None
    wanted = {name for record in profile.autotune for name in _path(record)}
    rows = _rows_by_path(profile.tree, wanted)
    return {"runs": [_run(record, rows) for record in profile.autotune]}


def _run(record: Mapping[str, Any], rows: Mapping[tuple[int, str], int]) -> dict[str, Any]:
    path = _path(record)
    configs = [each for each in _list(record.get("configs")) if isinstance(each, Mapping)]
    times = [_number(config.get("time_ns")) for config in configs]
    winner = record.get("winner")
    is_known = type(winner) is int and 0 <= winner < len(configs)
    best_ns = times[winner] if is_known and type(winner) is int else None
    others = sorted(
        time
        for at, time in enumerate(times)
        if time is not None and not (is_known and at == winner)
    )
    return {
        "kernel": str(record.get("kernel") or ""),
        "key": [str(value) for value in _list(record.get("key"))],
        "path": path,
        "row": _row_of(path, rows),
        "interpreted": bool(record.get("interpreted")),
        "winner": winner if is_known else None,
        "best_ns": best_ns,
        "over_next": _ratio(others[0] if others else None, best_ns),
        "over_median": _ratio(median(others) if others else None, best_ns),
        "over_worst": _ratio(others[-1] if others else None, best_ns),
        "failed": sum("error" in config for config in configs),
        "tuning_ns": sum(time for time in times if time is not None) or None,
        "configs": [
            _config(config, time, best_ns) for config, time in zip(configs, times, strict=True)
        ],
    }


def _config(
    config: Mapping[str, Any], time_ns: float | None, best_ns: float | None
) -> dict[str, Any]:
    kwargs = config.get("kwargs")
    error = config.get("error")
    return {
        "config": str(config.get("config") or ""),
        "kwargs": {str(name): str(value) for name, value in kwargs.items()}
        if isinstance(kwargs, Mapping)
        else {},
        "num_warps": _number(config.get("num_warps")),
        "num_stages": _number(config.get("num_stages")),
        "time_ns": time_ns,
        "over_best": _ratio(time_ns, best_ns),
        "registers": _number(config.get("registers")),
        "spills": _number(config.get("spills")),
        "shared_bytes": _number(config.get("shared_bytes")),
        "error": None if error is None else str(error),
    }


def _ratio(time_ns: float | None, best_ns: float | None) -> float | None:
    """How many times as long as the winner."""
    return None if time_ns is None or not best_ns else time_ns / best_ns


def _number(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _path(record: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in _list(record.get("path"))]


def _rows_by_path(tree: Tree, wanted: Collection[str]) -> dict[tuple[int, str], int]:
    """Parent and name -> row, for names that are asked for."""
    found: dict[tuple[int, str], int] = {}
    for row, (frame, parent) in enumerate(zip(tree.frames, tree.parents, strict=True)):
        if frame.name in wanted:
            found.setdefault((parent, frame.name), row)
    return found


def _row_of(path: Sequence[str], rows: Mapping[tuple[int, str], int]) -> int | None:
    """The context that a run was made in; None where the tree lacks it."""
    row: int | None = 0
    for name in path:
        row = None if row is None else rows.get((row, name))
    return row if path else None
