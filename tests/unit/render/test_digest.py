"""Tests of the digest: its keys, its numbers, its bounds."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS, Rank
from proton.render.text.digest import MOST_LETTERS, MOST_ROWS, digest_of
from tests.support.profiles import Row, profile_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "digest.md").read_text()


def test_kernels_and_scopes_come_with_time_share_and_peak() -> None:
    digest = digest_of(prepare(open_profile(ROOT / "tests/data/gpt.hatchet")))
    kernel, scope = digest["kernels"][0], digest["scopes"][0]
    assert kernel["name"] == "matmul_1024x3072x768"
    assert (kernel["count"], kernel["bound"]) == (12, "compute")
    assert kernel["share"] == pytest.approx(0.457, abs=1e-3)
    assert kernel["share_of_peak"] == pytest.approx(0.186, abs=1e-3)
    assert (scope["path"], scope["kernels"]) == (["forward"], 24)
    assert digest["losses"] == {"dropped_records": 3}
    assert (digest["samples"], digest["in_kernel"], digest["ranks"]) == (None, None, None)


def test_modules_and_operators_come_with_forward_and_backward_time() -> None:
    digest = digest_of(prepare(open_profile(ROOT / "tests/data/training.hatchet")))
    first = digest["operators"][0]
    assert (first["name"], first["kernels"], first["calls"]) == ("aten::addmm", 160, 52)
    assert first["time_ns"] == first["forward_ns"] + first["backward_ns"] + first["recompute_ns"]
    assert (len(digest["modules"]), digest["more_modules"]) == (MOST_ROWS, 1)
    assert sum(row["time_ns"] for row in digest["operators"]) == digest["total"]["time_ns"]
    assert digest["total"]["kernels"] == 316  # calls of operators are none
    assert all(f"`{key}`" in PAGE for key in first)


def test_a_program_without_a_gpu_shows_the_time_of_its_operators_on_the_host() -> None:
    digest = digest_of(prepare(open_profile(ROOT / "tests/data/training_cpu.hatchet")))
    assert (digest["time_metric"], digest["total"]["kernels"]) == ("cpu_time (ns)", None)
    assert sum(row["cpu_ns"] for row in digest["operators"]) == digest["total"]["time_ns"]
    assert digest["scopes"][2]["path"][-1] == "GPT"


def test_every_key_is_documented_and_every_documented_one_is_there() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "s", {}), (2, "k", {"time (ns)": 5, "count": 1})]
    digest = digest_of(profile_of(rows))
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.+?) \|", PAGE, re.MULTILINE))))
    assert set(digest) == listed
    for key in {**digest["kernels"][0], **digest["scopes"][0], **digest["total"]}:
        assert f"`{key}`" in PAGE


def test_it_stays_small_whatever_the_profile() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    for number in range(100):
        rows.append((1, f"scope {number}" + "x" * 1000, {}))
        rows.append((2, f"kernel {number}" + "y" * 1000, {"time (ns)": number + 1}))
    profile = replace(profile_of(rows), warnings=["w" * 1000] * 100)
    digest = digest_of(profile)
    assert len(digest["kernels"]) == len(digest["scopes"]) == MOST_ROWS
    assert (digest["more_kernels"], digest["more_scopes"], digest["more_warnings"]) == (80, 80, 80)
    assert len(digest["kernels"][0]["name"]) <= MOST_LETTERS
    assert len(json.dumps(digest)) < 50_000


def test_a_program_without_kernels_shows_the_time_of_its_scopes() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "a", {"cpu_time (ns)": 7}), (1, "b", {})]
    profile = profile_of(rows)
    assert isinstance(profile, TreeProfile)
    frames = [frame._replace(kind=profile.tree.frames[2].kind) for frame in profile.tree.frames]
    digest = digest_of(replace(profile, tree=replace(profile.tree, frames=frames)))
    assert digest["time_metric"] == "cpu_time (ns)"
    assert [(row["path"], row["time_ns"]) for row in digest["scopes"]] == [(["a"], 7)]
    assert digest["kernels"] == []


def test_merged_profiles_have_the_spread_of_ranks() -> None:
    profile = replace(
        profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5, TIME_BY_RANK_NS: (1, 4)})]),
        ranks=(Rank(0, time_ns=1), Rank(7, host="n1", time_ns=4)),
    )
    digest = digest_of(profile)
    spread = {"min_ns": 1, "median_ns": 2.5, "max_ns": 4}
    assert digest["kernels"][0]["ranks"] == {**spread, "slowest": 7}
    assert digest["ranks"] == {
        "count": 2,
        **spread,
        "slowest": [
            {"rank": 7, "host": "n1", "time_ns": 4},
            {"rank": 0, "host": "", "time_ns": 1},
        ],
    }


def test_samples_come_with_reasons_and_lines() -> None:
    part = digest_of(prepare(open_profile(ROOT / "tests/data/sampled.hatchet")))["samples"]
    assert part["count"] == 4730
    assert part["reasons"][0]["name"] == "math_pipe_throttle"
    assert "Helps" not in part["reasons"][0]["meaning"]
    first = part["lines"][0]
    assert (first["file"], first["line"], first["samples"]) == ("sampled/matmul.py", 56, 2342)
    assert len(part["lines"]) + part["more_lines"] == 13  # of the kernels' own


def test_regions_come_with_shares_and_what_recording_changed() -> None:
    part = digest_of(prepare(open_profile(ROOT / "tests/data/in_kernel.hatchet")))["in_kernel"]
    kernel = part["kernels"][0]
    assert kernel["kernel"] == "matmul_kernel"
    assert [(each["name"], each["depth"]) for each in kernel["regions"][:2]] == [
        ("k loop", 0),
        ("load a", 1),
    ]
    assert set(part["kernels"][1]["harm"]) == {"spills", "occupancy"}


def test_a_plain_profile_has_neither_samples_nor_regions() -> None:
    digest = digest_of(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]))
    assert digest["samples"] is None
    assert digest["in_kernel"] is None


def test_autotuning_is_left_out_and_its_cost_told() -> None:
    profile = prepare(open_profile(ROOT / "tests/data/h200/kernels.hatchet"))
    digest = digest_of(profile)
    assert digest["total"]["time_ns"] == pytest.approx(4.451e6, rel=1e-3)
    assert digest["autotuning"]["share"] == pytest.approx(0.996, abs=5e-4)
    (matmul,) = (row for row in digest["kernels"] if row["name"] == "matmul_4096x4096x4096")
    assert matmul["share_of_peak"] == pytest.approx(0.647, abs=1e-3)
    whole = digest_of(profile, with_autotune=True)
    assert whole["autotuning"] is None
    assert whole["total"]["time_ns"] == pytest.approx(1_151.3e6, rel=1e-3)
