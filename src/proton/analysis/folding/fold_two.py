"""Two profiles folded alike, so that their rows can be held against each other.

Folded each by itself, three steps of one and two of the other would have no row in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proton.analysis.diff import ABSENT, Union
from proton.analysis.folding.fold_contexts import Folding, fold_contexts
from proton.model.metric import EMPTY
from proton.model.tree import Tree


@dataclass(frozen=True, slots=True)
class FoldedTwo:
    """What is one row in both of two trees, and which contexts of either these rows stand for."""

    first: Folding
    second: Folding
    members: Sequence[tuple[int | None, int | None, list[int]]]
    """Of each row that has a title: its rows in both folded trees, and the rows of their union."""


def fold_two(union: Union, first: Tree, second: Tree) -> FoldedTwo | None:
    """Fold the numbered siblings of two trees, whichever of them has them; None where none fold."""
    # Which contexts took time of a device is told by either.
    own = [
        {
            **(EMPTY if here == ABSENT else first.own[here]),
            **(EMPTY if there == ABSENT else second.own[there]),
        }
        for here, there in zip(union.first_rows, union.second_rows, strict=True)
    ]
    folding = fold_contexts(replace(union.tree, own=own))
    if folding is None:
        return None
    sides = [
        _side(folding, rows, len(tree))
        for rows, tree in ((union.first_rows, first), (union.second_rows, second))
    ]
    members: dict[int, list[int]] = {group: [] for group in folding.titles}
    for row, group in enumerate(folding.group):
        if group in members:
            members[group].append(row)
    (one, ours), (other, theirs) = sides
    found = [(ours.get(group), theirs.get(group), rows) for group, rows in members.items()]
    return FoldedTwo(one, other, found)


def _side(folding: Folding, rows: Sequence[int], size: int) -> tuple[Folding, dict[int, int]]:
    """The groups that a tree of `size` rows has, and the row that each is in it when folded."""
    group = [0] * size
    for at, row in enumerate(rows):
        if row != ABSENT:
            group[row] = folding.group[at]
    places = {each: place for place, each in enumerate(sorted(set(group)))}
    titles = {places[each]: title for each, title in folding.titles.items() if each in places}
    return Folding([places[each] for each in group], titles), places
