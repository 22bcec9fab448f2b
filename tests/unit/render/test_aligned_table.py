"""Tests of tables that line up and fit the width there is."""

from __future__ import annotations

from proton.render.text.aligned_table import table_lines
from proton.render.text.style import BOLD, DIM, RESET, Style

TITLES = ("name", "n", "place")
ROWS = [("matmul_kernel_of_somebody", "5", "mm.py:3"), ("k", "1200", "-")]


def test_columns_line_up_to_the_side_that_was_asked_for() -> None:
    assert table_lines(TITLES, ROWS, Style(), align="<><") == [
        "name                          n  place",
        "matmul_kernel_of_somebody     5  mm.py:3",
        "k                          1200  -",
    ]


def test_where_room_is_short_spare_columns_go_and_then_names_are_cut() -> None:
    lines = table_lines(TITLES, ROWS, Style(width=20), align="<><", spare=(2,))
    assert lines == ["name               n", "matmul_…mebody     5", "k               1200"]


def test_rows_have_their_looks_and_titles_are_bold() -> None:
    lines = table_lines(("a",), [("x",)], Style(color=True), align="<", looks=[DIM], gap="   ")
    assert lines == [f"{BOLD}a{RESET}", f"{DIM}x{RESET}"]
