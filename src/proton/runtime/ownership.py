"""Keeps two processes from writing one file: who started first has the name, others get more of it.

A claim is a lock that the kernel drops when its process ends, on a file in the temporary folder
that stands for the profile's path; nothing appears beside the profile. It sees the processes of
this user on this machine. What it cannot see (other machines, other users) is found when writing:
a file that somebody else made since our session began is left alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass


@dataclass(slots=True)
class Claim:
    """The right to write `stem`; `wanted` is the stem that was asked for."""

    wanted: str
    stem: str
    lock: int | None  # file descriptor
    lock_path: str = ""

    def release(self) -> None:
        """Give the name up. Harmless when done twice."""
        if self.lock is not None:
            with suppress(OSError):
                os.unlink(self.lock_path)
            self.forget()

    def forget(self) -> None:
        """Let go without giving up: in a forked child the claim stays its parent's."""
        if self.lock is not None:
            with suppress(OSError):
                os.close(self.lock)
            self.lock = None


def claim(stem: str, rank: Callable[[], int | None]) -> Claim:
    """Claim `stem`, or the first of its variants that no other live process has."""
    folder = _lock_folder()
    if folder is None:
        return Claim(stem, stem, None)
    for candidate in (stem, *variants(stem, rank())):
        path = os.path.join(folder, hashlib.sha1(os.fsencode(candidate)).hexdigest())
        lock = _try_lock(path)
        if lock is not None:
            return Claim(stem, candidate, lock, path)
    return Claim(stem, candidate, None)  # our own process id: nobody else's name


def variants(stem: str, rank: int | None) -> Iterator[str]:
    """Names that this process may use in place of `stem`."""
    if rank is not None:
        yield f"{stem}.rank_{rank}"
    yield f"{stem}.pid_{os.getpid()}"


def is_of_another(path: str, *, since_ns: int) -> bool:
    """Whether the file was made or changed after `since_ns` (Unix time)."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_mtime_ns > since_ns


def _lock_folder() -> str | None:
    """A folder of ours alone, or None where there can be none: then only writing tells."""
    folder = os.path.join(tempfile.gettempdir(), f"proton-{os.getuid()}")
    try:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        status = os.lstat(folder)
    except OSError:
        return None
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return folder if is_ours else None


def _try_lock(path: str) -> int | None:
    """An open, locked file, or None when somebody else has it (or it cannot be had at all)."""
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # its owner may have removed it between our open and our lock: then it locks nothing
            if os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
        except FileNotFoundError:
            pass
        except OSError:
            os.close(lock)
            return None
        os.close(lock)
