from __future__ import annotations

from dataclasses import replace

from proton.analysis.prepare import IN_TRACE, book_samples
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from tests.support.profiles import tree_in
from tests.support.sampling import KERNEL, LIBRARY, SAMPLING, TOTALS

TREE = Tree([ROOT_FRAME, Frame("kernel", FrameKind.KERNEL)], [-1, 0], [{}, {"time (ns)": 5}])
SUMMED = replace(SAMPLING, kernels=(replace(KERNEL, line_samples=TOTALS), LIBRARY))


def booked(profile: TreeProfile) -> Tree:
    tree = tree_in(book_samples(profile))
    return tree


def test_kernels_and_lines_stand_below_one_row_with_all_samples() -> None:
    tree = booked(TreeProfile("f", tree=TREE, sampling=SUMMED))
    top = tree.root.child(IN_TRACE)
    assert top.total("num_samples") == SAMPLING.samples
    kernel = top.child("kernel")
    assert kernel.frame.kind is FrameKind.KERNEL
    assert [child.name for child in kernel.children] == ["k.py:3@kernel", "k.py:4@kernel"]
    assert kernel.own["num_samples"] == 10
    inlined = kernel.child("k.py:4@kernel").child("lib/sum.py:9@sum")
    assert dict(inlined.own) == {
        "num_samples": 30,
        "num_stalled_samples": 30,
        "num_latency_samples": 5,
        "stalled_wait": 30,
    }


def test_selected_samples_are_no_stalls() -> None:
    tree = booked(TreeProfile("f", tree=TREE, sampling=SUMMED))
    line = tree.root.child(IN_TRACE).child("kernel").child("k.py:3@kernel")
    assert (line.own["num_samples"], line.own["num_stalled_samples"]) == (60, 50)


def test_without_totals_instructions_are_booked_and_the_rest_is_the_kernel_s() -> None:
    tree = booked(TreeProfile("f", tree=TREE, sampling=SAMPLING))
    kernel = tree.root.child(IN_TRACE).child("kernel")
    assert kernel.total("num_samples") == KERNEL.samples
    assert kernel.own["num_samples"] == 4 + 6


def test_a_trace_without_samples_stays_as_it_is() -> None:
    profile = TreeProfile("f", tree=TREE)
    assert book_samples(profile) is profile
