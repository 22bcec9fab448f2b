"""The table of kernels: merged by name, the longest first, missing is None."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.model.profile import TreeProfile
from proton.model.tree import KernelDetail
from proton.render.page.kernels import kernels_part
from tests.support.pages import plain
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, "a", {}),
    (2, "matmul", {"time (ns)": 300, "count": 3, "flops16": 3e8}),
    (1, "b", {}),
    (2, "matmul", {"time (ns)": 100, "count": 1, "flops16": 1e8}),
    (2, "copy", {"time (ns)": 100, "count": 2}),
]


def test_kernels_are_merged_by_name_and_sorted_by_time() -> None:
    part = plain(kernels_part(profile_of(ROWS)))
    assert part is not None
    assert part["name"] == ["matmul", "copy"]
    assert part["time_ns"] == [400, 100]
    assert part["share"] == [0.8, 0.2]
    assert part["count"] == [4, 2]
    assert part["avg_ns"] == [100, 50]
    assert part["flop_per_s"] == [pytest.approx(1e15), None]
    assert part["bound"] == ["compute", None]
    assert part["p50_ns"] == [None, None]
    assert len({len(values) for values in part.values()}) == 1


def test_quantiles_over_contexts_say_between_what_they_lie() -> None:
    profile = profile_of(ROWS)
    assert isinstance(profile, TreeProfile)
    details = {2: KernelDetail(90, 110, 100, 109), 4: KernelDetail(95, 130, 120, 129)}
    profile = replace(profile, tree=replace(profile.tree, details=details))
    part = plain(kernels_part(profile))
    assert part is not None
    value, least, largest = part["p50_ns"][0]
    assert (least, largest) == (100, 120)
    assert least <= value <= largest
    assert part["min_ns"][0] == 90


def test_a_profile_without_times_has_no_kernels() -> None:
    assert plain(kernels_part(profile_of([(0, "ROOT", {}), (1, "x", {"tokens": 1})]))) is None
