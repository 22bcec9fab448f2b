"""What is kept of one open session in case its process is killed: files, and when they are written.

The journal holds the open phase: a tree is small and replaced as a whole, a trace grows by what is
new. Steps run on the thread of `runtime/background.py`, beside the program: they bring in what the
backend holds, find out which phases are complete, write those that were left, and save the open
one in the journal. They wait for no GPU and take no lock of the program's for long.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from proton import _native
from proton.errors import SessionNotFound
from proton.files.encoding.schema import SUFFIXES
from proton.files.journal.format import (
    DATA,
    SUFFIX,
    chunk_head,
    facts_of_process,
    is_alive,
    is_elsewhere,
    pack_facts,
    read_facts,
)
from proton.runtime.phase_files import spare_stem

if TYPE_CHECKING:  # the session owns it
    from proton.runtime.open_session import OpenSession

CHUNK_EVENTS = 20_000  # of a trace: copying them holds the GIL for some milliseconds
FIRST_SAVE_S = 1.0  # later ones are twice as far apart, up to the interval
SETTLE_S = 0.05  # between two looks whether a phase is complete; they grow up to a second
GRACE_S = 1.0  # a phase that was left may be cleared again before it is written
GRACE_INCOMPLETE_S = 5.0  # with periodic flushing phases are written once, if that is soon
GIVE_UP_S = 30.0  # a launch that failed never gets an event
RETRY_S = 1.0  # after a phase could not be written; then twice as long each time
LONGEST_RETRY_S = 60.0
SHARE = 50  # saving takes at most one part in so many of the time

_log = logging.getLogger("proton")


class Autosave:
    """The steps of one session. `step` is for the background thread, the rest for the program's."""

    def __init__(self, session: OpenSession, *, interval_s: float) -> None:
        """`interval_s`: between two saves of the open phase; 0: it is not saved."""
        self._session = session
        self._interval_s = interval_s
        self._journal: Journal | None = None
        self._rescue_paths: tuple[str, ...] = ()  # that a child may have written to
        if interval_s > 0 and session.files.stem is not None:
            options = session.options
            self._journal = Journal(
                session.files.stem,
                session=options.name,
                data=options.data,
                output_format=session.expected_format,
            )
            session.notices.extend(self._journal.notices)
            self._rescue_paths = (self._journal.path,)
        self._spacing_s = min(FIRST_SAVE_S, interval_s)
        self._save_at = time.monotonic() + self._spacing_s
        self._saved: tuple[int, int] | None = None  # phase and change count in the journal
        self._settle_at = 0.0
        self._settle_spacing_s = SETTLE_S
        self._left_at: dict[int, float] = {}  # phase -> when it was left, until it is complete
        self._written: dict[int, int] = {}  # phase -> change count in its file
        self._retry_at = 0.0
        self._retry_spacing_s = RETRY_S
        self._has_failed = False
        self._lock = threading.Lock()  # of the journal

    def phase_left(self, phase: int) -> None:
        """A phase was just left."""
        self._left_at[phase] = time.monotonic()
        self._settle_spacing_s = SETTLE_S
        self._settle_at = 0.0

    def phase_dropped(self, phase: int) -> None:
        """A phase was cleared, or written for good."""
        self._left_at.pop(phase, None)
        self._written.pop(phase, None)

    def step(self) -> float:
        """Do what is due; in how many seconds to come again."""
        try:
            self._settle()
            with self._session.keeping:
                self._write_left_phases()
            with self._lock:
                self._save_open_phase()
                if self._journal is not None:
                    self._journal.prepare_rescue(
                        self._session.native, self._session.common_header(0), [*self._written]
                    )
            self._session.say_unseen_graphs()
            return self._wait_s()
        except SessionNotFound:  # the program closed it meanwhile
            return GIVE_UP_S

    def end(self) -> None:
        """There is a profile, or none is wanted: the journal goes. Harmless when done twice."""
        with self._lock:
            journal, self._journal = self._journal, None
            if journal is not None:
                journal.remove()

    def adopt_rescue(self) -> None:
        """A child has written files in our place (see `base/termination.h`)."""
        session = self._session
        with self._lock:
            if self._journal is not None:
                self._journal.adopt_rescue(session.native.phase)
                left = [phase for phase in session.left_phases() if phase not in self._written]
                session.files.adopt_early(left, session.expected_format)

    def drop_rescue(self) -> None:
        """A child has written a journal while the profile was being written."""
        if self._journal is None:  # there is a profile
            for path in self._rescue_paths:
                with suppress(OSError):
                    os.unlink(path)

    def forget(self) -> None:
        """In a forked child: leave everything to the parent."""
        if self._journal is not None:
            self._journal.forget()

    def _settle(self) -> None:
        """Have the backend hand over what it has, and see which phases are complete by that."""
        session = self._session
        now = time.monotonic()
        waiting = session.incomplete_phases()
        if not waiting or now < self._settle_at:
            return
        settled = session.complete_below
        for phase in waiting:
            has_waited = now - self._left_at.get(phase, now) > GIVE_UP_S
            if not (has_waited or session.native.is_settled(phase)):
                break
            settled = phase + 1
        session.flush_soon()  # again: the last events of a launch may have been under way
        session.complete_below = max(session.complete_below, settled)
        self._settle_spacing_s = min(2 * self._settle_spacing_s, 1.0)
        self._settle_at = time.monotonic() + self._settle_spacing_s

    def _write_left_phases(self) -> None:
        """Phases that were left become files; with periodic flushing they are dropped then."""
        if time.monotonic() < self._retry_at:
            return
        if self._session.write_complete_phases() and self._write_early():
            self._retry_spacing_s = RETRY_S
        else:
            self._retry_at = time.monotonic() + self._retry_spacing_s
            self._retry_spacing_s = min(2 * self._retry_spacing_s, LONGEST_RETRY_S)

    def _write_early(self) -> bool:
        """Write the phases that stay in memory for now; False: it failed."""
        session = self._session
        if session.files.stem is None:
            return True
        for phase in session.left_phases():
            changes = session.native.change_count(phase)
            if self._written.get(phase) == changes or time.monotonic() < self._early_at(phase):
                continue
            if why_not := session.write_early(phase):
                self._say_unsafe(f"{session.files.stem}: {why_not}")
                return False
            self._written[phase] = changes
        return True

    def _early_at(self, phase: int) -> float:
        """When a phase that was left is written, if it is still there."""
        is_periodic = self._session.options.flush_format is not None
        return self._left_at.get(phase, 0.0) + (GRACE_INCOMPLETE_S if is_periodic else GRACE_S)

    def _save_open_phase(self) -> None:
        session = self._session
        now = time.monotonic()
        if self._journal is None or now < self._save_at:
            return
        phase = session.native.phase
        if any(each not in self._written for each in session.left_phases()):
            return  # the journal still holds a phase that is in no file
        if session.is_asynchronous:
            session.flush_soon()
        changes = session.native.change_count(phase)
        if self._saved != (phase, changes) and changes > 1:
            self._save(self._journal, phase, changes)
        took_s = time.monotonic() - now
        self._spacing_s = max(min(2 * self._spacing_s, self._interval_s), SHARE * took_s)
        self._save_at = time.monotonic() + self._spacing_s

    def _save(self, journal: Journal, phase: int, changes: int) -> None:
        try:
            journal.save(self._session.native, phase, self._session.header(phase))
        except OSError as error:
            self._say_unsafe(f"{journal.path}: cannot write the journal: {error.strerror or error}")
        else:
            self._saved = (phase, changes)

    def _say_unsafe(self, what: str) -> None:
        """Once: it goes wrong again and again until there is room."""
        if not self._has_failed:
            self._has_failed = True
            _log.warning(
                "%s; if this process is killed, what it recorded is lost; make room, or set "
                "PROTON_JOURNAL_INTERVAL=0 to do without the journal",
                what,
            )

    def _wait_s(self) -> float:
        now = time.monotonic()
        times = []
        if self._session.incomplete_phases():
            times.append(self._settle_at)
        if self._journal is not None:
            times.append(self._save_at)
        if self._session.files.stem is not None:
            waiting = [p for p in self._session.left_phases() if p not in self._written]
            times += [max(self._early_at(phase), self._retry_at) for phase in waiting]
        return max(0.01, min(times, default=now + GIVE_UP_S) - now)


class Journal:
    """A file beside the profile; there is none until something was saved."""

    def __init__(self, stem: str, *, session: str, data: str, output_format: str) -> None:
        """`stem`: the profile's path without suffix; `output_format`: what it would be written as.

        A journal that stands there already is never touched: `notices` says what became of it.
        """
        self.notices: list[str] = []
        self.path = self._free_path(stem)
        self._facts = {
            **facts_of_process(),
            "session": session,
            "data": data,
            "format": output_format,
        }
        self._phase: int | None = None  # that the file holds
        self._cursor: _native.TraceCursor | None = None
        self._origins: object = None  # that a chunk of the file has
        self._file: int | None = None
        self._stem = stem

    def prepare_rescue(
        self, native: _native.Session, header: Mapping[str, object], written: list[int]
    ) -> None:
        """Have the core ready to write a journal where Python cannot: other code holds the GIL.

        `written`: the phases that are in files already; others that were left become files too.
        """
        output_format = str(self._facts["format"])
        native.prepare_rescue(
            path=self.path,
            facts=json.dumps(self._facts)[:-1],
            header=header,
            part_stem=self._stem,
            spare_stem=spare_stem(self._stem),
            part_suffix=f".{SUFFIXES[output_format]}",
            part_format=output_format,
            written=written,
        )

    def adopt_rescue(self, phase: int) -> None:
        """Such a journal was written, of this phase."""
        self._phase = phase

    def save(self, native: _native.Session, phase: int, header: Mapping[str, object]) -> None:
        """Bring the file up to date.

        Raises:
            OSError: it cannot be written; the next call starts it anew.
            SessionNotFound: the session was closed meanwhile.
        """
        try:
            if native.data == "tree":
                self._replace(phase, native.serialize("hatchet_msgpack", phase, header))
            else:
                self._extend(native, phase, header)
        except BaseException:
            self._close()
            raise

    def remove(self) -> None:
        """Take the file away: there is a profile now, or none is wanted."""
        if self._phase is not None:
            with suppress(OSError):
                os.unlink(self.path)
        self.forget()

    def forget(self) -> None:
        """Let go of the file and leave it where it is: in a forked child it is the parent's."""
        self._close()
        self._phase = None

    def _extend(self, native: _native.Session, phase: int, header: Mapping[str, object]) -> None:
        if phase != self._phase or self._cursor is None:
            self._close()
            self._cursor = _native.TraceCursor()
        is_at_end = False
        while not is_at_end:
            content, is_at_end = native.serialize_new(
                phase, self._with_new_origins(header), self._cursor, limit=CHUNK_EVENTS
            )
            if self._file is None:
                self._replace(phase, content)
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            else:
                _write_chunk(self._file, content)
        if self._file is not None:
            os.fdatasync(self._file)

    def _with_new_origins(self, header: Mapping[str, object]) -> Mapping[str, object]:
        """The header without origins that the file has: they are long, and chunks are many."""
        origins = header.get("origins")
        if origins != self._origins:
            self._origins = origins
            return header
        return {name: value for name, value in header.items() if name != "origins"}

    def _replace(self, phase: int, content: bytes) -> None:
        """A new file with one chunk; the old one stays until the new one is whole."""
        name = f".proton-{os.getpid()}-{zlib.crc32(os.fsencode(self.path)):x}.tmp"
        temporary = os.path.join(os.path.dirname(self.path), name)
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            _write_all(file, pack_facts({**self._facts, "phase": phase}))
            _write_chunk(file, content)
            os.fsync(file)
            os.replace(temporary, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        finally:
            os.close(file)
        self._phase = phase

    def _close(self) -> None:
        self._cursor = self._origins = None
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _free_path(self, stem: str) -> str:
        path = f"{stem}.{SUFFIX}"
        facts = read_facts(path)
        if facts is None and not os.path.lexists(path):
            return path
        own = f"{stem}.pid_{os.getpid()}.{SUFFIX}"
        if facts is None or is_alive(facts) or is_elsewhere(facts):
            return own  # somebody else's, or no journal at all
        kept = _unused(f"{stem}.pid_{facts.get('pid', 'unknown')}", SUFFIX)
        try:
            os.rename(path, kept)
        except OSError:
            kept, path = path, own
        self.notices.append(
            f"{stem}.{SUFFIX}: process {facts.get('pid', '?')} was killed and left this journal; "
            f"it is kept as {kept!r}, to get its profile: proton recover {kept}"
        )
        return path


def _unused(stem: str, suffix: str) -> str:
    path, number = f"{stem}.{suffix}", 1
    while os.path.lexists(path):
        number += 1
        path = f"{stem}_{number}.{suffix}"
    return path


def _write_chunk(file: int, content: bytes) -> None:
    _write_all(file, chunk_head(DATA, content))
    _write_all(file, content)


def _write_all(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
