"""The journal of one session: its open phase on disk, for the case that the process is killed.

A tree is small and replaced as a whole; a trace grows by what is new. Used by one thread at a time.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from proton import _native
from proton.files.journal.format import (
    DATA,
    SUFFIX,
    chunk_head,
    facts_of_process,
    is_alive,
    pack_facts,
    read_facts,
)

CHUNK_EVENTS = 20_000  # of a trace: copying them holds the GIL for some milliseconds


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
        self._file: int | None = None

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
                phase, header, self._cursor, limit=CHUNK_EVENTS
            )
            if self._file is None:
                self._replace(phase, content)
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            else:
                _write_chunk(self._file, content)
        if self._file is not None:
            os.fdatasync(self._file)

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
        self._cursor = None
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
        if facts is None or is_alive(facts) or _is_elsewhere(facts):
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


def _is_elsewhere(facts: Mapping[str, Any]) -> bool:
    """Whether the journal is of another machine, where its process may be alive."""
    return bool(facts) and facts.get("host") != os.uname().nodename


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
