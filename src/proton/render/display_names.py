"""Names as people read them: safe to print, demangled, shortened, cut to the room there is.

Names come from files and may hold anything; `printable` is the one gate to the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from proton.render.demangle import demangle, shorten_cpp

FORMATS = ("full", "file_function_line", "function_line", "file_function")
ELLIPSIS = "…"

# Control characters, marks that reorder text, invisible characters, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_PYTHON_FRAME = re.compile(r"(?s)(?P<file>.+):(?P<line>\d+)@(?P<function>.+)")


def printable(text: str) -> str:
    """`text` with every character that a terminal might obey written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_escape, text)


def display_name(name: str, *, frame_format: str = "full", full: bool = False) -> str:
    """The name of a frame for people.

    Args:
        name: The name as the file has it.
        frame_format: One of `FORMATS`; which parts of a Python frame to show.
        full: Keep the template arguments and parameters of C++ names.
    """
    if name.startswith("_Z"):
        demangled = demangle(name)
        name = demangled if full else shorten_cpp(demangled)
    elif frame_format != "full" and (match := _PYTHON_FRAME.fullmatch(name)):
        name = _rearrange(match, frame_format)
    return printable(name) or '""'


def name_formatter(frame_format: str = "full", *, full: bool = False) -> Callable[[str], str]:
    """`display_name` with its options bound; cheap for the plain names that most rows have."""

    def plain(name: str) -> str:
        if name.isascii() and name.isprintable() and name and not name.startswith("_Z"):
            return name
        return display_name(name, full=full)

    def rearranged(name: str) -> str:
        return display_name(name, frame_format=frame_format, full=full)

    return plain if frame_format == "full" else rearranged


def cell_width(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    width = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def cut_middle(text: str, room: int) -> str:
    """`text` in at most `room` columns; what is cut away is in the middle."""
    if len(text) * 2 <= room or cell_width(text) <= room:
        return text
    if room <= 1:
        return ELLIPSIS[:room]
    tail = (room - 1) // 2
    head = room - 1 - tail
    return _take(text, head) + ELLIPSIS + _take(text[::-1], tail)[::-1]


def cut_name(text: str, room: int) -> str:
    """The name of a frame in at most `room` columns.

    A Python frame gives up the folders in front of its file, which equal those of its neighbours;
    any other name, and what is still too long, is cut in the middle.
    """
    if cell_width(text) <= room or (match := _PYTHON_FRAME.fullmatch(text)) is None:
        return cut_middle(text, room)
    end = match.end("file")
    for at in range(1, end):
        if text[at] == "/" and cell_width(text[at:]) < room:
            return ELLIPSIS + text[at:]
    return cut_middle(text[text.rfind("/", 0, end) + 1 :], room)


def pad(text: str, room: int) -> str:
    """`text` with blanks behind it up to `room` columns."""
    return text + " " * (room - cell_width(text))


def cut_end(text: str, room: int) -> str:
    """`text` in at most `room` columns; what is cut away is at its end."""
    if cell_width(text) <= room:
        return text
    while text and cell_width(text) > room - 1:
        text = text[:-1]
    return f"{text}{ELLIPSIS}"


def _take(text: str, room: int) -> str:
    """The longest start of `text` that fits `room` columns."""
    if text.isascii():
        return text[:room]
    used = 0
    for position, character in enumerate(text):
        used += cell_width(character)
        if used > room:
            return text[:position]
    return text


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _rearrange(match: re.Match[str], frame_format: str) -> str:
    file = match["file"].rsplit("/", 1)[-1]
    if frame_format == "file_function_line":
        return f"{file}:{match['line']}@{match['function']}"
    if frame_format == "function_line":
        return f"{match['line']}@{match['function']}"
    return f"{file}@{match['function']}"
