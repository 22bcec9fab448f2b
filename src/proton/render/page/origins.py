"""The part `origins`: the lines of the program that kernels of torch.compile come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proton.analysis.origins.join_rows import origins_by_name
from proton.analysis.origins.line_times import kernel_times
from proton.model.profile import TreeProfile
from proton.render.display_names import cut_end, printable
from proton.render.text.origin_tables import place_text, remarks_of, shown_files

MOST_FILES = 16  # whose text is in the page
_MOST_LETTERS = 200


class OriginPlace(NamedTuple):
    """A line: its file as recorded and its number, and both with the function as people read it."""

    file: str
    line: int
    shown: str
    ops: str
    is_backward: bool


@dataclass(frozen=True, slots=True)
class OriginsPart:
    """Lists with a place for each kernel that has origins, by its name in the file."""

    name: Sequence[str]
    lines: Sequence[Sequence[OriginPlace]]
    remarks: Sequence[Sequence[str]]


def origins_part(profile: TreeProfile) -> OriginsPart | None:
    """Kernels with their lines; None where no kernel has any."""
    found = origins_by_name(profile)
    if not found:
        return None
    files = shown_files((line.file for each in found.values() for line in each.lines), full=False)
    return OriginsPart(
        name=list(found),
        lines=[
            [
                OriginPlace(
                    line.file,
                    line.line,
                    place_text(line, files),
                    cut_end(printable(", ".join(line.ops or line.nodes)), _MOST_LETTERS),
                    line.is_backward,
                )
                for line in each.lines
            ]
            for each in found.values()
        ],
        remarks=[remarks_of(each) for each in found.values()],
    )


def origin_lines(profile: TreeProfile) -> Iterator[tuple[str, int]]:
    """Lines whose files' text a page should have: those of the kernels with the most time."""
    files: set[str] = set()
    for kernel in kernel_times(profile):
        for line in kernel.found.lines:
            if line.file in files or len(files) < MOST_FILES:
                files.add(line.file)
                yield line.file, line.line
