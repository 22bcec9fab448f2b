"""Deep and large profiles: any depth, and time in proportion to a bare parse of the file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from proton.files.detect import open_profile
from proton.files.read import read_profile
from proton.files.write import to_bytes, write_profile
from proton.model.device import Device
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.metric import Metrics
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from tests.support.profiles import tree_in

LEVELS = 10_000
SCOPES = 50_000
MAX_RATIO = 3.0  # open_profile to json.load; about 1.4 is usual


def deep_profile() -> TreeProfile:
    frames = [ROOT_FRAME, *[Frame("f")] * LEVELS, Frame("leaf", FrameKind.KERNEL)]
    own: list[Metrics] = [{"visits": 1} for _ in frames]
    return TreeProfile("deep", Tree(frames, list(range(-1, LEVELS + 1)), own))


@cache
def large_profile(scopes: int = SCOPES) -> TreeProfile:
    """Scopes with a kernel each."""
    frames, parents = [ROOT_FRAME], [-1]
    own: list[Metrics] = [{}]
    for number in range(scopes):
        frames += [Frame(f"scope_{number}"), Frame(f"kernel_{number % 200}", FrameKind.KERNEL)]
        parents += [0, 2 * number + 1]
        own.append({"flops": 1e9 + number, "bytes": 1024 * number})
        kernel: Metrics = {
            "time (ns)": 1000 + number,
            "count": 3,
            "device_id": "0",
            "device_type": "CUDA",
        }
        own.append(kernel)
    return TreeProfile("large", Tree(frames, parents, own), devices=(Device("CUDA", "0", "90"),))


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_10_000_levels_are_written_read_and_summed(output_format: str) -> None:
    profile = deep_profile()
    again = read_profile(to_bytes(profile, output_format), "deep")
    assert again == profile
    assert isinstance(again, TreeProfile)
    assert again.tree.totals("visits")[0] == LEVELS + 2
    assert again.tree.depths()[-1] == LEVELS + 1


def seconds(function: Callable[[], object]) -> float:
    """Of the processor: the machine may be busy with other things."""
    begun = time.process_time()
    function()
    return time.process_time() - begun


def test_100_000_nodes_open_in_proportion_to_a_bare_json_load(tmp_path: Path) -> None:
    path = tmp_path / "large.hatchet"
    profile = large_profile()
    write_profile(profile, path)

    def load() -> object:
        with path.open(encoding="utf-8") as file:
            return json.load(file)

    ratios = []
    for _ in range(3):
        bare = seconds(load)
        ratios.append(seconds(lambda: open_profile(path)) / bare)
    assert median(ratios) < MAX_RATIO
    assert replace(open_profile(path), source="large") == profile


def test_100_000_nodes_survive_msgpack(tmp_path: Path) -> None:
    path = tmp_path / "large.hatchet_msgpack"
    profile = large_profile()
    write_profile(profile, path)
    assert replace(open_profile(path), source="large") == profile


def test_one_deep_path_costs_a_large_file_little(tmp_path: Path) -> None:
    large, deep = large_profile(SCOPES // 2).tree, deep_profile().tree
    assert large is not None
    assert deep is not None
    size = len(large)
    parents = [*large.parents, 0, *(parent + size - 1 for parent in deep.parents[2:])]
    both = Tree([*large.frames, *deep.frames[1:]], parents, [*large.own, *deep.own[1:]])
    write_profile(TreeProfile("large", large), tmp_path / "large.hatchet")
    write_profile(TreeProfile("both", both), tmp_path / "both.hatchet")
    bare = seconds(lambda: open_profile(tmp_path / "large.hatchet"))
    assert seconds(lambda: open_profile(tmp_path / "both.hatchet")) < 10 * bare
    assert tree_in(open_profile(tmp_path / "both.hatchet")) == both
