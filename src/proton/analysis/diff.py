"""Two profiles into one tree of differences: what a context has in the first minus the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from proton.analysis.aggregate import GrowingTree
from proton.analysis.derive import NOT_KNOWN, Column
from proton.analysis.measurements import Cell
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
    growing = GrowingTree(first.frames[0])
    first_nodes, second_nodes = _add(growing, first), _add(growing, second)
    order, parents = growing.order()
    tree = Tree([growing.frames[node] for node in order], parents, [EMPTY] * len(order))
    return Union(tree, _rows_in_order(first_nodes, order), _rows_in_order(second_nodes, order))


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


def _add(growing: GrowingTree, tree: Tree) -> list[int]:
    """The node of every row of `tree`; roots match whatever they are called."""
    nodes = [0]
    twins: dict[tuple[int, str], int] = {}
    for frame, parent in islice(zip(tree.frames, tree.parents, strict=True), 1, None):
        above = nodes[parent]
        twin = twins.get((above, frame.name), 0)
        twins[above, frame.name] = twin + 1
        nodes.append(growing.child(above, (frame.name, twin), frame))
    return nodes


def _rows_in_order(nodes: Sequence[int], order: Sequence[int]) -> list[int]:
    row_of = {node: row for row, node in enumerate(nodes)}
    return [row_of.get(node, ABSENT) for node in order]
