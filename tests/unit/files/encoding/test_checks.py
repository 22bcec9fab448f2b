"""What a value from a file is."""

from __future__ import annotations

import pytest

from proton.files.encoding.checks import is_integer, is_number, is_plain, is_text, short


@pytest.mark.parametrize("value", [0, -(2**63), 2**64 - 1])
def test_64_bits_hold_an_integer(value: object) -> None:
    assert is_integer(value)
    assert is_number(value)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 2**64, -(2**63) - 1, [1]])
def test_what_is_no_integer(value: object) -> None:
    assert not is_integer(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1", None, 10**400])
def test_what_is_no_number(value: object) -> None:
    assert not is_number(value)


def test_text_is_what_utf_8_can_hold() -> None:
    assert is_text("größe")
    assert not is_text("\ud800")
    assert not is_text(b"bytes")


@pytest.mark.parametrize("value", [{"a": [1, 2.5, "x", None, True, {}]}, [], "x", None])
def test_plain_values_are_plain_all_the_way_down(value: object) -> None:
    assert is_plain(value)


@pytest.mark.parametrize("value", [{"a": [float("nan")]}, {1: 2}, [b"x"], {"a": "\ud800"}, 2**70])
def test_one_bad_part_makes_a_value_not_plain(value: object) -> None:
    assert not is_plain(value)


def test_a_deep_value_is_looked_at_without_recursion() -> None:
    value: list[object] = []
    for _ in range(50_000):
        value = [value]
    assert is_plain(value)


def test_messages_show_values_short_and_on_one_line() -> None:
    assert short("a\nb") == r"'a\nb'"
    assert short([1] * 1000) == "a list"
    assert short({"a": 1}) == "an object"
    assert len(short("x" * 1000)) == 60
