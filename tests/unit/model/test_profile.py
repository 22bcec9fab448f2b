"""`Profile` and `Header`: frozen, and empty by default."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from proton.files.detect import open_profile
from proton.model.profile import Header, Profile


def test_a_profile_cannot_be_changed() -> None:
    profile = Profile("run.hatchet")
    with pytest.raises(FrozenInstanceError):
        profile.source = "other"  # type: ignore[misc]


def test_the_maps_of_a_profile_cannot_be_changed_by_default() -> None:
    profile = Profile("run.hatchet")
    assert not hasattr(profile.losses, "__setitem__")
    assert not hasattr(profile.metric_kinds, "__setitem__")


def test_profiles_are_equal_by_what_they_hold() -> None:
    assert Profile("a", losses={"late": 1}) == Profile("a", losses={"late": 1})
    assert Profile("a") != Profile("b")


def test_a_foreign_file_has_an_empty_header() -> None:
    assert Profile("a").header == Header()
    assert Profile("a").phases == (0,)


def test_a_profile_is_one_line_wherever_it_is_printed() -> None:
    data = Path(__file__).parents[2] / "data"
    tree = open_profile(data / "h200/kernels.hatchet")
    assert repr(tree) == f"<TreeProfile {tree.source!r}: 38 contexts, 1 device>"
    trace = open_profile(data / "activity.chrome_trace")
    assert repr(trace).startswith(f"<TraceProfile {trace.source!r}: ")
    assert repr(Profile("x")) == "<Profile 'x': 0 devices>"
