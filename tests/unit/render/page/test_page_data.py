"""The data of whole pages: the tree as columns, parts, and what cannot be a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.errors import FormatError
from proton.files.detect import open_profile
from proton.model.frame import ROOT_FRAME
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import Profile, TreeProfile
from proton.model.ranks import Rank
from proton.model.tree import KernelDetail, Tree
from proton.render.page import page_data
from tests.support.pages import ReadColumn, unpack
from tests.support.profiles import profile_of

DATA = Path(__file__).parents[3] / "data"


def only(profile: Profile) -> tuple[dict[str, Any], ReadColumn]:
    """The parts of the page of one profile."""
    head, read = unpack(page_data([profile]))
    (parts,) = head["profiles"]
    return parts, read


def metrics_of(tree: dict[str, Any], read: ReadColumn) -> list[dict[str, float]]:
    """What a page has of each row."""
    own: list[dict[str, float]] = [{} for _ in read(tree["parent"])]
    for metric in tree["metrics"]:
        for row, value in zip(read(metric["rows"]), read(metric["values"]), strict=True):
            own[row][metric["name"]] = value
    return own


@pytest.mark.parametrize("name", ["gpt.hatchet", "python.hatchet", "deep.hatchet"])
def test_the_columns_are_the_tree_that_was_shown(name: str) -> None:
    profile = open_profile(DATA / name)
    wanted = prepare(profile).tree
    parts, read = only(profile)
    tree = parts["tree"]
    frames = read(tree["frame"])
    assert read(tree["parent"]) == list(wanted.parents)
    assert [tree["names"][at] for at in frames] == [frame.name for frame in wanted.frames]
    assert [tree["kinds"][at] for at in frames] == [frame.kind.value for frame in wanted.frames]
    places = [tree["places"].get(str(at)) for at in frames]
    assert places == [
        None if frame.file is None else [frame.file, frame.line, frame.function]
        for frame in wanted.frames
    ]
    numbers = [
        {
            name: value
            for name, value in own.items()
            if isinstance(value, (int, float)) and name != "device_id" and (row or value)
        }
        for row, own in enumerate(wanted.own)
    ]
    assert metrics_of(tree, read) == numbers
    medians = dict(zip(read(tree["runs"]["rows"]), read(tree["runs"]["p50_ns"]), strict=True))
    assert medians == {row: run.p50_ns for row, run in wanted.details.items()}
    assert parts["source"] == profile.source
    assert parts["summary"]["command"] == list(profile.header.command)
    assert parts["summary"]["warnings"] == list(profile.warnings)


def test_a_page_names_its_format_and_compares_two_profiles_only() -> None:
    profile = open_profile(DATA / "gpt.hatchet")
    for count in (1, 2, 3):
        head, _ = unpack(page_data([profile] * count))
        assert head["format"] == "proton-page/2"
        assert (head["diff"] is not None) == (count == 2)


def test_a_trace_has_the_tree_of_its_spans() -> None:
    parts, read = only(open_profile(DATA / "activity.chrome_trace"))
    assert len(read(parts["tree"]["parent"])) > 1
    assert parts["trace"] is not None


def test_samples_records_and_times_of_ranks_are_left_to_their_parts() -> None:
    merged = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5, "time_by_rank (ns)": (2, 3)})])
    parts, read = only(replace(merged, ranks=(Rank(0), Rank(1))))
    assert metrics_of(parts["tree"], read)[1] == {"time (ns)": 5}


def test_metrics_say_how_they_add_up_and_the_time_comes_first() -> None:
    own: Metrics = {"lr": 0.5, "cpu_time (ns)": 5, "time (ns)": 3, "device_id": "0", "zero": 0}
    profile = profile_of(
        [(0, "ROOT", {"only here": 0}), (1, "k", own)], kinds={"lr": MetricKind.PROPERTY}
    )
    metrics = only(profile)[0]["tree"]["metrics"]
    assert [(each["name"], each["kind"]) for each in metrics] == [
        ("time (ns)", "inclusive"), ("cpu_time (ns)", "exclusive"), ("lr", "property"),
        ("zero", "inclusive"),
    ]  # fmt: skip


def test_launches_that_are_alike_stand_once() -> None:
    profile = profile_of([(0, "ROOT", {}), *((1, f"k{at}", {"time (ns)": 5}) for at in range(3))])
    same: Metrics = {"grid": (4, 2, 1), "registers": 32, "static_shared_bytes": 8, "occupancy": 0.5}
    details = {
        1: KernelDetail(1, 5, 2, None, same),
        2: KernelDetail(1, 5, attributes=same),
        3: KernelDetail(1, 5),
    }
    parts, read = only(replace(profile, tree=replace(profile.tree, details=details)))
    tree = parts["tree"]
    assert read(tree["runs"]["launch"]) == [0, 0, 1]
    assert tree["launches"] == [
        {"grid": "4x2x1", "block": None, "regs": 32, "shared": 8, "occupancy": 0.5},
        {"grid": None, "block": None, "regs": None, "shared": None, "occupancy": None},
    ]
    assert read(tree["runs"]["p50_ns"])[0] == 2
    assert read(tree["runs"]["p99_ns"])[0] != read(tree["runs"]["p99_ns"])[0], "not known: NaN"


def test_a_profile_in_which_nothing_was_recorded_is_one_clear_line() -> None:
    with pytest.raises(FormatError, match="nothing was recorded"):
        page_data([TreeProfile("empty.hatchet", tree=Tree([ROOT_FRAME], [-1], [{}]))])


def test_autotuning_is_left_out_of_parts_that_stand_beside_it_with_it() -> None:
    parts, read = only(open_profile(DATA / "h200/kernels.hatchet"))
    tuning, tree = parts["tuning"], parts["tree"]
    assert parts["summary"]["time_ns"] + tuning["time_ns"] == tuning["summary"]["time_ns"]
    at = parts["kernels"]["name"].index("matmul_4096x4096x4096")
    assert parts["kernels"]["share_of_peak"][at] == pytest.approx(0.647, abs=1e-3)
    assert parts["kernels"]["count"][at] == 5
    assert tuning["kernels"]["name"][0].startswith("_Z")  # the kernel that clears the cache
    frames = read(tree["frame"])
    assert [tree["names"][frames[row]] for row, _ in tuning["rows"]] == ["<autotune>"] * 3


def test_a_profile_without_autotuning_has_nothing_left_out() -> None:
    assert only(open_profile(DATA / "gpt.hatchet"))[0]["tuning"] is None
