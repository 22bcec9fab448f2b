from __future__ import annotations

from collections.abc import Callable

from proton.analysis.measurements import shown_values, total_of, whole_of
from proton.model.metric import MetricKind
from proton.model.tree import Tree

MakeTree = Callable[..., Tree]
INCLUSIVE, EXCLUSIVE, PROPERTY = MetricKind


def test_an_inclusive_metric_is_summed_over_all_below(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "a", {"x": 1}), (2, "b", {"x": 2}), (1, "c", {"x": 4})])
    assert shown_values(tree, "x", INCLUSIVE) == [7, 3, 2, 4]


def test_an_exclusive_metric_stays_where_it_was_measured(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "a", {"x": 1}), (2, "b", {"x": 2})])
    assert shown_values(tree, "x", EXCLUSIVE) == [None, 1, 2]


def test_a_context_below_which_nothing_was_measured_has_no_value(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {"x": 0}), (1, "a", {}), (1, "b", {"x": 2})])
    assert shown_values(tree, "x", INCLUSIVE) == [2, None, 2]


def test_the_zero_that_marks_the_root_is_not_a_measurement(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {"time (ns)": 0}), (1, "a", {})])
    assert shown_values(tree, "time (ns)", INCLUSIVE) == [None, None]
    assert whole_of(tree, "time (ns)") is None


def test_a_zero_measured_below_the_root_is_shown_as_zero(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {"x": 0}), (1, "a", {"x": 0})])
    assert shown_values(tree, "x", INCLUSIVE) == [0, 0]
    assert whole_of(tree, "x") == 0


def test_lists_are_summed_element_for_element(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "a", {"x": (1, 2)}), (1, "b", {"x": (10, 20)})])
    assert shown_values(tree, "x", INCLUSIVE) == [(11, 22), (1, 2), (10, 20)]


def test_lists_of_several_lengths_have_no_sum_above_them(make_tree: MakeTree) -> None:
    tree = make_tree(
        [(0, "ROOT", {}), (1, "a", {}), (2, "b", {"x": (1, 2)}), (2, "c", {"x": (1,)})]
    )
    assert shown_values(tree, "x", INCLUSIVE) == [None, None, (1, 2), (1,)]


def test_the_total_of_an_exclusive_metric_is_its_sum() -> None:
    assert total_of([None, 1, 2.5], EXCLUSIVE) == 3.5


def test_the_total_of_an_inclusive_metric_is_that_of_the_root() -> None:
    assert total_of([7, 3, 4], INCLUSIVE) == 7


def test_a_property_has_no_total() -> None:
    assert total_of([1, 2], PROPERTY) is None


def test_the_whole_is_the_sum_of_what_contexts_measured_themselves(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {"x": 0}), (1, "a", {"x": 3}), (2, "b", {"x": 4})])
    assert whole_of(tree, "x") == 7


def test_ten_thousand_levels_are_summed_without_recursion(make_tree: MakeTree) -> None:
    tree = make_tree([(depth, f"f{depth}", {"x": 1}) for depth in range(10_001)])
    assert shown_values(tree, "x", INCLUSIVE)[0] == 10_001
