"""The part `names`: names that people read otherwise than files have them, such as C++ symbols."""

from __future__ import annotations

from typing import Any

from proton.model.profile import Profile
from proton.render.names import name_formatter
from proton.render.page.pack import Columns


def names_part(profile: Profile, columns: Columns) -> dict[str, Any] | None:
    """Name in the document -> `[short, whole]`, for those that differ from it."""
    tree = profile.tree
    assert tree is not None
    short, whole = name_formatter(), name_formatter(full=True)
    found = {}
    for name in dict.fromkeys(frame.name for frame in tree.frames):
        shown = short(name)
        if shown != name:
            found[name] = [shown, whole(name)]
    return found or None
