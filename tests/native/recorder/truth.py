"""What a recording must give: rows of the profiles that were written when it was taken, and kernel
counts of another profiler. Stored beside the recording as JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = tuple[int, int]  # runs, nanoseconds
Rows = dict[str, Row]
SEPARATOR = "\x1f"  # between the names of a path


def rows_of(file: Path) -> Rows:
    """Path -> runs and time of every kernel, copy and graph of a hatchet file."""
    found: Rows = {}
    pending: list[tuple[str, Any]] = [("", json.loads(file.read_bytes())[0])]
    while pending:
        path, node = pending.pop()
        metrics = node["metrics"]
        if "count" in metrics and path:
            assert path not in found, path
            found[path] = metrics["count"], metrics["time (ns)"]
        for child in node["children"]:
            name = child["frame"]["name"]
            pending.append((f"{path}{SEPARATOR}{name}" if path else name, child))
    return dict(sorted(found.items()))


def profiles_of(folder: Path) -> dict[str, Rows]:
    """File name -> rows, of every tree in a folder."""
    return {path.name: rows_of(path) for path in sorted(folder.glob("*.hatchet"))}


def losses_of(folder: Path) -> dict[str, dict[str, int]]:
    """File name -> what was lost, of every tree in a folder."""
    headers = {
        path.name: json.loads(path.read_bytes())[0].get("proton", {})
        for path in sorted(folder.glob("*.hatchet"))
    }
    return {name: header.get("losses", {}) for name, header in headers.items()}


def count_names(profiles: Iterable[Rows]) -> Counter[str]:
    """Name of a kernel, copy or graph -> runs, wherever they were made."""
    counts: Counter[str] = Counter()
    for rows in profiles:
        for path, (count, _) in rows.items():
            counts[path.rpartition(SEPARATOR)[2]] += count
    return counts


def from_json(profiles: dict[str, dict[str, list[int]]]) -> dict[str, Rows]:
    """Profiles as `profiles_of` gives them, from a file of truths."""
    return {
        name: {path: (count, time_ns) for path, (count, time_ns) in rows.items()}
        for name, rows in profiles.items()
    }
