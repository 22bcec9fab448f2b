"""Which contexts to show, by name, depth and size, and in which order. Values stay as they are.

A selection is a mask over the rows of a tree, one byte a row. The parent of a kept row is always
kept, so a selection is a tree again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from proton.errors import UsageError
from proton.model.frame import METADATA_SCOPE
from proton.model.metric import MetricValue
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

Mask = bytearray


def everything(tree: Tree) -> Mask:
    """The mask that keeps every row."""
    return bytearray(b"\x01") * len(tree)


def both(first: Mask, second: Mask) -> Mask:
    """The rows that both masks keep."""
    whole = int.from_bytes(first, "little") & int.from_bytes(second, "little")
    return bytearray(whole.to_bytes(len(first), "little"))


def compile_pattern(pattern: str, option: str) -> re.Pattern[str]:
    """`pattern` compiled; a UsageError that names `option` where it is no regular expression."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{option} {pattern!r} is not a regular expression: {error}") from None


def include(tree: Tree, pattern: re.Pattern[str], shown: Callable[[str], str] = str) -> Mask:
    """Rows whose name matches from its start, all below them, and the path down to them.

    A name matches as the file has it or as `shown` writes it.
    """
    matches = _matcher(tree, pattern, shown)
    parents = tree.parents
    mask = bytearray(len(tree))
    below = bytearray(len(tree))
    for row, frame in enumerate(tree.frames):
        if (row and below[parents[row]]) or frame.name in matches:
            below[row] = mask[row] = 1
    _keep_ancestors(mask, parents)
    return mask


def exclude(tree: Tree, pattern: re.Pattern[str], shown: Callable[[str], str] = str) -> Mask:
    """All rows but those whose name matches from its start and what is below them."""
    matches = _matcher(tree, pattern, shown)
    parents = tree.parents
    mask = everything(tree)
    for row, frame in enumerate(tree.frames):
        if (row and not mask[parents[row]]) or frame.name in matches:
            mask[row] = 0
    return mask


def within_depth(tree: Tree, levels: int) -> Mask:
    """The first `levels` levels; the root is the first.

    Raises:
        UsageError: `levels` is negative.
    """
    if levels < 0:
        raise UsageError(
            f"depth {levels} is negative; give the levels to show, of which ROOT is the first"
        )
    return bytearray(depth < levels for depth in tree.depths())


def at_least(tree: Tree, values: Sequence[MetricValue | None], threshold: float) -> Mask:
    """Rows whose value is `threshold` or more, and the path down to them."""
    mask = bytearray(isinstance(value, (int, float)) and value >= threshold for value in values)
    _keep_ancestors(mask, tree.parents)
    return mask


def drop_metadata(profile: TreeProfile) -> TreeProfile:
    """The profile without what computing launch metadata cost; it is not the program's work."""
    tree = profile.tree
    if not any(frame.name == METADATA_SCOPE for frame in tree.frames):
        return profile
    mask = exclude(tree, re.compile(re.escape(METADATA_SCOPE) + r"\Z"))
    mask[0] = 1
    return replace(profile, tree=subtree(tree, mask))


def subtree(tree: Tree, mask: Mask) -> Tree:
    """The kept rows as a tree of their own."""
    rows = [row for row in range(len(tree)) if mask[row]]
    moved = {row: at for at, row in enumerate(rows)}
    moved[-1] = -1
    return Tree(
        frames=[tree.frames[row] for row in rows],
        parents=[moved[tree.parents[row]] for row in rows],
        own=[tree.own[row] for row in rows],
        details={moved[row]: kept for row, kept in tree.details.items() if mask[row]},
        entries={moved[row]: count for row, count in tree.entries.items() if mask[row]},
    )


def by_size(tree: Tree, values: Sequence[MetricValue | None]) -> list[int]:
    """The rows with the children of each by `values`; those without a number stay last, in order.

    A difference is as large as its amount.
    """
    children: list[list[int]] = [[] for _ in tree.parents]
    for row in range(1, len(tree)):
        children[tree.parents[row]].append(row)

    def size(row: int) -> float:
        value = values[row]
        return -abs(value) if isinstance(value, (int, float)) else 1.0

    order: list[int] = []
    pending = [0]
    while pending:
        row = pending.pop()
        order.append(row)
        pending += sorted(children[row], key=size)[::-1]
    return order


def reordered(tree: Tree, order: Sequence[int]) -> Tree:
    """`tree` with its rows in another order, which is depth-first as well."""
    moved = {before: after for after, before in enumerate(order)}
    moved[-1] = -1
    return Tree(
        frames=[tree.frames[row] for row in order],
        parents=[moved[tree.parents[row]] for row in order],
        own=[tree.own[row] for row in order],
        details={moved[row]: detail for row, detail in tree.details.items()},
        entries={moved[row]: count for row, count in tree.entries.items()},
    )


def _matcher(tree: Tree, pattern: re.Pattern[str], shown: Callable[[str], str]) -> set[str]:
    """The names that match; each name is tried once however many rows have it."""
    match = pattern.match
    names = {frame.name for frame in tree.frames}
    found = {name for name in names if match(name)}
    for name in names - found:
        if (text := shown(name)) is not name and text != name and match(text):
            found.add(name)
    return found


def _keep_ancestors(mask: Mask, parents: Sequence[int]) -> None:
    for row in range(len(mask) - 1, 0, -1):
        if mask[row]:
            mask[parents[row]] = 1
