"""Tests of the page's roofline."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.render.page.roofline import roofline_part
from tests.support.pages import plain
from tests.support.profiles import H200, profile_of

DATA = Path(__file__).parents[3] / "data"


def test_it_has_the_roofs_of_the_device_by_precision() -> None:
    part = plain(roofline_part(prepare(open_profile(DATA / "gpt.hatchet"))))
    assert part is not None
    (device,) = part["devices"]
    assert [roof["width"] for roof in device["roofs"]] == [8, 16, 32, 32, 64]
    assert device["roofs"][1]["label"] == "FP16 / BF16"
    assert device["bytes_per_s"] == pytest.approx(4.81e12, rel=0.01)


def test_a_dot_tells_what_could_be_won() -> None:
    part = plain(roofline_part(prepare(open_profile(DATA / "gpt.hatchet"))))
    assert part is not None
    dot = part["dots"][0]
    assert (dot["name"], dot["bound"]) == ("matmul_1024x3072x768", "compute")
    assert dot["least_ns"] + dot["headroom_ns"] == pytest.approx(dot["time_ns"])
    assert dot["share_of_peak"] == pytest.approx(0.186, abs=1e-3)
    assert dot["flops_per_s"] == pytest.approx(1.836e14, rel=1e-3)


def test_bytes_alone_have_no_place_on_the_plot_but_a_least_time() -> None:
    own = {"time (ns)": 1000, "count": 1, "bytes": 1_000_000}
    part = plain(roofline_part(profile_of([(0, "ROOT", {}), (1, "k", own)], devices=[H200])))
    assert part is not None
    (dot,) = part["dots"]
    assert (dot["intensity"], dot["flops_per_s"], dot["bound"]) == (None, None, "memory")
    assert dot["headroom_ns"] == pytest.approx(1000 - 1e6 / part["devices"][0]["bytes_per_s"] * 1e9)


def test_no_declared_work_no_roofline() -> None:
    own = {"time (ns)": 1000, "count": 1}
    assert plain(roofline_part(profile_of([(0, "ROOT", {}), (1, "k", own)]))) is None
