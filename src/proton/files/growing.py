"""Profiles as they lie in a folder, also those that a running job still writes.

A stored profile is one whole file, or what a session has left of itself so far: the files of its
phases and the journal of the open one. `open_growing` reads what is whole and says what is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proton.errors import FormatError
from proton.files.detect import (
    find_parts,
    is_part,
    is_same_run,
    join_phases,
    of_one_run,
    open_file,
    part_name,
    with_suffix,
)
from proton.files.encoding.schema import FORMAT_OF_SUFFIX
from proton.files.export import export_of_path
from proton.files.journal.format import SUFFIX as JOURNAL_SUFFIX
from proton.files.journal.format import is_alive, read_facts
from proton.files.journal.read import describe
from proton.model.profile import Profile

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """One profile of a folder. Without `whole` it is the phases and the journal of a session."""

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


def find_recordings(folder: Path) -> list[StoredProfile]:
    """The recordings that lie in `folder` itself, by name; links that lead out of it are left out.

    Raises:
        FormatError: It is no folder that can be read.
    """
    try:
        inside = folder.resolve(strict=True)
        entries = sorted(entry.name for entry in os.scandir(inside) if _is_within(entry, inside))
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror or error}") from None
    whole: list[StoredProfile] = []
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
            whole.append(StoredProfile(name, path))
    sessions = [
        StoredProfile(
            stem, None, tuple(sorted(parts.get(stem, ()), key=_phase)), journals.get(stem)
        )
        for stem in {**parts, **journals}
    ]
    return sorted([*whole, *sessions], key=lambda each: each.name)


def _is_within(entry: os.DirEntry[str], folder: Path) -> bool:
    """Whether an entry is a regular file of this folder, not one elsewhere behind a link."""
    if not entry.is_file():
        return False
    return not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(folder)


def _phase(path: Path) -> int:
    return part_name(path)[1] if is_part(path) else 0


def find_recording(path: str | os.PathLike[str]) -> StoredProfile:
    """The recording that a path names: a file, one of the parts of a session, or its name.

    Raises:
        FormatError: There is none.
    """
    asked = Path(path)
    if asked.suffix == f".{JOURNAL_SUFFIX}":
        asked = asked.with_suffix("")
    file = with_suffix(asked)
    if os.path.exists(file) and not is_part(file):
        return StoredProfile(file.name, file)
    parts = tuple(find_parts(asked).values())
    stem = part_name(parts[0])[0] if parts else _without_suffix(asked)
    journal = asked.with_name(f"{stem}.{JOURNAL_SUFFIX}")
    found = journal if os.path.exists(journal) else None
    if not parts and found is None:
        raise FormatError(f"{os.fspath(path)}: no such file")
    return StoredProfile(stem, None, parts, found)


def _without_suffix(path: Path) -> str:
    return path.stem if path.suffix.removeprefix(".") in FORMAT_OF_SUFFIX else path.name


def stamp(recording: StoredProfile) -> Stamp:
    """What changes whenever one of its files does."""
    found = []
    for path in recording.files:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((path.name, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)


def open_growing(recording: StoredProfile, source: str | None = None) -> Profile:
    """The profile as it stands: what cannot be read of a session is left out and warned of.

    Raises:
        FormatError: Nothing of it can be read; the text says whether the file may still grow.
    """
    if recording.whole is not None:
        return open_file(recording.whole, source or os.fspath(recording.whole))
    journal = recording.journal
    open_phase, failures = None, []
    if journal is not None:
        try:
            open_phase = open_file(journal, os.fspath(journal))
        except FormatError as error:
            failures.append(str(error))
    phases, unread = read_phases(recording.parts, journal, open_phase)
    failures += unread
    if not phases:
        raise FormatError(failures[0] if failures else f"{recording.name}: no such file")
    texts = [f"left out: {text}" for text in failures]
    return join_phases(phases, source or recording.name, texts)


def read_phases(
    parts: tuple[Path, ...], journal: Path | None, open_phase: Profile | None
) -> tuple[dict[int, Profile], list[str]]:
    """The phases of a session by number, and what is left out.

    `open_phase` is what the journal holds. The files may be ahead of it: that phase may have been
    written since it was saved, and later ones too. Files of other runs do not count.
    """
    phases: dict[int, Profile] = {}
    failures: list[str] = []
    for path in parts:
        try:
            profile = open_file(path, os.fspath(path))
        except FormatError as error:
            failures.append(str(error))
        else:
            phases[_phase(path)] = replace(profile, phases=(_phase(path),))
    if journal is not None and open_phase is not None:
        return _with_open_phase(phases, open_phase, read_facts(journal) or {}), failures
    if not phases:
        return {}, failures
    kept, others = of_one_run(phases)
    return kept, failures + others


def _with_open_phase(
    phases: Mapping[int, Profile], open_phase: Profile, facts: Mapping[str, Any]
) -> dict[int, Profile]:
    """Those of the same run and what the journal adds; the last says up to when all is known."""
    found = {number: each for number, each in phases.items() if is_same_run(each, open_phase)}
    number = facts.get("phase") or 0
    about = describe(facts, open_phase.header.end_time_ns)
    if number not in found or not has_all(found[number], open_phase):
        others = tuple(text for text in open_phase.warnings if text != about)
        found[number] = replace(open_phase, warnings=others)
    end_ns = max(each.header.end_time_ns or 0 for each in found.values())
    last = found[max(found)]
    text = describe(facts, end_ns or None)
    found[max(found)] = replace(last, warnings=(*last.warnings, text))
    return found


def has_all(part: Profile, open_phase: Profile) -> bool:
    """Whether the file of a phase was written after its journal, by the same run."""
    end_ns, saved_ns = part.header.end_time_ns or 0, open_phase.header.end_time_ns or 0
    return is_same_run(part, open_phase) and end_ns >= saved_ns
