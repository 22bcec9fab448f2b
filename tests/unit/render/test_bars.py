from __future__ import annotations

import pytest

from proton.render.text.bars import bar
from proton.render.text.style import ASCII, UNICODE


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0, "    "), (1, "████"), (0.5, "██  "), (0.4, "█▋  "), (0.0001, "▏   "), (7, "████")],
)
def test_a_bar_is_as_long_as_the_share(share: float, drawn: str) -> None:
    assert bar(share, 4, UNICODE) == drawn


@pytest.mark.parametrize(("share", "drawn"), [(0, "    "), (0.5, "##  "), (0.01, "#   ")])
def test_plain_characters_serve_where_there_are_no_others(share: float, drawn: str) -> None:
    assert bar(share, 4, ASCII) == drawn
