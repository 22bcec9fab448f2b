"""The text of a source file that a profile names, and whether it is still what was recorded."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from proton.model.sampling import SourceFile

_MOST_BYTES = 1 << 24  # no source that people write is longer

# How files end that people write kernels and what calls them in.
_PROGRAM = re.compile(
    r"\.(py[ix]?|cc?|cpp|cuh?|h|hip|hpp|inc|ll|mlir|ptx|ttg?ir)", re.IGNORECASE
).fullmatch


class TextState(Enum):
    """How a file relates to the one that was recorded."""

    SAME = "same"
    NOT_CHECKED = "not checked"  # the recording does not say what the file was
    CHANGED = "changed"
    GONE = "gone"


class SourceText(NamedTuple):
    """The lines of a file, none where it is gone, and what to know about them."""

    state: TextState
    lines: tuple[str, ...] = ()
    remark: str = ""  # why the file cannot be read, or how it changed

    def line(self, number: int) -> str | None:
        """The text of line `number`, the first of which is 1; None where there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else None


def is_program(path: str) -> bool:
    """Whether a file is named like one that people write programs in."""
    return _PROGRAM(os.path.splitext(path)[1]) is not None


_is_withheld: ContextVar[bool] = ContextVar("proton_sources_withheld", default=False)


@contextmanager
def withhold_sources() -> Iterator[None]:
    """Have no source read meanwhile: what is made then goes to people who shall not see them."""
    before = _is_withheld.set(True)
    try:
        yield
    finally:
        _is_withheld.reset(before)


def read_source(path: str, recorded: SourceFile | None, beside: str = "") -> SourceText:
    """The file at `path`, as the profile spells it.

    Args:
        path: Where it was recorded; one that is not absolute is looked for in the working folder
            and in that of the profile.
        recorded: What it was then, as far as known.
        beside: The path of the profile.
    """
    if _is_withheld.get():
        return SourceText(TextState.GONE, remark="left out on request")
    places = [Path(path)]
    if not places[0].is_absolute():
        places.append(Path(beside).parent / path)
    remark = "no such file"
    for place in places:
        try:
            status = os.stat(place)
            if not stat.S_ISREG(status.st_mode):
                remark = "not a file"
            elif status.st_size > _MOST_BYTES:
                remark = "too large for a source file"
            else:
                return _compare(place.read_bytes(), recorded)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            remark = str(getattr(error, "strerror", None) or error).lower()
    return SourceText(TextState.GONE, remark=remark)


def _compare(content: bytes, recorded: SourceFile | None) -> SourceText:
    lines = tuple(content.decode(errors="replace").split("\n"))
    if lines and not lines[-1]:
        lines = lines[:-1]
    if recorded is not None and recorded.size not in (None, len(content)):
        return SourceText(
            TextState.CHANGED, lines, f"{recorded.size} bytes then, {len(content)} now"
        )
    if recorded is None or not recorded.sha256:
        return SourceText(TextState.NOT_CHECKED, lines)
    if hashlib.sha256(content).hexdigest() != recorded.sha256.lower():
        return SourceText(TextState.CHANGED, lines, "same size, other content")
    return SourceText(TextState.SAME, lines)
