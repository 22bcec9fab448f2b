"""`open_profile`: a path -> Profile, whatever format the file is in."""

from __future__ import annotations

import gc
import os
import re
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from proton.errors import CutShort, FormatError, StillGrowing
from proton.files.encoding.schema import FORMAT_OF_SUFFIX, SUFFIXES
from proton.files.journal.format import SUFFIX, is_alive, is_journal, read_facts
from proton.files.read import read_large_profile, read_profile
from proton.model.merge import merge_profiles
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


def join_phases(
    phases: Mapping[int, Profile], source: str, warnings: Collection[str] = ()
) -> Profile:
    """The phases of one session as one profile, which says what is missing between them.

    Raises:
        FormatError: Some are trees and some are traces.
    """
    if len(set(map(type, phases.values()))) > 1:
        raise FormatError(f"{source}: some of its parts are trees and some are traces")
    ordered = [phases[number] for number in sorted(phases)]
    merged = merge_profiles(ordered, source) if len(ordered) > 1 else ordered[0]
    texts = (*merged.warnings, *gap_warnings(phases), *warnings)
    return replace(merged, source=source, warnings=texts)


_LARGE = 1 << 25  # bytes of a file from which on a copy in memory is worth saving
_FRESH_S = 5.0  # a file that was written to within this may still grow
_SKEW_S = 60.0  # and so may one that a clock running ahead has dated


def open_profile(path: str | os.PathLike[str]) -> Profile:
    """Read the recording at `path`.

    The content says which format it is. A session that was written phase by phase
    (`run.part_0.hatchet`, ...) opens by any of its parts or by its name without `.part_N`, and is
    read as one profile: metrics summed by path, properties as last seen, parts that are missing
    or left over from another run named in `warnings`, as is a journal that a later run left beside
    a whole file. The suffix of a file may be left out.

    Returns:
        A `TreeProfile` or a `TraceProfile`.

    Raises:
        FormatError: There is no such file, it cannot be read, or it is not a profile. One line
            that starts with the path.

    Example:
        >>> open_profile("matmul.hatchet").tree.root.total("time (ns)")
    """
    source = os.fspath(path)
    if not isinstance(source, str) or not source or "\0" in source:
        raise FormatError(f"{source!r}: not a path")
    if source == "-" and not os.path.exists(source):
        raise FormatError("-: no such file; to read standard input name it /dev/stdin")
    asked = Path(source)
    parts = _parts(asked)
    if parts:
        return _open_parts(parts, asked, source)
    file = with_suffix(asked)
    profile = open_file(file, source)
    newer = _newer_journal(file)
    return replace(profile, warnings=(*profile.warnings, newer)) if newer else profile


def _newer_journal(file: Path) -> str:
    """That a later run of the same name has left a journal and no file yet; "" where none has."""
    journal = file.with_suffix(f".{SUFFIX}")
    try:
        is_newer = file != journal and journal.stat().st_mtime_ns > file.stat().st_mtime_ns
    except OSError:
        return ""
    facts = read_facts(journal) if is_newer else None
    if not facts:
        return ""
    if is_alive(facts):
        return f"this is an earlier run: process {facts.get('pid')} records a later one ({journal})"
    return f"this is an earlier run: a later one was killed; see it with: proton-viewer {journal}"


def _parts(path: Path) -> dict[int, Path]:
    """The set to read, or none where `path` is a file of its own."""
    is_whole = os.path.exists(with_suffix(path)) and not is_part(path)
    return {} if is_whole else find_parts(path)


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """The files that `open_profile(path)` reads; none where there are none."""
    asked = Path(path)
    found = [*_parts(asked).values()] or [with_suffix(asked)]
    return [each for each in found if each.exists()]


def open_phases(path: str | os.PathLike[str]) -> list[Profile]:
    """The phases of the session at `path` one by one; none where it is a file of its own.

    Raises:
        FormatError: As `open_profile`.
    """
    asked = Path(path)
    parts = _parts(asked)
    return list(_read_parts(parts, asked)[0].values()) if parts else []


def with_suffix(path: Path) -> Path:
    """`path`, or the file that has it as its name without suffix."""
    candidates = [path, *(Path(f"{path}.{suffix}") for suffix in SUFFIXES.values())]
    return next(filter(os.path.exists, candidates), path)


def open_file(path: Path, source: str) -> Profile:
    """The recording in this one file; `source` is what messages and the profile call it.

    Raises:
        StillGrowing: It ends in the middle and was written to a moment ago.
        FormatError: It cannot be read, or is no profile.
    """
    try:
        status = path.stat()
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise FormatError(f"{source}: a device, not a file")  # it may never end
        if status.st_size >= _LARGE and (large := _read_large(path, source)) is not None:
            return large
        data = path.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{source}: no such file{_about_journal(path)}") from None
    except IsADirectoryError:
        raise FormatError(f"{source}: a directory, not a profile") from None
    except OSError as error:
        raise FormatError(f"{source}: cannot be read: {error.strerror or error}") from None
    try:
        with _no_collection():
            return read_profile(data, source)
    except MemoryError:
        raise FormatError(
            f"{source}: too large for the memory of this machine ({len(data)} bytes)"
        ) from None
    except FormatError as error:
        from proton.files.export import export_of_path  # for a file that fails, not for each

        if export := export_of_path(path):
            raise FormatError(
                f"{source}: not read: format {export!r} is for other tools, which proton only "
                "writes; open the profile that it was made of"
            ) from None
        if is_journal(data) or not isinstance(error, CutShort):
            raise  # a journal is never seen before its beginning is whole
        raise _cut_short(str(error), time.time() - status.st_mtime) from None


def _read_large(path: Path, source: str) -> Profile | None:
    with _no_collection():
        return read_large_profile(os.fspath(path), source)


def _about_journal(path: Path) -> str:
    """Where a profile is that its process has not written, if it left a journal."""
    stem = path.with_suffix("") if path.suffix.removeprefix(".") in FORMAT_OF_SUFFIX else path
    facts = read_facts(f"{stem}.{SUFFIX}")
    if not facts:
        return ""
    if is_alive(facts):
        return f"; process {facts.get('pid')} is still recording it: open {stem}.{SUFFIX}"
    return f"; its process was killed: proton recover {stem}"


def _cut_short(text: str, age_s: float) -> FormatError:
    """The error of a file that ends in the middle, with what to expect of it."""
    if -_SKEW_S < age_s < _FRESH_S:
        return StillGrowing(f"{text}; it is still being written: look again when it is whole")
    return CutShort(f"{text}; it was cut: copy or record it again")


def _read_parts(parts: dict[int, Path], asked: Path) -> tuple[dict[int, Profile], list[str]]:
    """The phases of the run that `asked` names, and what is left out."""
    phases = {
        at: replace(open_file(part, os.fspath(part)), phases=(at,)) for at, part in parts.items()
    }
    return of_one_run(phases, part_name(asked)[1] if is_part(asked) else None)


def _open_parts(parts: dict[int, Path], asked: Path, source: str) -> Profile:
    phases, left_out = _read_parts(parts, asked)
    texts = [f"left out: {text}" for text in left_out]
    texts += _about_open_phase(next(iter(parts.values())), phases)
    return join_phases(phases, source, texts)


def _about_open_phase(part: Path, phases: Mapping[int, Profile]) -> list[str]:
    """That one more phase is in the journal beside the parts, where the same process left it."""
    journal = part.with_name(f"{part_name(part)[0]}.{SUFFIX}")
    facts = read_facts(journal) or {}
    phase, last = facts.get("phase") or 0, max(phases)
    if phase <= last or facts.get("pid") != phases[last].header.pid:
        return []
    if is_alive(facts):
        return [f"phase {phase} is not in it: process {facts.get('pid')} is still recording it"]
    return [f"phase {phase} is not in it, but in {journal.name}: proton recover writes it"]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the cyclic collector: a file's objects form no cycles, and it doubles the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
