from __future__ import annotations

from collections.abc import Callable

from proton.analysis.derive import Column
from proton.analysis.diff import ABSENT, subtract, unite
from proton.analysis.measurements import Cell
from proton.model.tree import Tree

MakeTree = Callable[..., Tree]


def names(tree: Tree) -> list[str]:
    return [frame.name for frame in tree.frames]


def column(*values: Cell, total: float | None = 1.0) -> Column:
    return Column("x", "x", "", list(values), is_additive=total is not None, total=total)


def test_contexts_are_matched_by_path(make_tree: MakeTree) -> None:
    first = make_tree([(0, "ROOT", {}), (1, "a", {}), (2, "k", {}), (1, "b", {}), (2, "k", {})])
    second = make_tree([(0, "ROOT", {}), (1, "b", {}), (2, "k", {}), (1, "a", {})])
    union = unite(first, second)
    assert names(union.tree) == ["ROOT", "a", "k", "b", "k"]
    assert list(union.first_rows) == [0, 1, 2, 3, 4]
    assert list(union.second_rows) == [0, 3, ABSENT, 1, 2]


def test_what_only_the_second_has_comes_last_among_its_siblings(make_tree: MakeTree) -> None:
    first = make_tree([(0, "ROOT", {}), (1, "a", {}), (1, "b", {})])
    second = make_tree([(0, "ROOT", {}), (1, "new", {}), (1, "a", {}), (2, "deep", {})])
    union = unite(first, second)
    assert names(union.tree) == ["ROOT", "a", "deep", "b", "new"]
    assert list(union.tree.parents) == [-1, 0, 1, 0, 0]
    assert list(union.first_rows) == [0, 1, ABSENT, 2, ABSENT]


def test_siblings_of_one_name_are_matched_in_their_order(make_tree: MakeTree) -> None:
    first = make_tree([(0, "ROOT", {}), (1, "k", {}), (1, "k", {})])
    second = make_tree([(0, "ROOT", {}), (1, "k", {})])
    union = unite(first, second)
    assert list(union.second_rows) == [0, 1, ABSENT]


def test_roots_match_whatever_they_are_called(make_tree: MakeTree) -> None:
    union = unite(make_tree([(0, "ROOT", {})]), make_tree([(0, "root", {})]))
    assert names(union.tree) == ["ROOT"]


def test_the_difference_is_the_first_minus_the_second(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "a", {})])
    union = unite(tree, tree)
    found = subtract(union, column(10, 4, total=10.0), column(7, 5, total=7.0))
    assert found.values == [3, -1]
    assert found.total == 3.0


def test_a_context_that_is_missing_counts_as_nothing_if_values_add_up(
    make_tree: MakeTree,
) -> None:
    union = unite(
        make_tree([(0, "ROOT", {}), (1, "a", {})]), make_tree([(0, "ROOT", {}), (1, "b", {})])
    )
    assert subtract(union, column(5, 5), column(3, 3)).values == [2, 5, -3]


def test_a_rate_has_no_difference_to_nothing(make_tree: MakeTree) -> None:
    union = unite(make_tree([(0, "ROOT", {}), (1, "a", {})]), make_tree([(0, "ROOT", {})]))
    found = subtract(union, column(5, 5, total=None), column(3, total=None))
    assert found.values == [2, None]


def test_an_unknown_peak_stays_unknown(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {})])
    assert subtract(unite(tree, tree), column("n/a"), column(0.5)).values == ["n/a"]


def test_labels_that_differ_show_both(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {})])
    found = subtract(unite(tree, tree), column("memory", total=None), column("compute", total=None))
    assert found.values == ["compute -> memory"]


def test_ten_thousand_levels_are_united_without_recursion(make_tree: MakeTree) -> None:
    deep = make_tree([(depth, f"f{depth}", {}) for depth in range(10_001)])
    assert len(unite(deep, deep).tree) == 10_001
