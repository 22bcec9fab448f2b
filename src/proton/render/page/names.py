"""The part `names`: names that people read otherwise than files have them, such as C++ symbols."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from proton.model.profile import TreeProfile
from proton.render.demangle import demangle, shorten_cpp
from proton.render.display_names import printable

_ROOMS = (60, 400)  # columns for template arguments; more where names would look the same


class ShownName(NamedTuple):
    """A name as people read it: demangled and shortened, and the same with all its arguments."""

    short: str
    whole: str


def names_part(profile: TreeProfile) -> dict[str, ShownName]:
    """Name in the file -> how it is shown, for names that differ from it."""
    tree = profile.tree
    names = list(dict.fromkeys(frame.name for frame in tree.frames))
    shown = _short_names(names)
    return {
        name: ShownName(short, printable(demangle(name)) or '""')
        for name, short in shown.items()
        if short != name
    }


def _short_names(names: list[str]) -> dict[str, str]:
    """Every name as short as can be without looking like another."""
    shown = {name: _short(name, _ROOMS[0]) for name in names}
    times = Counter(shown.values())
    for name in names:
        if times[shown[name]] > 1:
            shown[name] = _short(name, _ROOMS[1])
    return shown


def _short(name: str, room: int) -> str:
    if name.startswith("_Z"):
        name = shorten_cpp(demangle(name), room)
    return printable(name) or '""'
