from __future__ import annotations

from types import MappingProxyType

from proton.analysis.source_lines import other_names, symbol_of
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.profile import Profile, TreeProfile
from proton.model.tree import KernelDetail, Tree
from tests.support.sampling import SAMPLING

DETAIL = KernelDetail(1, 2, attributes=MappingProxyType({"symbol": "kernel"}))
FRAMES = [
    ROOT_FRAME,
    Frame("said", FrameKind.KERNEL),
    Frame("by its line", FrameKind.KERNEL),
    Frame("k.py:4@kernel", FrameKind.SAMPLE, "k.py", 4, "kernel"),
    Frame("other", FrameKind.KERNEL),
    Frame("else.py:4@f", FrameKind.SAMPLE, "else.py", 4, "f"),
    Frame("kernel", FrameKind.KERNEL),
]
TREE = Tree(FRAMES, [-1, 0, 0, 2, 0, 4, 0], [{}] * len(FRAMES), {1: DETAIL})


def test_the_symbol_is_what_the_recording_says_else_the_name() -> None:
    assert (symbol_of(TREE, 1), symbol_of(TREE, 4)) == ("kernel", "other")


def test_a_renamed_kernel_is_found_by_its_symbol_or_by_its_lines() -> None:
    profile = TreeProfile("f", tree=TREE, sampling=SAMPLING)
    assert other_names(profile) == {"kernel": ("said", "by its line")}


def test_without_samples_or_contexts_there_are_no_names() -> None:
    assert other_names(TreeProfile("f", tree=TREE)) == {}
    assert other_names(Profile("f", sampling=SAMPLING)) == {}
