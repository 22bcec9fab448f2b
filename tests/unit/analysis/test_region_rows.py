from __future__ import annotations

from dataclasses import replace

from proton.analysis.regions import find_recorded
from proton.model.frame import Frame, FrameKind
from proton.model.in_kernel import RecordedKernel, Region
from proton.model.profile import TreeProfile
from proton.model.tree import KernelDetail, Tree
from tests.support.in_kernel import KERNEL

NAMES = [
    "ROOT",
    "train",
    "forward",
    "matmul_kernel",
    "tile",
    "dot",
    "copy",
    "eval",
    "matmul_kernel",
]
PARENTS = [-1, 0, 1, 2, 3, 4, 3, 0, 7]
KINDS = "rsskssssk"
TREE = Tree(
    [Frame(name, FrameKind(kind)) for name, kind in zip(NAMES, KINDS, strict=True)],
    PARENTS,
    [{}] * len(NAMES),
)


def test_rows_are_found_by_context_kernel_and_region() -> None:
    found = find_recorded(TreeProfile("f", tree=TREE, in_kernel=(KERNEL,)), TREE)
    assert found.kernels == {3: [KERNEL]}
    assert {row: (one.region.name, one.depth) for row, one in found.regions.items()} == {
        4: ("tile", 0),
        5: ("dot", 1),
    }
    assert found.regions[5].kernel_row == 3
    assert found.regions[5].share == 204800 / 416000


def test_events_stand_below_the_kernel_whatever_they_began_in() -> None:
    event = Region("copy", kind="event", parent=0, cycles=5.0)
    kernel = replace(KERNEL, regions=(*KERNEL.regions, event))
    found = find_recorded(TreeProfile("f", tree=TREE, in_kernel=(kernel,)), TREE)
    assert found.regions[6].region is event
    assert found.regions[6].depth == 0


def test_a_kernel_with_another_name_is_found_by_its_symbol() -> None:
    tree = replace(TREE, details={8: KernelDetail(1, 1, 1, 1, {"symbol": "mm"})})
    kernel = replace(KERNEL, kernel="mm", context=("eval",))
    assert find_recorded(TreeProfile("f", tree=tree, in_kernel=(kernel,)), tree).kernels == {
        8: [kernel]
    }


def test_a_captured_kernel_is_found_below_every_replay() -> None:
    names = ["ROOT", "a", "<captured_at>", "g", "k", "r", "b", "<captured_at>", "g", "k"]
    tree = Tree(
        [Frame(name, FrameKind(kind)) for name, kind in zip(names, "rssskssssk", strict=True)],
        [-1, 0, 1, 2, 3, 4, 0, 6, 7, 8],
        [{}] * len(names),
    )
    kernel = RecordedKernel("k", ("<captured_at>", "g"), regions=(Region("r", cycles=1.0),))
    found = find_recorded(TreeProfile("f", tree=tree, in_kernel=(kernel,)), tree)
    assert found.kernels == {4: [kernel], 9: [kernel]}
    assert list(found.regions) == [5]


def test_kernels_that_the_tree_does_not_have_are_left_out() -> None:
    kernel = replace(KERNEL, context=("elsewhere",))
    assert find_recorded(TreeProfile("f", tree=TREE, in_kernel=(kernel,)), TREE) == ({}, {})
    assert find_recorded(TreeProfile("f", tree=TREE), TREE) == ({}, {})
