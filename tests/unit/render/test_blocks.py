from __future__ import annotations

import pytest

from proton.render.text.bars import columns_of, shade_levels, shades_of
from proton.render.text.style import ASCII, UNICODE


def test_columns_grow_with_the_share_and_what_is_not_zero_is_seen() -> None:
    assert columns_of([0, 1e-9, 0.5, 0.51, 1], UNICODE) == " ▁▄▅█"
    assert columns_of([0, 1e-9, 0.5, 0.51, 1], ASCII) == " _~=#"


def test_shades_grow_with_the_share() -> None:
    assert shades_of([0, 0.01, 0.25, 0.26, 0.8, 1], UNICODE) == " ░░▒██"
    assert shades_of([0, 0.01, 0.25, 0.26, 0.8, 1], ASCII) == " ..:##"
    assert shade_levels(UNICODE) == "░▒▓█"


@pytest.mark.parametrize("share", [-1.0, 7.0])
def test_shares_beyond_the_scale_stay_on_it(share: float) -> None:
    assert columns_of([share], UNICODE) == (" " if share < 0 else "█")
