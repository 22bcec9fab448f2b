"""The files of one session: the name it may use, and each phase written once.

What the user should hear about is kept in `notices`, not warned about here: a warning that a test
run turned into an exception must not stop a profile from being written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from proton import _native
from proton.errors import WriteError
from proton.runtime import output
from proton.runtime.file_names import file_name
from proton.runtime.options import SessionOptions, read_rank
from proton.runtime.ownership import Claim, claim, is_of_another, variants

_latest: list[str] = []  # at most one: what this process wrote last


def latest_file() -> str | None:
    """The absolute path of the file that this process wrote last; None if there is none."""
    return _latest[0] if _latest else None


class PhaseFiles:
    """Where the phases of one session go."""

    def __init__(self, options: SessionOptions, native: _native.Session, since_ns: int) -> None:
        """Claim the session's name; `since_ns` is when the session began, in Unix time."""
        self.written: list[str] = []
        self._early: dict[int, str] = {}  # phases that are in memory too, and may change or go
        self.notices: list[str] = []
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

    def write(self, phase: int, output_format: str, header: Mapping[str, object]) -> None:
        """Write one phase.

        Raises:
            WriteError: not where it should go; the error names the file that has it instead.
        """
        if self._claim is None:
            output.print_phase(self._native, output_format, phase, header)
            return
        part = phase if self._native.phase else None
        self._avoid_others_file(self._claim, output_format, part)
        try:
            path = output.write_phase(
                self._native, self._claim.stem, output_format, phase, header, part=part
            )
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

    def write_early(self, phase: int, output_format: str, header: Mapping[str, object]) -> None:
        """Write one phase now, in case the process is killed; it is written again at the end.

        Raises:
            OSError: there is no such file now; nothing else was tried.
        """
        if self._claim is None:
            return
        self._avoid_others_file(self._claim, output_format, phase)
        path = file_name(self._claim.stem, output_format, phase)
        output.write_file(self._native, path, output_format, phase, header)
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


def _rank() -> int | None:
    return read_rank(strict=False)
