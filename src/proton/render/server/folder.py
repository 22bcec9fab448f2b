"""What the index of a folder shows: its recordings, newest first, and a few facts of each.

The page draws it (web/src/views/folder); facts are read once, those of small recordings first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from proton.analysis.measurements import whole_of
from proton.analysis.prepare import prepare
from proton.analysis.tuning_work import without_tuning
from proton.errors import FormatError
from proton.files.encoding.schema import FORMAT_OF_SUFFIX, TRACE_FORMATS
from proton.files.growing import Stamp, StoredProfile, open_growing, stamp
from proton.model.metric import COUNT, TIME_NS
from proton.render.display_names import printable
from proton.render.text.head import device_names

_MOST_BYTES = 8_000_000  # larger ones take seconds: who wants to know opens them
_NOT_READ = "not read yet"
_TOO_LARGE = "large: open it for its numbers"


class Facts(NamedTuple):
    """A recording in a few words; empty or None where it does not say."""

    device: str = ""
    kernels: float | None = None
    time_ns: float | None = None
    problem: str = ""  # why it cannot be read
    note: str = _NOT_READ  # why there are no numbers


@dataclass(frozen=True, slots=True)
class FolderRow:
    """One recording of a folder; null: not known."""

    name: str
    link: str  # its name in the address of its page
    kind: str
    is_open: bool  # a process still records it
    device: str
    kernels: float | None
    time_ns: float | None
    problem: str  # why it cannot be read
    note: str  # why there are no numbers; empty where there are
    size_bytes: int
    changed_s: float  # Unix time


@dataclass(frozen=True, slots=True)
class FolderData:
    """The index of a folder, newest first; `problem` is one line on top of it."""

    name: str
    path: str
    problem: str
    rows: Sequence[FolderRow]


class FolderFacts:
    """The facts of recordings as they were when they were last read. Safe to use from threads."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[str, tuple[Stamp, Facts]] = {}
        self._learning = threading.Lock()

    def of(self, recording: StoredProfile) -> Facts:
        """What is known now."""
        return self._known.get(recording.name, ((), Facts()))[1]

    def learn(self, recordings: Sequence[StoredProfile], limit_s: float) -> int:
        """Read what is new for about `limit_s`; how many recordings were read in all.

        What another thread reads at the same time is left to it.
        """
        if not self._learning.acquire(blocking=False):
            return len(self._known)
        try:
            ends_at = time.monotonic() + limit_s
            for name in self._known.keys() - {recording.name for recording in recordings}:
                del self._known[name]
            stamps = [(stamp(recording), recording) for recording in recordings]
            for now, recording in sorted(stamps, key=lambda entry: _size(entry[0])):
                if _size(now) > _MOST_BYTES or time.monotonic() > ends_at:
                    break
                if self._known.get(recording.name, (None,))[0] != now:
                    self._known[recording.name] = (now, facts_of(recording))
            return len(self._known)
        finally:
            self._learning.release()


def _size(now: Stamp) -> int:
    return sum(size for _, _, size, _ in now)


def facts_of(recording: StoredProfile) -> Facts:
    """A recording in a few words."""
    try:
        profile = open_growing(recording)
    except FormatError as error:
        return Facts(problem=str(error), note="")
    try:
        shown = without_tuning(prepare(profile)).profile
    except FormatError:  # the file is sound, and empty
        return Facts(note="nothing was recorded")
    kernels, time_ns = whole_of(shown.tree, COUNT), whole_of(shown.tree, TIME_NS)
    return Facts(device_names(shown), kernels, time_ns, note="")


def folder_data(
    folder: Path,
    recordings: Sequence[StoredProfile],
    facts_of: Callable[[StoredProfile], Facts] = lambda _: Facts(),
    problem: str = "",
) -> FolderData:
    """The index of a folder with these recordings."""
    rows = [_row(recording, facts_of(recording)) for recording in recordings]
    rows.sort(key=lambda row: -row.changed_s)
    if not rows and not problem:
        problem = "This folder no longer holds a profile."
    return FolderData(printable(folder.name), printable(str(folder)), printable(problem), rows)


def _row(recording: StoredProfile, facts: Facts) -> FolderRow:
    changed_s, size_bytes = 0.0, 0
    for path in recording.files:
        try:
            status = path.stat()
        except OSError:  # gone since it was found
            continue
        changed_s = max(changed_s, status.st_mtime)
        size_bytes += status.st_size
    is_left = facts.note == _NOT_READ and size_bytes > _MOST_BYTES
    return FolderRow(
        name=printable(recording.name),
        link=quote(recording.name, safe="", errors="surrogateescape"),
        kind=_kind(recording),
        is_open=recording.is_open,
        device=printable(facts.device),
        kernels=facts.kernels,
        time_ns=facts.time_ns,
        problem=printable(facts.problem),
        note=_TOO_LARGE if is_left else facts.note,
        size_bytes=size_bytes,
        changed_s=changed_s,
    )


def _kind(recording: StoredProfile) -> str:
    """What the names of its files say it is; a journal alone says nothing."""
    named = [path for path in recording.files if path != recording.journal]
    formats = [FORMAT_OF_SUFFIX.get(path.suffix.removeprefix(".")) for path in named]
    kind = "trace" if formats and formats[0] in TRACE_FORMATS else "tree" if formats else ""
    return f"{kind}, {len(recording.parts)} phases" if recording.parts else kind
