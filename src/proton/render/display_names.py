"""Names as people read them: safe to print, demangled, shortened, cut to the room there is.

Names come from files and may hold anything; `printable` is the one gate to the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from proton.model.trace import LAUNCH_PREFIX
from proton.render.demangle import demangle, shorten_cpp

FORMATS = ("full", "file_function_line", "function_line", "file_function")
ELLIPSIS = "…"
_LAUNCHED_SYMBOL = f"{LAUNCH_PREFIX}_Z"
_ROOM = 400  # columns for template arguments; views cut names to the room they have

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
    if name.startswith(_LAUNCHED_SYMBOL):
        return LAUNCH_PREFIX + display_name(name.removeprefix(LAUNCH_PREFIX), full=full)
    if name.startswith("_Z"):
        demangled = demangle(name)
        name = demangled if full else shorten_cpp(demangled)
    elif frame_format != "full" and (match := _PYTHON_FRAME.fullmatch(name)):
        name = _rearrange(match, frame_format)
    return visible(printable(name))


def visible(text: str) -> str:
    """`text`, in quotes where nobody would see it: empty, or blanks only."""
    return f'"{text}"' if not text or text.isspace() else text


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Every name for people: C++ without what nobody reads, whole where it would look like another.

    Terminal, digest and page write names so, and cut them to the room they have.
    """
    shown = {name: _short(name) for name in names}
    times = Counter(shown.values())
    shown = {
        name: _whole(name).removeprefix("void ") if times[short] > 1 else short
        for name, short in shown.items()
    }
    alike: dict[str, list[str]] = {}
    for name, text in shown.items():
        alike.setdefault(text, []).append(name)
    for text, group in alike.items():
        if len(group) > 1:  # symbols may differ in what no declaration shows
            shown.update((name, f"{text} #{at}") for at, name in enumerate(sorted(group), 1))
    return shown


def _short(name: str) -> str:
    if not name.startswith("_Z"):
        return _whole(name)
    return visible(printable(shorten_cpp(demangle(name), _ROOM)))


def _whole(name: str) -> str:
    return visible(printable(demangle(name)))


def name_formatter(
    frame_format: str = "full", *, full: bool = False, names: Iterable[str] = ()
) -> Callable[[str], str]:
    """How to write names: cheap for the plain ones that most rows have.

    `names` are those that must not look alike, such as all of a profile.
    """
    symbols: Mapping[str, str] = {}
    if not full:
        kernels = {name.removeprefix(LAUNCH_PREFIX) for name in names}
        symbols = shown_names({name for name in kernels if name.startswith("_Z")})

    def plain(name: str) -> str:
        is_plain = name.isascii() and name.isprintable() and name.strip() and name[:2] != "_Z"
        if is_plain and not name.startswith(_LAUNCHED_SYMBOL):
            return name
        return symbol(name) or display_name(name, full=full)

    def rearranged(name: str) -> str:
        return symbol(name) or display_name(name, frame_format=frame_format, full=full)

    def symbol(name: str) -> str:
        prefix = LAUNCH_PREFIX if name.startswith(_LAUNCHED_SYMBOL) else ""
        found = symbols.get(name.removeprefix(prefix), "")
        return found and prefix + found

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


def cut_names(names: Sequence[str], room: int) -> list[str]:
    """Names of one table, each in at most `room` columns, such that different ones stay different.

    Where `cut_name` would make several equal, what they have in common gives way to what differs.
    """
    cut = {name: cut_name(name, room) for name in dict.fromkeys(names)}
    for group in _alike(cut):
        cut.update(_told_apart(group, room))
    for group in _alike(cut):  # what was told apart in two groups may look alike again
        apart = _told_apart(group, room)
        if set(apart.values()) & set(cut.values()) or len(set(apart.values())) < len(group):
            apart = {name: _numbered(cut[name], at, room) for at, name in enumerate(group, 1)}
        cut.update(apart)
    return [cut[name] for name in names]


def _alike(cut: Mapping[str, str]) -> list[list[str]]:
    """The names that look like others, in groups."""
    found: dict[str, list[str]] = {}
    for name, short in cut.items():
        found.setdefault(short, []).append(name)
    return [group for group in found.values() if len(group) > 1]


def _numbered(text: str, number: int, room: int) -> str:
    mark = f"#{number}"
    return f"{cut_end(text, max(room - len(mark) - 1, 1))} {mark}"


def _told_apart(group: Sequence[str], room: int) -> dict[str, str]:
    """Names that begin alike, cut to a few letters of their beginning and what follows it."""
    pairs = zip(min(group), max(group), strict=False)  # what these two share, all do
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), len(min(group)))
    head = max(room // 4, 1)
    start = max(same - head, head)  # some of what they share in front of what differs
    left = max(room - head - 2, 1)
    cut = {}
    for name in group:
        rest = name[start:]
        rest = rest if cell_width(rest) <= left + 1 else cut_end(rest, left + 1)
        cut[name] = f"{_take(name, head)}{ELLIPSIS}{rest}"
    for again in _alike(cut):
        if len(again) < len(group):
            cut.update(_told_apart(again, room))
    return cut


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
