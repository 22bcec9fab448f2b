"""The part `names`: names that people read otherwise than files have them, such as C++ symbols."""

from __future__ import annotations

from typing import NamedTuple

from proton.model.profile import TreeProfile
from proton.render.demangle import demangle
from proton.render.display_names import printable, shown_names, visible


class ShownName(NamedTuple):
    """A name as people read it: demangled and shortened, and the same with all its arguments."""

    short: str
    whole: str


def names_part(profile: TreeProfile) -> dict[str, ShownName]:
    """Name in the file -> how it is shown, for names that differ from it."""
    tree = profile.tree
    names = list(dict.fromkeys(frame.name for frame in tree.frames))
    shown = shown_names(names)
    return {
        name: ShownName(short, visible(printable(demangle(name))))
        for name, short in shown.items()
        if short != name
    }
