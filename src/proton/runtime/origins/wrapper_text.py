"""Origins from a file that inductor generated: its comments, and the line of each launch.

Inductor's cache keeps, beside the code, a stack trace for parts of it: that of the last node of
what is launched there. So there is one line for each launch, and a fused kernel may have more.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from proton.model.origins import KernelOrigins, OriginLine, bounded, join_lines
from proton.runtime.origins.graph_nodes import current_line, innermost_place

_COMMENT = re.compile(
    r"\s*# (?:Topologically Sorted|Unsorted) Source Nodes: \[(?P<nodes>.*?)\], "
    r"Original ATen: \[(?P<ops>.*?)\]"
)
# Not those in C++: inductor launches them later than the line it notes for them.
_DEFINITION = re.compile(r"(?P<name>\w+) = async_compile\.(?!cpp)\w+\(")
_CALL = re.compile(r"\s+(?:\w+ = )?(?P<name>extern_kernels\.\w+|\w+)(?:\.run)?\(")
EXTERN = "extern_kernels."
_BACKWARD = re.compile(r"# AOT ID: \['\w*_backward'\]")


class Launch(NamedTuple):
    """A line of a generated file that launches a kernel or calls a library."""

    name: str
    line: int
    nodes: tuple[str, ...]
    ops: tuple[str, ...]


def launches_in(text: str) -> Iterator[Launch]:
    """Every launch, in order, with what comments say of it."""
    nothing: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    said, defined = nothing, {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _COMMENT.match(line):
            said = _names(match["nodes"]), _names(match["ops"])
        elif match := _DEFINITION.match(line):
            defined[match["name"]], said = said, nothing
        elif (match := _CALL.match(line)) is not None:
            name = match["name"]
            if name in defined or name.startswith(EXTERN):
                known = said if said != nothing else defined.get(name, nothing)
                yield Launch(name, number, *known)
                said = nothing


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def read_wrapper(
    path: str, text: str, line_map: tuple[Sequence[int], Sequence[str | None]]
) -> list[KernelOrigins]:
    """What a generated file and the lines of its launches say; kernels without a line are left out.

    Args:
        path: Of the file.
        text: Its content.
        line_map: First lines of its parts, ascending, and the stack trace of each.
    """
    starts, traces = line_map
    is_backward = _BACKWARD.match(text) is not None
    found: dict[tuple[str, int], list[OriginLine]] = {}
    for launch in launches_in(text):
        at = bisect_right(starts, launch.line) - 1
        place = innermost_place(traces[at] or "") if at >= 0 else None
        number = None if place is None else current_line(place)
        if place is None or number is None:
            continue
        key = (launch.name, launch.line if launch.name.startswith(EXTERN) else 0)
        found.setdefault(key, []).append(
            OriginLine(place.file, number, place.function, launch.ops, launch.nodes, is_backward)
        )
    return [
        KernelOrigins(name, path, line, *bounded(join_lines(lines)), is_partial=True)
        for (name, line), lines in found.items()
    ]
