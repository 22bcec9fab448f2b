"""Lines of the program from nodes of an FX graph and from stack traces as torch writes them."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from proton.model.origins import OriginLine, join_lines

_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)$')
# Modules of torch that a program calls: what they do is for the line that called them.
_OF_TORCH = re.compile(r".*/torch/(?:_[a-z]\w*(?:/|\.py)|nn/(?:modules/|functional\.py)).*")


class Place(NamedTuple):
    """A frame of a stack trace, with the text of its line; empty where the trace has none."""

    file: str
    line: int
    function: str
    text: str = ""


@lru_cache(maxsize=4096)  # nodes of one line have equal traces, and kernels share nodes
def innermost_place(trace: str) -> Place | None:
    """The innermost frame of the program; None where the trace has no frame."""
    places = _places(trace)
    own = [place for place in places if not _OF_TORCH.fullmatch(place.file)]
    kept = own or places
    return kept[-1] if kept else None


def _places(trace: str) -> list[Place]:
    found: list[Place] = []
    lines = trace.splitlines()
    for at, text in enumerate(lines):
        if match := _FRAME.match(text):
            below = lines[at + 1].strip() if at + 1 < len(lines) else ""
            has_text = below and not _FRAME.match(lines[at + 1])
            found.append(
                Place(
                    match["file"],
                    int(match["line"]),
                    match["function"],
                    below if has_text else "",
                )
            )
    return found


def current_line(place: Place) -> int | None:
    """Where the text of a cached place stands in its file now; None: it is gone.

    Caches of torch do not ask for line numbers: a file that was edited above a function finds the
    function's old code. Of several equal lines the nearest counts.
    """
    texts = linecache.getlines(place.file) if place.text else []
    if not texts:  # nobody can tell
        return place.line
    if place.line <= len(texts) and texts[place.line - 1].strip() == place.text:
        return place.line
    alike = [number for number, text in enumerate(texts, 1) if text.strip() == place.text]
    return min(alike, key=lambda number: abs(number - place.line), default=None)


class NodeLine(NamedTuple):
    """A line with what a side file needs besides: the text of the line."""

    origin: OriginLine
    text: str


def lines_of_schedule(schedule: Any, *, is_extern: bool) -> list[NodeLine]:
    """The lines of what inductor's scheduler put into one kernel, or of a call to a library.

    Raises:
        AttributeError: torch's objects are not as they were known to be.
    """
    return lines_of_nodes(_extern_nodes(schedule) if is_extern else _fused_nodes(schedule))


def _fused_nodes(schedule: Iterable[Any]) -> Iterator[Any]:
    for each in schedule:  # markers of loops are among them, which have no node
        buffer = getattr(each, "node", None)
        if buffer is not None:
            yield from buffer.origins


def _extern_nodes(kernel: Any) -> Sequence[Any]:
    """The node that is the call; its origins have what was computed for its arguments, too."""
    exact = getattr(kernel, "origin_node", None)
    return [exact] if exact is not None else list(kernel.origins)


def lines_of_nodes(nodes: Iterable[Any]) -> list[NodeLine]:
    """The lines that FX nodes carry, each once; nodes that carry none are left out."""
    found: list[OriginLine] = []
    texts: dict[tuple[str, int], str] = {}
    for node in dict.fromkeys(nodes):
        place = innermost_place(node.stack_trace or "") if node.op == "call_function" else None
        if place is None:
            continue
        texts[place.file, place.line] = place.text
        found.append(
            OriginLine(
                place.file,
                place.line,
                place.function,
                ops=_ops(node),
                nodes=(str(node.name),),
                is_backward=node.meta.get("partitioner_tag") == "is_backward",
            )
        )
    return [NodeLine(line, texts[line.file, line.line]) for line in join_lines(found)]


def _ops(node: Any) -> tuple[str, ...]:
    """The operator of the program, before inductor took it apart, without its overload."""
    original = node.meta.get("original_aten") or node.target
    packet = getattr(original, "_overloadpacket", original)
    return (str(packet),) if hasattr(original, "_overloadpacket") else ()
