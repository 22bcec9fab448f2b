"""How good the whole is: what is known for less than half of the time says nothing of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.analysis.whole_rates import (
    NO_PEAK,
    NO_WIDTH,
    NO_WORK,
    Rates,
    peak_remark,
    whole_rates,
)
from proton.model.frame import FrameKind
from proton.model.profile import TreeProfile
from tests.support.profiles import Row, profile_of

PEAK16 = 989.4e12  # operations a second


def kernels(*own: dict[str, float]) -> TreeProfile:
    rows: list[Row] = [(0, "ROOT", {}), *((1, f"k{at}", each) for at, each in enumerate(own))]
    return profile_of(rows)


def test_all_work_known_gives_share_bound_and_what_could_be_saved() -> None:
    rates = whole_rates(kernels({"time (ns)": 1000, "flops16": PEAK16 * 250e-9, "bytes": 1}))
    assert rates.share_of_peak == pytest.approx(0.25)
    assert rates.bound == "compute"
    assert rates.headroom_ns == pytest.approx(750)
    assert (rates.is_partial, rates.remark) == (False, "")


def test_work_known_for_most_of_the_time_gives_a_least_share() -> None:
    rates = whole_rates(kernels({"time (ns)": 600, "flops16": PEAK16 * 300e-9}, {"time (ns)": 400}))
    assert rates.share_of_peak == pytest.approx(0.3)
    assert rates.is_partial
    assert rates.headroom_ns == pytest.approx(300)  # of what is known


def test_work_known_for_little_of_the_time_says_nothing_of_the_whole() -> None:
    rates = whole_rates(kernels({"time (ns)": 400, "flops16": PEAK16 * 300e-9}, {"time (ns)": 600}))
    assert (rates.share_of_peak, rates.bound, rates.flop_per_s) == (None, None, None)
    assert rates.headroom_ns == pytest.approx(100)
    assert rates.remark == NO_WORK


def test_copies_are_held_against_no_roof() -> None:
    profile = kernels({"time (ns)": 1000, "bytes": 10_000})
    frames = [frame._replace(kind=FrameKind.COPY) for frame in profile.tree.frames]
    rates = whole_rates(replace(profile, tree=replace(profile.tree, frames=frames)))
    assert rates == Rates(declared_share=0.0, remark=NO_WORK)


def test_flops_with_and_without_a_width_are_both_counted() -> None:
    rates = whole_rates(
        kernels({"time (ns)": 500, "flops": 1e3}, {"time (ns)": 500, "flops32": 3e3})
    )
    assert rates.flop_per_s == pytest.approx(4e9)


def test_flops_without_a_width_leave_the_bound_open() -> None:
    rates = whole_rates(kernels({"time (ns)": 1000, "flops": 2.5e9, "bytes": 2_500_000}))
    assert rates.share_of_peak == pytest.approx(0.508, abs=1e-3)
    assert rates.bound is None
    assert rates.is_partial
    assert rates.remark == NO_WIDTH


def test_nothing_is_known_without_a_kernel() -> None:
    assert whole_rates(profile_of([(0, "ROOT", {}), (1, "x", {"n": 1})])) == Rates()


def test_a_device_without_peaks_is_said_first() -> None:
    assert peak_remark(is_unknown=True, lacks_width=True, is_declared=False) == NO_PEAK
