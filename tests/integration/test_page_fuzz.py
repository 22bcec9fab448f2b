"""Random and damaged profiles as pages: data that can be read, or one clear error."""

from __future__ import annotations

import random

import pytest

from proton.errors import FormatError
from proton.files.read import read_profile
from proton.model.profile import Profile
from proton.render.page import page_data
from tests.integration.test_fuzz import RECORDINGS, edit, flip_bytes
from tests.integration.test_viewer_fuzz import profile
from tests.support.pages import unpack


def made(profiles: list[Profile]) -> bool:
    """Whether profiles become a page."""
    try:
        data = page_data(profiles)
    except FormatError:  # nothing was recorded
        return False
    head, read = unpack(data)
    assert len(head["profiles"]) == len(profiles)
    for name in head["columns"]:
        read(name)  # fails where a column is not all there
    return True


@pytest.mark.parametrize("seed", range(6))
def test_profiles_of_anything_become_pages(seed: int) -> None:
    dice = random.Random(seed)
    assert sum(made([profile(dice)]) for _ in range(15)) > 10
    assert sum(made([profile(dice), profile(dice)]) for _ in range(5)) > 0


@pytest.mark.parametrize("seed", range(6))
def test_damaged_recordings_become_pages_or_one_line(seed: int) -> None:
    dice = random.Random(seed)
    pages = 0
    for _ in range(40):
        damaged = dice.choice((edit, edit, flip_bytes))(dice.choice(RECORDINGS), dice)
        try:
            found = read_profile(damaged, "x")
        except FormatError:
            continue
        pages += made([found])
    assert pages > 1  # else nothing was tried
