"""The largest context of each parent comes first."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.select import by_size, reordered
from tests.support.profiles import tree_of


def test_children_stand_by_size_and_take_what_is_known_of_them_along() -> None:
    tree = tree_of(
        [(0, "ROOT", {}), (1, "a", {}), (2, "k", {"n": 1}), (1, "none", {}), (1, "b", {"n": 5})]
    )
    tree = replace(tree, entries={4: 7})
    ordered = reordered(tree, by_size(tree, tree.totals("n")))
    assert [frame.name for frame in ordered.frames] == ["ROOT", "b", "a", "k", "none"]
    assert ordered.parents == [-1, 0, 0, 2, 0]
    assert ordered.entries == {1: 7}
    assert ordered.totals("n")[0] == 6
