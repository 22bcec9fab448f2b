"""The first screen's numbers are those of the viewers in the terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.render.page.summary import summary_part
from proton.render.text.digest import digest_of
from tests.support.in_kernel import KERNEL
from tests.support.pages import plain
from tests.support.profiles import Row, profile_of

DATA = Path(__file__).parents[3] / "data"


@pytest.mark.parametrize(
    "name",
    ["gpt.hatchet", "interpreter.hatchet", "activity.chrome_trace", "triton36_kernels.hatchet"],
)
def test_totals_are_those_of_the_digest(name: str) -> None:
    profile = prepare(open_profile(DATA / name))
    part, total = plain(summary_part(profile)), digest_of(profile)["total"]
    assert part["time_ns"] == total["time_ns"]
    assert part["kernels"] == total["kernels"]
    for rate in ("share_of_peak", "flop_per_s", "byte_per_s", "bound"):
        found = part["rates"][rate]
        assert found == total[rate] or found == pytest.approx(total[rate]), rate
    assert part["is_interpreted"] is (name == "interpreter.hatchet")


def test_peaks_of_the_device_are_given() -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]
    (device,) = plain(summary_part(profile_of(rows)))["devices"]
    assert device["name"] == "NVIDIA H200"
    peaks = {roof["width"]: roof["flops_per_s"] for roof in device["roofs"]}
    assert peaks[16] == pytest.approx(989.4e12)
    assert device["bytes_per_s"] == pytest.approx(4.9e12, rel=0.01)


def test_only_what_was_lost_is_listed() -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"cpu_time (ns)": 5})]
    profile = replace(profile_of(rows), losses={"dropped": 2, "none": 0})
    part = plain(summary_part(profile))
    assert part["lost"] == {"dropped": 2}
    assert part["time_metric"] == "cpu_time (ns)"


def test_records_that_kernels_lost_are_listed_too() -> None:
    lossy = replace(KERNEL, losses={"overflowed_records": 3, "unread_replays": 9})
    rows = [(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]
    profile = replace(profile_of(rows), in_kernel=(lossy, lossy))
    assert plain(summary_part(profile))["lost"] == {"in-kernel overflowed_records": 6}


def test_it_is_said_for_how_much_of_the_time_the_work_is_known() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "scope", {"flops16": 1e6}),
        (2, "matmul", {"time (ns)": 30, "bytes": 1e3}),
        (1, "other", {"time (ns)": 70}),
    ]
    assert plain(summary_part(profile_of(rows)))["rates"]["declared_share"] == pytest.approx(0.3)
    assert (
        plain(summary_part(profile_of([(0, "ROOT", {}), (1, "x", {"n": 1})])))["rates"][
            "declared_share"
        ]
        is None
    )
