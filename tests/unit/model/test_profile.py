"""`Profile` and `Header`: frozen, and empty by default."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

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
