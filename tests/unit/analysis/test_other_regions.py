"""Regions in files of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.analysis.cta_launches import cta_launches
from proton.analysis.other_regions import with_other_regions
from proton.analysis.prepare import prepare
from proton.analysis.regions import has_sums_only, per_warp
from proton.files.detect import open_profile
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.in_kernel import NO_PARENT
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

DATA = Path(__file__).resolve().parents[2] / "data"


def region(cycles: float, warps: int = 4) -> dict[str, float]:
    return {"cycles": cycles, "normalized_cycles": cycles / warps}


def test_regions_below_a_kernel_are_nested_as_their_contexts_are() -> None:
    frames = [
        ROOT_FRAME,
        Frame("step"),
        Frame("k", FrameKind.KERNEL),
        Frame("loop"),
        Frame("load"),
        Frame("store"),
    ]
    own = [{}, {}, {}, region(100), region(60), region(8)]
    tree = Tree(frames, [-1, 0, 1, 2, 3, 2], own)
    (kernel,) = with_other_regions(TreeProfile("f", tree)).in_kernel
    assert (kernel.kernel, kernel.context, kernel.recorded_warps) == ("k", ("step",), 4)
    assert [(one.name, one.parent, one.cycles) for one in kernel.regions] == [
        ("loop", NO_PARENT, 100),
        ("load", 0, 60),
        ("store", NO_PARENT, 8),
    ]
    assert has_sums_only(kernel)
    assert per_warp(kernel, kernel.regions[1]) == 15


def test_spans_of_warps_are_counted_and_timed() -> None:
    profile = prepare(open_profile(DATA / "triton36_inkernel_trace.chrome_trace"))
    assert profile.trace is not None
    (kernel,) = with_other_regions(profile).in_kernel
    assert (kernel.kernel, kernel.context, kernel.launches) == ("add", ("add",), 1)
    (launch,) = cta_launches(profile.trace)
    passages = [one for found in launch.regions.values() for one in found]
    for one in kernel.regions:
        same = [each for each in passages if each.name == one.name]
        assert one.count == len(same)
        assert one.ns == pytest.approx(sum(each.end_ns - each.start_ns for each in same))
    assert not has_sums_only(kernel)


@pytest.mark.parametrize("name", ["in_kernel.hatchet", "gpt.hatchet", "samples.hatchet"])
def test_what_a_file_says_itself_stays(name: str) -> None:
    profile = prepare(open_profile(DATA / name))
    assert with_other_regions(profile) is profile
