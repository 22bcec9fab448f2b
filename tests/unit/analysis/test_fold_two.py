"""Two trees are folded alike."""

from __future__ import annotations

from proton.analysis.diff import unite
from proton.analysis.folding.fold_contexts import folded_tree
from proton.analysis.folding.fold_two import FoldedTwo, fold_two
from proton.model.metric import MetricKind
from proton.model.tree import Tree
from tests.support.profiles import Row, tree_of


def steps(*numbers: int) -> Tree:
    rows: list[Row] = [(0, "ROOT", {})]
    for number in numbers:
        rows += [(1, f"step_{number}", {}), (2, "k", {"time (ns)": 10 + number})]
    return tree_of(rows)


def folded(first: Tree, second: Tree) -> FoldedTwo | None:
    return fold_two(unite(first, second), first, second)


def test_turns_that_only_both_together_have_are_one_row_in_each() -> None:
    first, second = steps(0, 1), steps(1, 2)
    both = folded(first, second)
    assert both is not None
    for tree, folding, time_ns in ((first, both.first, 21), (second, both.second, 23)):
        found = folded_tree(tree, folding, lambda _: MetricKind.INCLUSIVE)
        assert [frame.name for frame in found.frames] == ["ROOT", "step_*", "k"]
        assert found.own[2]["time (ns)"] == time_ns
    assert both.members == [(1, 1, [1, 3, 5])]


def test_what_one_tree_lacks_has_no_row_there() -> None:
    both = folded(tree_of([(0, "ROOT", {}), (1, "warm", {})]), steps(0, 1, 2))
    assert both is not None
    assert both.members == [(None, 1, [2, 4, 6])]
    assert both.first.group == [0, 1]
    assert both.first.titles == {}


def test_kernels_of_either_tree_keep_their_numbers() -> None:
    rows: list[Row] = [(0, "ROOT", {}), *((1, f"gemm_{at}", {"time (ns)": 1}) for at in range(3))]
    assert folded(tree_of([(0, "ROOT", {})]), tree_of(rows)) is None
