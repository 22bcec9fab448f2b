"""Recordings as they lie in a folder, also those that a running job still writes.

A recording is one whole file, or what a session has left of itself so far: the files of its phases
and the journal of the open one. `open_growing` reads what is whole and says what is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proton.errors import FormatError
from proton.files.detect import open_file, with_suffix
from proton.files.export import export_of_path
from proton.files.journal_format import SUFFIX as JOURNAL_SUFFIX
from proton.files.journal_format import is_alive, read_facts
from proton.files.parts import find_parts, gap_warnings, is_part, part_name
from proton.files.schema import FORMAT_OF_SUFFIX
from proton.model.merge import merge_profiles
from proton.model.profile import Profile

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of a folder. Without `whole` it is the phases and the journal of a session."""

    name: str  # of the file, or of the session: "run"
    whole: Path | None = None
    parts: tuple[Path, ...] = ()
    journal: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it is read from."""
        single = [path for path in (self.whole, self.journal) if path is not None]
        return (*self.parts, *single)

    @property
    def stem(self) -> str:
        """What its files are called without phase and suffix."""
        return self.name if self.whole is None else self.whole.stem

    @property
    def is_open(self) -> bool:
        """Whether a process of this machine still records it."""
        return self.journal is not None and is_alive(read_facts(self.journal) or {})


def find_recordings(folder: Path) -> list[Recording]:
    """The recordings that lie in `folder` itself, by name; links that lead out of it are left out.

    Raises:
        FormatError: It is no folder that can be read.
    """
    try:
        inside = folder.resolve(strict=True)
        entries = sorted(entry.name for entry in os.scandir(inside) if _is_within(entry, inside))
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror or error}") from None
    whole: list[Recording] = []
    parts: dict[str, list[Path]] = {}
    journals: dict[str, Path] = {}
    for name in entries:
        path = folder / name
        suffix = path.suffix.removeprefix(".")
        if suffix == JOURNAL_SUFFIX:
            journals[path.stem] = path
        elif suffix not in FORMAT_OF_SUFFIX or export_of_path(path):
            continue
        elif is_part(path):
            parts.setdefault(part_name(path)[0], []).append(path)
        else:
            whole.append(Recording(name, path))
    sessions = [
        Recording(stem, None, tuple(sorted(parts.get(stem, ()), key=_phase)), journals.get(stem))
        for stem in {**parts, **journals}
    ]
    return sorted([*whole, *sessions], key=lambda each: each.name)


def _is_within(entry: os.DirEntry[str], folder: Path) -> bool:
    """Whether an entry is a regular file of this folder, not one elsewhere behind a link."""
    if not entry.is_file():
        return False
    return not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(folder)


def _phase(path: Path) -> int:
    return part_name(path)[1]


def find_recording(path: str | os.PathLike[str]) -> Recording:
    """The recording that a path names: a file, one of the parts of a session, or its name.

    Raises:
        FormatError: There is none.
    """
    asked = Path(path)
    if asked.suffix == f".{JOURNAL_SUFFIX}":
        asked = asked.with_suffix("")
    file = with_suffix(asked)
    if os.path.exists(file) and not is_part(file):
        return Recording(file.name, file)
    parts = tuple(find_parts(asked).values())
    stem = part_name(parts[0])[0] if parts else _without_suffix(asked)
    journal = asked.with_name(f"{stem}.{JOURNAL_SUFFIX}")
    found = journal if os.path.exists(journal) else None
    if not parts and found is None:
        raise FormatError(f"{os.fspath(path)}: no such file")
    return Recording(stem, None, parts, found)


def _without_suffix(path: Path) -> str:
    return path.stem if path.suffix.removeprefix(".") in FORMAT_OF_SUFFIX else path.name


def stamp(recording: Recording) -> Stamp:
    """What changes whenever one of its files does."""
    found = []
    for path in recording.files:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((path.name, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)


def open_growing(recording: Recording, source: str | None = None) -> Profile:
    """The profile as it stands: what cannot be read of a session is left out and warned of.

    Raises:
        FormatError: Nothing of it can be read; the text says whether the file may still grow.
    """
    if recording.whole is not None:
        return open_file(recording.whole, source or os.fspath(recording.whole))
    journal = recording.journal
    facts = {} if journal is None else read_facts(journal) or {}
    phases, failures = read_phases(recording.parts, facts)
    if journal is not None:
        try:
            phases[facts.get("phase") or 0] = open_file(journal, os.fspath(journal))
        except FormatError as error:
            failures.append(str(error))
    if not phases:
        raise FormatError(failures[0] if failures else f"{recording.name}: no such file")
    if len({profile.tree is None for profile in phases.values()}) > 1:
        raise FormatError(f"{recording.name}: some of its parts are trees and some are traces")
    joined = join_phases(phases, source or recording.name)
    return replace(joined, warnings=(*joined.warnings, *(f"left out: {text}" for text in failures)))


def read_phases(
    parts: tuple[Path, ...], facts: Mapping[str, Any]
) -> tuple[dict[int, Profile], list[str]]:
    """The phases of a session by number, and what cannot be read.

    Where the `facts` of a journal are known, only what the same process wrote before it counts.
    """
    phases: dict[int, Profile] = {}
    failures: list[str] = []
    for path in parts:
        number = _phase(path)
        if facts and number >= (facts.get("phase") or 0):
            continue
        try:
            profile = open_file(path, os.fspath(path))
        except FormatError as error:
            failures.append(str(error))
            continue
        if not facts or profile.header.pid == facts.get("pid"):
            phases[number] = replace(profile, phases=(number,))
    return phases, failures


def join_phases(phases: Mapping[int, Profile], source: str) -> Profile:
    """The phases of one session as one profile, which says what is missing between them."""
    ordered = [phases[number] for number in sorted(phases)]
    merged = merge_profiles(ordered, source) if len(ordered) > 1 else ordered[0]
    return replace(merged, source=source, warnings=(*merged.warnings, *gap_warnings(phases.keys())))
