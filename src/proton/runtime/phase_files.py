"""The files of one session: the name it may use, each phase written once, and where else to.

Two processes never write one file: who started first has the name, others get more of it. A claim
on a name is a lock that the kernel drops when its process ends, on a file in the temporary folder
that stands for the profile's path; nothing appears beside the profile. It sees the processes of
this user on this machine. What it cannot see (other machines, other users) is found when writing:
a file that somebody else made since our session began is left alone.

What the user should hear about is kept in `notices`, not warned about here: a warning that a test
run turned into an exception must not stop a profile from being written.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from proton import _native
from proton.errors import WriteError
from proton.files.encoding.schema import CHROME_TRACE, HATCHET
from proton.runtime.environment import read_rank
from proton.runtime.options import LONGEST_NAME_BYTES, SessionOptions, file_name

Header = Mapping[str, object]
_latest: list[str] = []  # at most one: what this process wrote last


def latest_file() -> str | None:
    """The absolute path of the file that this process wrote last; None if there is none."""
    return _latest[0] if _latest else None


def prepare_folder(options: SessionOptions) -> None:
    """Make the folder of the session's files, and see that files can be made there.

    At the start, because at the end hours of work would depend on it. Only the folder stays.

    Raises:
        WriteError: no profile could be written; the message starts with its path.
    """
    if options.stem is None:
        return
    path = file_name(options.stem, options.format_to_write(""))
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            _check_special(target)
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with tempfile.TemporaryFile(dir=os.path.dirname(target)):
            pass
    except OSError as error:
        is_file = isinstance(error, FileExistsError)  # in place of the folder
        reason = os.strerror(errno.ENOTDIR) if is_file else error.strerror or str(error)
        raise WriteError(
            f"{path}: the profile could not be written here: {reason}; "
            "give the session another name"
        ) from error


def _check_special(target: str) -> None:
    """A device or a pipe is written to where it is; a folder is in the way."""
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


class PhaseFiles:
    """Where the phases of one session go."""

    def __init__(self, options: SessionOptions, native: _native.Session, since_ns: int) -> None:
        """Claim the session's name; `since_ns` is when the session began, in Unix time."""
        self.written: list[str] = []
        self._early: dict[int, str] = {}  # phases that are in memory too, and may change or go
        self.notices: list[str] = [*options.notices]
        self._native = native
        self._since_ns = since_ns
        self._claim: Claim | None = None
        if options.stem is not None:  # else everything goes to standard output
            self._claim = claim(options.stem, _rank)
            if self._claim.stem != options.stem:
                self._rename(options.stem, self._claim, "another running process has this name")

    @property
    def stem(self) -> str | None:
        """The path of the files without suffix; None for standard output."""
        return None if self._claim is None else self._claim.stem

    def write(
        self, phase: int, output_format: str, header: Header, *, is_only: bool = False
    ) -> None:
        """Write one phase, as a part where it is not the only one of its session.

        Raises:
            WriteError: not where it should go; the error names the file that has it instead.
        """
        content = PhaseContent(self._native, output_format, phase, header)
        if self._claim is None:
            content.print()
            return
        part = phase if self._native.phase and not is_only else None
        self._avoid_others_file(self._claim, output_format, part)
        try:
            path = content.write(self._claim.stem, part)
        except WriteError as error:
            if error.rescued_to is not None:
                self._note(error.rescued_to)
            raise
        self._note(path)
        if self._early.get(phase) == path:
            del self._early[phase]  # it is not early any more
        self.drop_early(phase)

    def _note(self, path: str) -> None:
        self.written.append(path)
        _latest[:] = [os.path.abspath(path)]

    def write_early(self, phase: int, output_format: str, header: Header) -> None:
        """Write one phase now, in case the process is killed; it is written again at the end.

        Raises:
            OSError: there is no such file now; nothing else was tried.
        """
        if self._claim is None:
            return
        self._avoid_others_file(self._claim, output_format, phase)
        path = file_name(self._claim.stem, output_format, phase)
        PhaseContent(self._native, output_format, phase, header).write_file(path)
        self._early[phase] = path

    def adopt_early(self, phases: Sequence[int], output_format: str) -> None:
        """Take the files of these phases that a forked child of ours wrote as written early."""
        if self._claim is None:
            return
        for phase in phases:
            for stem in (spare_stem(self._claim.stem), self._claim.stem):
                path = file_name(stem, output_format, phase)
                if phase not in self._early and os.path.exists(path):
                    self._early[phase] = path

    def drop_early(self, phase: int | None = None) -> None:
        """Remove what was written early of one phase, or of all that were not written since."""
        for each in [phase] if phase is not None else list(self._early):
            path = self._early.pop(each, None)
            if path is not None and path not in self.written:
                with suppress(OSError):
                    os.unlink(path)

    def release(self) -> None:
        """Give the name up."""
        if self._claim is not None:
            self._claim.release()

    def forget(self) -> None:
        """Let go of the name in a forked child; it stays the parent's."""
        if self._claim is not None:
            self._claim.forget()

    def _avoid_others_file(self, held: Claim, output_format: str, part: int | None) -> None:
        for stem in (held.stem, *variants(held.wanted, _rank())):
            path = file_name(stem, output_format, part)
            is_ours = path in self.written or path in self._early.values()
            if is_ours or not is_of_another(path, since_ns=self._since_ns):
                break
        if stem != held.stem:
            taken, held.stem = file_name(held.stem, output_format, part), stem
            self._rename(taken, held, "another process wrote this file since the session began")

    def _rename(self, taken: str, held: Claim, why: str) -> None:
        text = f"{taken}: {why}; the profile of this process goes to {held.stem!r} instead"
        self._native.warn(text)
        self.notices.append(text)


def spare_stem(stem: str) -> str:
    """Where a forked child writes what would replace a file of another process."""
    return f"{stem}.pid_{os.getpid()}"


def _rank() -> int | None:
    return read_rank(strict=False)


class PhaseContent(NamedTuple):
    """One phase of a session in one format, to be written."""

    native: _native.Session
    output_format: str
    phase: int
    header: Header

    def write(self, stem: str, part: int | None) -> str:
        """Write it to a file; the path it went to.

        Raises:
            WriteError: it could not be written there. `rescued_to` of the error is the path of the
                fallback file that holds it instead, None when there is no room anywhere.
        """
        path = file_name(stem, self.output_format, part)
        try:
            self.write_file(path)
        except OSError as error:
            raise self._rescue(path, error) from error
        return path

    def print(self) -> None:
        """Write it to standard output, a line of its own.

        Raises:
            WriteError: standard output is closed or full; the error names the fallback file.
        """
        content = self.native.serialize(self.output_format, self.phase, self.header)
        try:
            stream = sys.stdout
            if stream is None:
                raise OSError("there is no standard output")
            if self.output_format not in (HATCHET, CHROME_TRACE):
                if not hasattr(stream, "buffer"):
                    raise OSError("standard output takes text only")
                stream.flush()
                stream.buffer.write(content)
            else:
                stream.write(content.decode() + "\n")
            stream.flush()
        except (OSError, ValueError) as error:  # a closed stream raises ValueError
            cause = error if isinstance(error, OSError) else OSError(str(error))
            path = file_name("proton", self.output_format)
            raise self._rescue(path, cause, shown="<stdout>") from error

    def write_file(self, path: str) -> None:
        """Write it to `path` or nowhere; OSError.

        A link stays a link, and a device or a pipe is written to: the native core sees to both, but
        for a link that leads nowhere.
        """
        leads_nowhere = os.path.islink(path) and not os.path.exists(path)
        self._write(os.path.realpath(path) if leads_nowhere else path)

    def _write(self, path: str) -> None:
        self.native.write(path, self.output_format, self.phase, self.header)

    def _rescue(self, path: str, cause: OSError, *, shown: str = "") -> WriteError:
        """Write to the first place that takes it; the error that says what happened."""
        rescued_to = None
        for fallback in _fallbacks(path):
            with suppress(OSError):
                self._write(fallback)
                rescued_to = fallback
                break
        if rescued_to is not None:
            outcome = f"it was written to {rescued_to!r} instead"
        else:
            outcome = (
                "no fallback could be written either; make room and finalize the session again"
            )
        reason = cause.strerror or str(cause)
        error = WriteError(f"{shown or path}: cannot write the profile: {reason}; {outcome}")
        error.errno = cause.errno
        error.rescued_to = rescued_to
        return error


def _fallbacks(path: str) -> Iterator[str]:
    """Paths to try when `path` cannot be written, none of which exists yet."""
    base, dot, suffix = os.path.basename(path).rpartition(".")
    for folder in (tempfile.gettempdir(), os.path.expanduser("~"), os.getcwd()):
        for n in range(1000):
            extra = f".pid_{os.getpid()}" + (f"_{n}" if n else "") + dot + suffix
            short = os.fsencode(base)[: LONGEST_NAME_BYTES - len(extra)].decode(errors="ignore")
            candidate = os.path.join(folder, f"{short}{extra}")
            if not os.path.lexists(candidate):
                yield candidate
                break


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
