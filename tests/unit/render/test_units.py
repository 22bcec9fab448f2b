from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proton.render.units import (
    Notation,
    column_time_unit,
    format_bytes,
    format_change,
    format_column,
    format_count,
    format_digits,
    format_number,
    format_time,
    format_value,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "units.json").read_text())
WRITERS: dict[str, Callable[[float], str]] = {
    "times in nanoseconds": format_time,
    "numbers": format_digits,
    "counts": format_count,
    "sizes in bytes": format_bytes,
}


@pytest.mark.parametrize(
    ("kind", "value", "text"), [(kind, *row) for kind, rows in GOLDEN.items() for row in rows]
)
def test_sentences_have_the_numbers_that_the_page_has(kind: str, value: float, text: str) -> None:
    assert WRITERS[kind](value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1090.28, "1090.280"),
        (0.0, "0.000"),
        (0.0004, "<0.001"),
        (-0.0004, "-<0.001"),
        (-2.5, "-2.500"),
        (1.25e12, "1.250e+12"),
        (7, "7"),
        (2**63 - 1, "9223372036854775807"),
    ],
)
def test_a_number_has_three_decimals_and_never_looks_like_zero(value: float, text: str) -> None:
    assert format_number(value) == text


def test_a_small_number_as_measured_has_an_exponent() -> None:
    assert format_number(0.0003, Notation(is_raw=True)) == "3.000e-04"


@pytest.mark.parametrize(("value", "text"), [(1.5, "+1.500"), (-1.5, "-1.500"), (3, "+3")])
def test_a_difference_has_a_sign(value: float, text: str) -> None:
    assert format_number(value, Notation(has_sign=True)) == text


def test_what_was_not_measured_is_a_dash() -> None:
    assert format_value(None) == "-"


def test_a_short_list_is_shown_whole() -> None:
    assert format_value((1, 2, 3)) == "[1, 2, 3]"


def test_a_long_list_shows_its_ends_and_its_length() -> None:
    assert format_value(tuple(range(20))) == "[0, 1, … 19] (20)"


def test_a_label_cannot_reach_the_terminal_raw() -> None:
    assert format_value("\x1b[31m") == "\\x1b[31m"


def test_digits_are_grouped_where_people_read_them() -> None:
    values = [1924.958, 0.5, 1_234_567, -1234.5, None]
    texts = ["+1 924.958", "+0.500", "+1 234 567", "-1 234.500", "-"]
    assert format_column(values, Notation(3, has_sign=True, is_grouped=True)) == texts


def test_a_column_is_written_like_its_values() -> None:
    values = [1.5, None, 0, 0.0, 1e-9, -1.0, 1e12, "n/a", (1.0,), 7]
    assert format_column(values) == [format_value(value) for value in values]


def test_numbers_in_sentences_are_grouped_by_three() -> None:
    assert format_count(83800) == "83 800"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1071.31, "1 071"),
        (252.5, "253"),
        (92.44, "92.4"),
        (9.996, "10.0"),
        (1.9, "1.90"),
        (0.03124, "0.0312"),
        (-0.5, "-0.500"),
        (1e-5, "1.00e-05"),
        (2e15, "2.00e+15"),
    ],
)
def test_a_number_in_a_sentence_has_three_digits(value: float, text: str) -> None:
    assert format_digits(value) == text


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (12.5, "12.5 ns"),
        (5730, "5.73 us"),
        (686_600, "687 us"),
        (2_500_000, "2.50 ms"),
        (1_071_300_000, "1 071 ms"),
        (252.5e9, "253 s"),
    ],
)
def test_a_time_in_a_sentence_is_in_the_unit_that_suits_it(
    time_ns: float | None, text: str
) -> None:
    assert format_time(time_ns) == text


@pytest.mark.parametrize(
    ("time_ns", "unit"), [(0, "ns"), (9_999, "ns"), (5e6, "us"), (1e9, "ms"), (2e11, "s")]
)
def test_a_column_of_times_has_the_unit_that_suits_its_largest(time_ns: float, unit: str) -> None:
    assert column_time_unit(time_ns)[0] == unit


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.075, "+7.5 %"), (-0.0301, "-3.0 %"), (-0.0001, "0.0 %"), (0.0, "0.0 %"), (2.5, "+250.0 %")],
)
def test_a_change_has_a_sign_unless_it_is_nothing(share: float, text: str) -> None:
    assert format_change(share) == text
