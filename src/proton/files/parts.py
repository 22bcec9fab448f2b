"""The `.part_N` files of a session that was written phase by phase."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path

from proton.files.schema import FORMAT_OF_SUFFIX, SUFFIXES
from proton.model.profile import Profile

_PART = re.compile(
    r"(?P<stem>.+)\.part_(?P<phase>\d{1,18})(?P<suffix>\.[^.]+)?", re.DOTALL
).fullmatch


def is_part(path: Path) -> bool:
    """Whether `path` is named like one part of a set."""
    return _PART(path.name) is not None


def part_name(path: Path) -> tuple[str, int]:
    """What the set of a part is called, and the phase that it holds.

    Raises:
        ValueError: `path` is not named like a part.
    """
    if (match := _PART(path.name)) is None:
        raise ValueError(f"{path}: is not named like a part")
    return match["stem"], int(match["phase"])


def find_parts(path: Path) -> dict[int, Path]:
    """The files of the set that `path` belongs to, by phase.

    `path` may be one of the parts or the name without `.part_N`, with or without its suffix. Empty
    where there is no such set.
    """
    match = _PART(path.name)
    stem = match["stem"] if match else path.stem if path.suffix else path.name
    wanted = (match["suffix"] or "") if match else path.suffix
    if not match and path.suffix.removeprefix(".") not in FORMAT_OF_SUFFIX:
        stem, wanted = path.name, ""
    found: dict[str, dict[int, Path]] = {}
    for entry in _entries(path.parent):
        part = _PART(entry.name)
        if part and part["stem"] == stem and (not wanted or part["suffix"] == wanted):
            found.setdefault(part["suffix"] or "", {})[int(part["phase"])] = entry
    if not found:
        return {}
    suffix = min(found, key=_rank)
    return dict(sorted(found[suffix].items()))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _rank(suffix: str) -> int:
    """Which of several sets of one name is read: in the order of SUFFIXES."""
    known = list(SUFFIXES.values())
    name = suffix.removeprefix(".")
    return known.index(name) if name in known else len(known)


def is_same_run(one: Profile, other: Profile) -> bool:
    """Whether one session wrote both. Foreign files do not tell, and count as one run."""
    a, b = one.header, other.header
    return (a.host, a.pid, a.start_time_ns) == (b.host, b.pid, b.start_time_ns)


def of_one_run(
    phases: Mapping[int, Profile], asked: int | None = None
) -> tuple[dict[int, Profile], list[str]]:
    """The phases of one run, that of phase `asked` or else the newest; what is left out, and why.

    A run with fewer phases than the one before it leaves the last files of that one in place.
    """
    newest = max(phases.values(), key=lambda each: each.header.start_time_ns or 0)
    wanted = newest if asked is None else phases.get(asked, newest)
    kept = {phase: each for phase, each in phases.items() if is_same_run(each, wanted)}
    others = [each.source for phase, each in phases.items() if phase not in kept]
    if not others:
        return kept, []
    listed = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
    return kept, [f"{listed}: of another run; name a part of it to see that run"]


def gap_warnings(phases: Collection[int]) -> tuple[str, ...]:
    """What to say about phases that are missing between 0 and the last one."""
    size = max(phases) + 1
    count = size - len(phases)
    if not count:
        return ()
    missing = islice((phase for phase in range(size) if phase not in phases), 8)
    listed = ", ".join(map(str, missing)) + (", ..." if count > 8 else "")
    return (f"{count} of {size} parts are missing: phase {listed}",)
