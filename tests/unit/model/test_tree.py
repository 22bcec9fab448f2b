"""Walks over the columns of a tree, at any depth."""

from __future__ import annotations

import pytest

from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.tree import Node, Tree, depth_first, row_at

# ROOT -> a -> (k, b -> k), c
TREE = Tree(
    [ROOT_FRAME, Frame("a"), Frame("k", FrameKind.KERNEL), Frame("b"), Frame("k"), Frame("c")],
    [-1, 0, 1, 1, 3, 0],
    [{"x": 0}, {}, {"x": 1, "device_id": "0"}, {"y": 2.5}, {"x": 3, "list": (1, 2)}, {}],
)


def test_depths_count_from_the_root() -> None:
    assert TREE.depths() == [0, 1, 2, 2, 3, 1]


def test_ends_close_every_subtree() -> None:
    assert TREE.ends() == [6, 5, 3, 5, 5, 6]


def test_totals_sum_upward_and_are_missing_where_nothing_was_measured() -> None:
    assert TREE.totals("x") == [4, 4, 1, 3, 3, None]


def test_own_numbers_leave_out_labels_and_lists() -> None:
    assert TREE.own_numbers("device_id") == [None] * 6
    assert TREE.own_numbers("list") == [None] * 6


def test_nodes_are_every_row_parents_first() -> None:
    assert [node.name for node in TREE.nodes()] == ["ROOT", "a", "k", "b", "k", "c"]
    assert len(TREE) == 6


def test_children_are_in_first_seen_order() -> None:
    assert [node.name for node in TREE.root.children] == ["a", "c"]
    assert [node.name for node in TREE.root.child("a").children] == ["k", "b"]


def test_a_child_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(KeyError, match=r"'z' is not below 'ROOT'; there are \['a', 'c'\]"):
        TREE.root.child("z")


def test_walk_stays_inside_the_subtree() -> None:
    assert [node.row for node in Node(TREE, 1).walk()] == [1, 2, 3, 4]
    assert [node.row for node in Node(TREE, 5).walk()] == [5]


def test_a_path_leaves_the_root_out() -> None:
    assert Node(TREE, 4).path() == ("a", "b", "k")
    assert TREE.root.path() == ()


def test_the_parent_of_the_root_is_none() -> None:
    assert TREE.root.parent is None
    assert Node(TREE, 3).parent == Node(TREE, 1)


def test_a_total_of_a_node_counts_what_is_below_it() -> None:
    assert Node(TREE, 1).total("x") == 4
    assert Node(TREE, 5).total("x") == 0


def test_a_value_is_of_the_node_alone() -> None:
    assert Node(TREE, 3).value("y") == 2.5
    assert Node(TREE, 1).value("y") is None
    assert Node(TREE, 2).own == {"x": 1, "device_id": "0"}
    assert Node(TREE, 2).frame.kind is FrameKind.KERNEL


def test_10_000_levels_need_no_recursion() -> None:
    size = 10_001
    tree = Tree([Frame("f")] * size, range(-1, size - 1), [{"x": 1}] * size)
    assert tree.depths()[-1] == size - 1
    assert tree.totals("x")[0] == size
    assert len(Node(tree, size - 1).path()) == size - 1


def test_a_path_of_names_leads_to_its_row_and_back() -> None:
    frames = [Frame(name) for name in ("ROOT", "a", "b", "a", "b")]
    tree = Tree(frames, [-1, 0, 1, 0, 1], [{}] * 5)
    steps = tree.steps()
    assert row_at(steps, ["a", "b"]) == 2  # the first of equal siblings
    assert row_at(steps, ["b"], start=1) == 2
    assert row_at(steps, ["a", "c"]) is None
    assert tree.path(2) == ["a", "b"]
    assert tree.path(0) == []


def test_values_are_added_to_all_rows_above() -> None:
    tree = Tree([Frame("x")] * 4, [-1, 0, 1, 0], [{}] * 4)
    values: list[float | None] = [None, 1, 2, None]
    tree.add_upwards(values)
    assert values == [3, 3, 2, None]


def test_nodes_in_any_order_become_rows_depth_first() -> None:
    assert depth_first([-1, 0, 0, 1, 2]) == ([0, 1, 3, 2, 4], [-1, 0, 1, 0, 3])
