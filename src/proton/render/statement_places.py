"""Where statements begin, by the texts of the files that a profile names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from proton.analysis.statement_lines import Begin, Place, first_lines
from proton.files.source_text import TextState, read_source
from proton.model.profile import Profile

_READABLE = (TextState.SAME, TextState.NOT_CHECKED)  # lines of a changed file are others


def statements_of(profile: Profile) -> Begin:
    """Tells the line where a statement begins from one inside it; itself where nobody knows.

    Files are read when a line of theirs is asked for.
    """
    recorded = {} if profile.sampling is None else profile.sampling.files

    @cache
    def lines_of(file: str) -> Mapping[int, int]:
        if not file.endswith(".py"):
            return {}
        text = read_source(file, recorded.get(file), profile.source)
        return first_lines("\n".join(text.lines)) if text.state in _READABLE else {}

    def begin(place: Place) -> Place:
        file, line = place
        return file, lines_of(file).get(line, line)

    return begin
