from __future__ import annotations

import pytest

from proton.render.text.style import (
    ASCII,
    DIM,
    LESS,
    MORE,
    RESET,
    SHARES,
    Style,
    legend,
    looks_of_differences,
    looks_of_shares,
)


def test_text_is_painted_only_where_there_are_colours() -> None:
    assert Style(color=True).paint("x", MORE) == f"{MORE}x{RESET}"
    assert Style().paint("x", MORE) == "x"


@pytest.mark.parametrize(
    ("value", "level"),
    [(0, 0), (0.9, 0), (1.0, 1), (4.9, 1), (5.0, 2), (20, 3), (49, 3), (50, 4), (100, 4)],
)
def test_the_look_tells_the_share(value: float, level: int) -> None:
    assert looks_of_shares([value], 100.0) == [SHARES[level][1]]


def test_a_row_without_a_number_is_dim() -> None:
    assert looks_of_shares([None, "n/a"], 1.0) == [DIM, DIM]


def test_differences_tell_more_from_less() -> None:
    assert looks_of_differences([1, -1, 0, None]) == [MORE, LESS, DIM, DIM]


def test_red_is_kept_for_problems() -> None:
    assert all("31" not in look for _, look, _ in SHARES)


def test_the_legend_names_every_look() -> None:
    text = legend(Style(color=True), is_difference=False, of_what="time")
    assert text.startswith("share of time")
    assert all(look in text for _, look, _ in SHARES)
    assert "≥50 %" in text


def test_the_legend_can_be_ascii() -> None:
    assert legend(Style(color=True, glyphs=ASCII), is_difference=False, of_what="x").isascii()


def test_the_legend_of_differences_has_two_looks() -> None:
    text = legend(Style(color=True), is_difference=True, of_what="time")
    assert "more" in text
    assert "less" in text


def test_there_is_no_legend_without_colours() -> None:
    assert legend(Style(), is_difference=False, of_what="time") == ""
