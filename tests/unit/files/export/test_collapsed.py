"""Tests of collapsed stacks."""

from __future__ import annotations

from proton.files.export.stacks import export_collapsed as export
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, "a;b", {"x": 1.6}),
    (2, "k\n1", {"time (ns)": 5, "x": 2}),
    (1, "k", {"time (ns)": 2}),
]


def test_a_line_is_a_stack_and_a_whole_number() -> None:
    content, notes = export(profile_of(ROWS))
    assert content == b"a:b;k 1 5\nk 2\n"
    assert notes == ("holds time (ns); --metric picks another",)


def test_another_metric_can_be_picked_and_rounding_is_said() -> None:
    content, notes = export(profile_of(ROWS), "x")
    assert content == b"a:b 2\na:b;k 1 2\n"
    assert notes == ("1 values were rounded to whole numbers",)
