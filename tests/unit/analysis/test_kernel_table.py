"""Kernels by name, as page and digest list them."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.kernel_table import kernel_table, recorded_by_name
from proton.analysis.whole_rates import NO_WIDTH
from proton.model.frame import FrameKind
from tests.support.in_kernel import KERNEL
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, "a", {}),
    (2, "k", {"time (ns)": 30, "count": 3}),
    (1, "k", {"time (ns)": 10, "count": 1}),
    (1, "copy", {"time (ns)": 60, "count": 1, "bytes": 600}),
    (1, "plain", {"time (ns)": 5, "flops": 100}),
]


def test_names_are_summed_and_the_longest_comes_first() -> None:
    kernels = kernel_table(profile_of(ROWS)).kernels
    assert [(each.name, each.time_ns, each.count) for each in kernels] == [
        ("copy", 60, 1),
        ("k", 40, 4),
        ("plain", 5, None),
    ]
    assert kernels[1].avg_ns == 10


def test_a_copy_has_a_rate_but_no_roof() -> None:
    profile = profile_of(ROWS)
    frames = list(profile.tree.frames)
    frames[4] = frames[4]._replace(kind=FrameKind.COPY)
    copy = kernel_table(replace(profile, tree=replace(profile.tree, frames=frames))).kernels[0]
    assert copy.byte_per_s == 1e10
    assert (copy.share_of_peak, copy.bound, copy.headroom_ns) == (None, None, None)


def test_flops_without_a_width_are_remarked() -> None:
    remarks = {each.name: each.peak_remark for each in kernel_table(profile_of(ROWS)).kernels}
    assert remarks == {"copy": "", "k": "", "plain": NO_WIDTH}


def test_what_a_kernel_recorded_is_found_by_its_name_in_the_tree() -> None:
    profile = replace(profile_of(ROWS), in_kernel=(replace(KERNEL, kernel="k", context=("a",)),))
    assert [each.kernel for each in recorded_by_name(profile)["k"]] == ["k"]
    (kernel,) = (each for each in kernel_table(profile).kernels if each.recorded)
    assert kernel.name == "k"


def test_a_profile_without_times_has_no_kernels() -> None:
    assert kernel_table(profile_of([(0, "ROOT", {}), (1, "x", {"n": 1})])).kernels == []
