"""Tests of what a digest says of the inside of kernels."""

from __future__ import annotations

from pathlib import Path

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from proton.render.text.digest import in_kernel_part, samples_part
from tests.support.profiles import profile_of

DATA = Path(__file__).parents[2] / "data"


def test_samples_come_with_reasons_and_lines() -> None:
    profile = prepare(open_profile(DATA / "sampled.hatchet"))
    assert isinstance(profile, TreeProfile)
    part = samples_part(profile, profile.tree)
    assert part is not None
    assert part["count"] == 4730
    assert part["reasons"][0]["name"] == "math_pipe_throttle"
    assert "Helps" not in part["reasons"][0]["meaning"]
    first = part["lines"][0]
    assert (first["file"], first["line"], first["samples"]) == ("sampled/matmul.py", 56, 2342)
    assert len(part["lines"]) + part["more_lines"] == 17


def test_regions_come_with_shares_and_what_recording_changed() -> None:
    part = in_kernel_part(open_profile(DATA / "in_kernel.hatchet"))
    assert part is not None
    kernel = part["kernels"][0]
    assert kernel["kernel"] == "matmul_kernel"
    assert [(each["name"], each["depth"]) for each in kernel["regions"][:2]] == [
        ("k loop", 0),
        ("load a", 1),
    ]
    assert set(part["kernels"][1]["harm"]) == {"spills", "occupancy"}


def test_a_plain_profile_has_neither() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})])
    assert isinstance(profile, TreeProfile)
    assert samples_part(profile, profile.tree) is None
    assert in_kernel_part(profile) is None
