from __future__ import annotations

import pytest

from proton.render.units import (
    Notation,
    format_amount,
    format_column,
    format_count,
    format_number,
    format_value,
    readable_time_unit,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1090.28, "1090.280"),
        (0.0, "0.000"),
        (0.0004, "<0.001"),
        (-0.0004, ">-0.001"),
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


def test_a_column_is_written_like_its_values() -> None:
    values = [1.5, None, 0, 0.0, 1e-9, -1.0, 1e12, "n/a", (1.0,), 7]
    assert format_column(values) == [format_value(value) for value in values]


def test_numbers_in_sentences_are_grouped_by_three() -> None:
    assert format_count(83800) == "83 800"
    assert format_amount(1071.31) == "1 071.3"
    assert format_amount(0.0001) == "<0.1"


@pytest.mark.parametrize(
    ("time_ns", "unit"), [(0, "ns"), (9_999, "ns"), (5e6, "us"), (1e9, "ms"), (2e11, "s")]
)
def test_a_time_is_read_in_the_unit_that_suits_it(time_ns: float, unit: str) -> None:
    assert readable_time_unit(time_ns)[0] == unit
