"""Tests of what flame graphs are drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.errors import MetricNotFound, UsageError
from proton.files.export import stacks
from proton.files.export.stacks import Place, loss_notes, place_of, refuse_endless, stacks_of
from proton.files.read import read_profile
from proton.model.frame import Frame, FrameKind
from proton.model.metric import MetricKind
from proton.model.profile import Profile, TreeProfile
from tests.support.profiles import Row, profile_of

DATA = Path(__file__).parents[3] / "data"
ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, "step", {"cpu_time (ns)": 100, "loss": 0.5}),
    (2, "inner", {"cpu_time (ns)": 30}),
    (3, "k", {"count": 2, "time (ns)": 7, "device_id": "0"}),
]


def test_time_comes_first_and_what_does_not_add_up_is_named() -> None:
    profile = profile_of(ROWS, kinds={"loss": MetricKind.PROPERTY})
    assert isinstance(profile, TreeProfile)
    weights, notes = stacks_of(profile, profile.tree)
    assert [(each.name, each.unit) for each in weights] == [
        ("time", "ns"),
        ("cpu_time", "ns"),
        ("count", ""),
    ]
    assert notes == ("left out, as stacks hold only what adds up: loss",)


def test_the_time_of_a_scope_is_without_that_of_scopes_in_it() -> None:
    profile = profile_of(ROWS)
    assert isinstance(profile, TreeProfile)
    (weights,), _ = stacks_of(profile, profile.tree, "cpu_time")
    assert weights.own == [0, 70, 30, 0]


def test_the_time_of_an_operator_is_with_no_backward_work_taken_off() -> None:
    profile = read_profile((DATA / "training_cpu.hatchet").read_bytes(), "training_cpu.hatchet")
    assert isinstance(profile, TreeProfile)
    (weights,), notes = stacks_of(profile, profile.tree)
    assert weights.metric == "cpu_time (ns)"
    assert sum(weights.own) == 7_129_600
    assert notes == ("left out, as stacks hold only what adds up: calls",)


def test_values_below_zero_are_said_to_count_as_zero() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "a", {"x": -3}), (1, "b", {"x": 2})])
    assert isinstance(profile, TreeProfile)
    (weights,), notes = stacks_of(profile, profile.tree)
    assert weights.own == [0, 0, 2]
    assert notes == ("values below zero count as zero: x",)


@pytest.mark.parametrize("wanted", [None, "flops"])
def test_a_metric_that_is_not_there_is_an_error(wanted: str | None) -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "a", {"x": (1, 2)})])
    assert isinstance(profile, TreeProfile)
    with pytest.raises(MetricNotFound, match=r"that adds up was recorded; there is 'x'"):
        stacks_of(profile, profile.tree, wanted)


def test_a_python_frame_is_its_function_and_a_kernel_its_name() -> None:
    frame = Frame("a.py:3@f", FrameKind.PYTHON, "a.py", 3, "f")
    assert place_of(frame) == Place("f", "a.py", 3)
    assert place_of(Frame("k", FrameKind.KERNEL)) == Place("k", "", 0)


def test_losses_are_said_where_a_format_cannot() -> None:
    assert loss_notes(Profile("x", losses={"dropped": 3, "none": 0})) == (
        "this format does not say what was lost: 3 dropped",
    )
    assert loss_notes(Profile("x")) == ()


def test_recursion_too_deep_to_spell_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "f", {"x": 1}), (2, "f", {"x": 1})])
    assert isinstance(profile, TreeProfile)
    weights, _ = stacks_of(profile, profile.tree)
    refuse_endless(profile, profile.tree, weights)
    monkeypatch.setattr(stacks, "MOST_FRAMES", 2)
    with pytest.raises(UsageError, match=r"too deep .* \(3 frames in all\); speedscope's does not"):
        refuse_endless(profile, profile.tree, weights)


def test_without_kernels_the_time_of_the_cpu_comes_first() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "step", {"bytes": 8, "cpu_time (ns)": 5})])
    assert isinstance(profile, TreeProfile)
    assert [each.name for each in stacks_of(profile, profile.tree)[0]] == ["cpu_time", "bytes"]
