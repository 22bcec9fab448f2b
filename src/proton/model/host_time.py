"""Times of the host: which of them lie in each other, and what is left when that is taken off.

The time of a scope or operator holds the times of those inside. Backward work stands below its
forward operator but ran later: that operator does not hold it. A scope does, as it may be the one
around a whole step.
"""

from __future__ import annotations

from dataclasses import replace

from proton.model.frame import FrameKind
from proton.model.metric import CPU_TIME_NS
from proton.model.tree import Tree

RECOMPUTE = "<recompute>"


def has_operators(tree: Tree) -> bool:
    """Whether a framework's operators were recorded."""
    return any(frame.kind is FrameKind.OPERATOR for frame in tree.frames)


def outermost(tree: Tree, metric: str, *, by_name: bool = False) -> bytearray:
    """The rows that measured `metric` and lie inside no other that did, of their name if so asked.

    A time of the host is that of a whole region: it holds the times of regions inside.
    """
    is_outermost = bytearray(len(tree))
    ends = tree.ends()
    above: list[tuple[int, str, dict[str, int]]] = []  # rows that measured it: end, name, counts
    scopes: dict[str, int] = {}  # how many of a name are above
    operators: dict[str, int] = {}
    left: list[tuple[int, dict[str, int]]] = []  # operators above backward work: where it ends
    for row, (frame, own) in enumerate(zip(tree.frames, tree.own, strict=True)):
        while above and above[-1][0] <= row:
            _, name, counts = above.pop()
            counts[name] -= 1
        while left and left[-1][0] <= row:
            operators = left.pop()[1]
        if frame.kind is FrameKind.BACKWARD and (not left or frame.name != RECOMPUTE):
            left.append((ends[row], operators))
            operators = {}
        if row and metric in own:
            name = frame.name if by_name else ""
            is_outermost[row] = not scopes.get(name) and not operators.get(name)
            counts = operators if frame.kind is FrameKind.OPERATOR else scopes
            counts[name] = counts.get(name, 0) + 1
            above.append((ends[row], name, counts))
    return is_outermost


def holders(tree: Tree, metric: str = CPU_TIME_NS) -> list[int]:
    """Of every row the innermost one above it whose time of the host holds its own; -1: none."""
    scopes, operators = [-1] * len(tree), [-1] * len(tree)
    is_backward = bytearray(len(tree))
    for row in range(1, len(tree)):
        parent, frame = tree.parents[row], tree.frames[row]
        scopes[row], operators[row] = scopes[parent], operators[parent]
        is_backward[row] = is_backward[parent]
        if metric in tree.own[parent]:
            is_operator = tree.frames[parent].kind is FrameKind.OPERATOR
            (operators if is_operator else scopes)[row] = parent
        if frame.kind is FrameKind.BACKWARD:
            if not is_backward[row] or frame.name != RECOMPUTE:  # a node recomputes while it runs
                operators[row] = -1
            is_backward[row] = 1
    return [max(pair) for pair in zip(scopes, operators, strict=True)]


def self_times(tree: Tree, metric: str = CPU_TIME_NS) -> list[float | None]:
    """Time of the host of every row less what regions inside took; None where none was measured."""
    times = tree.own_numbers(metric)
    times[0] = times[0] or None  # a zero of the root is only a mark
    left = list(times)
    for row, holder in enumerate(holders(tree, metric)):
        if holder >= 0 and (above := left[holder]) is not None:
            left[holder] = above - (times[row] or 0)
    # Regions inside ran longer than the whole where several threads share it.
    return [None if time_ns is None else max(time_ns, 0) for time_ns in left]


def shown_times_ns(tree: Tree) -> list[float | None]:
    """Time of the host of every row; one that was not timed has that of the regions inside it.

    Modules and lines of the program around operators are not timed themselves.
    """
    times = tree.own_numbers(CPU_TIME_NS)
    times[0] = times[0] or None
    inside: list[float | None] = [None] * len(tree)
    for row, holder in enumerate(holders(tree)):
        if (time_ns := times[row]) is not None and row:
            inside[tree.parents[row]] = (inside[tree.parents[row]] or 0) + time_ns
            if holder >= 0:  # it holds this time, and so it ends there
                inside[holder] = (inside[holder] or 0) - time_ns
    tree.add_upwards(inside)
    return [
        part if time_ns is None else time_ns for time_ns, part in zip(times, inside, strict=True)
    ]


def with_self_times(tree: Tree) -> Tree:
    """The tree with the own time of the host in place of that of a whole region: it adds up."""
    own = [
        metrics if time_ns is None else {**metrics, CPU_TIME_NS: time_ns}
        for metrics, time_ns in zip(tree.own, self_times(tree), strict=True)
    ]
    return replace(tree, own=own)
