"""Where kernels that a compiler fused come from: lines of the program and nodes of its graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from proton.model.schema import FIRST, SAME, Stored, identity

MOST_LINES = 64  # of one kernel
MOST_NAMES = 32  # nodes or operators of one line


@dataclass(frozen=True, slots=True)
class OriginLine:
    """A line of the program, and what a kernel computes of it."""

    file: Annotated[str, Stored("path of the source file", SAME)]
    line: Annotated[int, Stored("number of the line, from 1", SAME, least=1)]
    function: Annotated[str, Stored("the function it is in", SAME, sparse=True)] = ""
    ops: Annotated[Sequence[str], Stored("operators, as in `aten.relu`", FIRST, sparse=True)] = ()
    nodes: Annotated[Sequence[str], Stored("nodes of the FX graph", FIRST, sparse=True)] = ()
    is_backward: Annotated[
        bool, Stored("whether some of these nodes are of the backward graph", FIRST, sparse=True)
    ] = False


@dataclass(frozen=True, slots=True)
class KernelOrigins:
    """The lines that one kernel of one generated file was made of."""

    kernel: Annotated[
        str, Stored("name of the kernel, or of the function of a library that is called", SAME)
    ]
    wrapper: Annotated[str, Stored("the generated file that launches it", SAME)] = ""
    wrapper_line: Annotated[
        int,
        Stored(
            "line of that file with the call, where only this tells the kernel", SAME, sparse=True
        ),
    ] = 0
    lines: Annotated[Sequence[OriginLine], Stored("lines of the program, below")] = ()
    left_out: Annotated[int, Stored("lines besides these", sparse=True)] = 0
    is_partial: Annotated[
        bool,
        Stored(
            "whether there may be more lines: the code came from a cache, which names one for each "
            "launch",
            sparse=True,
        ),
    ] = False


def merge_origins(parts: Iterable[Sequence[KernelOrigins]]) -> tuple[KernelOrigins, ...]:
    """The origins of several parts of a recording, each kernel of a generated file once.

    A part that knows all lines counts for more than one that may lack some.
    """
    merged: dict[tuple[object, ...], KernelOrigins] = {}
    for origins in (each for part in parts for each in part):
        known = merged.get(identity(origins))
        if known is None or (known.is_partial and not origins.is_partial):
            merged[identity(origins)] = origins
        elif known.is_partial == origins.is_partial and known != origins:
            merged[identity(origins)] = _joined(known, origins)
    return tuple(merged.values())


def _joined(first: KernelOrigins, second: KernelOrigins) -> KernelOrigins:
    lines, left_out = bounded(join_lines((*first.lines, *second.lines)))
    return replace(first, lines=lines, left_out=max(first.left_out, second.left_out, left_out))


def join_lines(lines: Iterable[OriginLine]) -> tuple[OriginLine, ...]:
    """Each line once, with the operators and nodes of all that name it; in the order of files."""
    joined: dict[tuple[object, ...], OriginLine] = {}
    for line in lines:
        key = identity(line)
        known = joined.get(key, line)
        joined[key] = replace(
            line,
            ops=_each_once(known.ops, line.ops),
            nodes=_each_once(known.nodes, line.nodes),
            is_backward=known.is_backward or line.is_backward,
        )
    return tuple(sorted(joined.values(), key=lambda each: (each.file, each.line, each.function)))


def bounded(lines: Sequence[OriginLine]) -> tuple[tuple[OriginLine, ...], int]:
    """As many lines as a file keeps of a kernel, and how many it does not."""
    return tuple(lines[:MOST_LINES]), max(len(lines) - MOST_LINES, 0)


def _each_once(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))[:MOST_NAMES]
