"""Two profiles into one tree of differences: what a context has in the first minus the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proton.analysis.derive import NOT_KNOWN, Column
from proton.analysis.measurements import Cell
from proton.model.frame import Frame
from proton.model.metric import EMPTY
from proton.model.tree import Tree

ABSENT = -1


@dataclass(frozen=True, slots=True)
class Union:
    """The contexts of two trees, matched by path. `ABSENT` where a tree lacks the context."""

    tree: Tree  # names and shape only
    first_rows: Sequence[int]
    second_rows: Sequence[int]


def unite(first: Tree, second: Tree) -> Union:
    """Every path of either tree once, in the order of `first`, then what only `second` has.

    Siblings of one name are matched in their order.
    """
    merged = _Merged()
    first_nodes = merged.add(first)
    second_nodes = merged.add(second)
    frames: list[Frame] = []
    parents: list[int] = []
    order: list[int] = []
    pending = [(0, -1)]
    while pending:
        node, parent = pending.pop()
        row = len(order)
        order.append(node)
        frames.append(merged.frames[node])
        parents.append(parent)
        pending.extend((child, row) for child in reversed(merged.children[node]))
    tree = Tree(frames, parents, [EMPTY] * len(order))
    return Union(
        tree,
        _rows_in_order(first_nodes, order),
        _rows_in_order(second_nodes, order),
    )


def subtract(union: Union, first: Column, second: Column) -> Column:
    """The column of differences, first minus second.

    Where one profile lacks a context, a quantity that adds up counts as nothing there; a rate has
    no difference.
    """
    additive = first.is_additive and second.is_additive
    values: list[Cell] = []
    for row, other in zip(union.first_rows, union.second_rows, strict=True):
        ours = first.values[row] if row != ABSENT else None
        theirs = second.values[other] if other != ABSENT else None
        values.append(_difference(ours, theirs, additive))
    total = None if not additive else (first.total or 0) - (second.total or 0)
    return replace(first, values=values, total=total, is_difference=True)


def _difference(ours: Cell, theirs: Cell, additive: bool) -> Cell:
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return ours - theirs
    if NOT_KNOWN in (ours, theirs):
        return NOT_KNOWN
    if additive and isinstance(ours, (int, float)) and theirs is None:
        return ours
    if additive and isinstance(theirs, (int, float)) and ours is None:
        return -theirs
    if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
        return f"{theirs} -> {ours}"
    return None


class _Merged:
    """Nodes of several trees, joined by path as trees are added. Node 0 is the root."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.children: list[list[int]] = []
        self._index: dict[tuple[int, str, int], int] = {}

    def add(self, tree: Tree) -> list[int]:
        """The node of every row of `tree`."""
        nodes: list[int] = []
        twins: dict[tuple[int, str], int] = {}
        for frame, parent in zip(tree.frames, tree.parents, strict=True):
            above = nodes[parent] if parent >= 0 else -1
            twin = twins.get((above, frame.name), 0)
            twins[above, frame.name] = twin + 1
            name = frame.name if parent >= 0 else ""  # roots match whatever they are called
            node = self._index.setdefault((above, name, twin), len(self.frames))
            if node == len(self.frames):
                self.frames.append(frame)
                self.children.append([])
                if above >= 0:
                    self.children[above].append(node)
            nodes.append(node)
        return nodes


def _rows_in_order(nodes: Sequence[int], order: Sequence[int]) -> list[int]:
    row_of = {node: row for row, node in enumerate(nodes)}
    return [row_of.get(node, ABSENT) for node in order]
