from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from proton.analysis.select import (
    at_least,
    both,
    compile_pattern,
    drop_metadata,
    everything,
    exclude,
    include,
    subtree,
    within_depth,
)
from proton.errors import UsageError
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

ROWS = [
    (0, "ROOT", {}),
    (1, "fwd", {}),
    (2, "matmul", {"x": 5}),
    (2, "triton_inner", {}),
    (3, "matmul", {"x": 2}),
    (3, "add", {"x": 1}),
    (1, "bwd", {}),
    (2, "relu", {"x": 4}),
]


@pytest.fixture
def tree(make_tree: Callable[..., Tree]) -> Tree:
    return make_tree(ROWS)


def kept(tree: Tree, mask: bytearray) -> list[str]:
    return [frame.name for frame, keep in zip(tree.frames, mask, strict=True) if keep]


def test_include_keeps_matches_and_the_path_to_them(tree: Tree) -> None:
    mask = include(tree, re.compile(".*matmul.*"))
    assert kept(tree, mask) == ["ROOT", "fwd", "matmul", "triton_inner", "matmul"]


def test_include_keeps_all_that_is_below_a_match(tree: Tree) -> None:
    mask = include(tree, re.compile("triton.*"))
    assert kept(tree, mask) == ["ROOT", "fwd", "triton_inner", "matmul", "add"]


def test_a_pattern_matches_from_the_start_of_a_name(tree: Tree) -> None:
    assert not any(include(tree, re.compile("mul")))


def test_include_of_the_root_keeps_everything(tree: Tree) -> None:
    assert all(include(tree, re.compile("ROOT")))


def test_a_pattern_also_matches_the_name_as_it_is_shown(tree: Tree) -> None:
    mask = include(
        tree, re.compile("shown"), lambda name: f"shown {name}" if name == "add" else name
    )
    assert kept(tree, mask) == ["ROOT", "fwd", "triton_inner", "add"]


def test_exclude_drops_matches_and_all_below_them(tree: Tree) -> None:
    mask = exclude(tree, re.compile("triton.*"))
    assert kept(tree, mask) == ["ROOT", "fwd", "matmul", "bwd", "relu"]


def test_exclude_of_the_root_drops_everything(tree: Tree) -> None:
    assert not any(exclude(tree, re.compile(".*")))


def test_depth_counts_the_root_as_the_first_level(tree: Tree) -> None:
    assert kept(tree, within_depth(tree, 2)) == ["ROOT", "fwd", "bwd"]


def test_depth_zero_keeps_nothing(tree: Tree) -> None:
    assert not any(within_depth(tree, 0))


def test_a_negative_depth_is_refused(tree: Tree) -> None:
    with pytest.raises(UsageError, match="depth -1 is negative"):
        within_depth(tree, -1)


def test_threshold_keeps_what_reaches_it_and_the_path_to_it(tree: Tree) -> None:
    values = [None, 8, 5, 3, 2, 1, 4, 4]
    assert kept(tree, at_least(tree, values, 5)) == ["ROOT", "fwd", "matmul"]


def test_threshold_drops_what_has_no_value(tree: Tree) -> None:
    assert not any(at_least(tree, ["n/a", None] * 4, -1e9))


def test_both_keeps_what_each_keeps() -> None:
    assert both(bytearray([1, 1, 0]), bytearray([1, 0, 1])) == bytearray([1, 0, 0])


def test_a_bad_pattern_is_refused_by_the_name_of_its_option() -> None:
    with pytest.raises(UsageError, match=r"--include '\(' is not a regular expression: missing \)"):
        compile_pattern("(", "--include")


def test_launch_metadata_and_what_is_below_it_is_dropped(
    make_profile: Callable[..., TreeProfile],
) -> None:
    meta = "__proton_launch_metadata"
    rows = [(0, "ROOT", {}), (1, "a", {}), (2, meta, {}), (3, "k", {"x": 1}), (2, "b", {"x": 2})]
    profile = drop_metadata(make_profile(rows))
    assert isinstance(profile, TreeProfile)
    assert [frame.name for frame in profile.tree.frames] == ["ROOT", "a", "b"]
    assert list(profile.tree.parents) == [-1, 0, 1]


def test_a_profile_without_launch_metadata_stays_the_same_object(
    make_profile: Callable[..., TreeProfile],
) -> None:
    profile = make_profile(ROWS)
    assert drop_metadata(profile) is profile


def test_a_subtree_holds_the_kept_rows(tree: Tree) -> None:
    small = subtree(tree, include(tree, re.compile("relu")))
    assert [
        (frame.name, parent) for frame, parent in zip(small.frames, small.parents, strict=True)
    ] == [
        ("ROOT", -1),
        ("bwd", 0),
        ("relu", 1),
    ]
    assert small.own[2] == {"x": 4}


def test_ten_thousand_levels_are_filtered_without_recursion(
    make_tree: Callable[..., Tree],
) -> None:
    deep = make_tree([(depth, f"f{depth}", {}) for depth in range(10_001)])
    assert sum(include(deep, re.compile("f10000"))) == 10_001
    assert sum(exclude(deep, re.compile("f5000$"))) == 5000


def test_everything_keeps_all(tree: Tree) -> None:
    assert all(everything(tree))
