"""Lines of Python on which no operation begins belong to the first line of their statement."""

from __future__ import annotations

from proton.analysis.statement_lines import as_recorded, first_lines
from tests.support.statements import TEXT


def test_brackets_and_plain_arguments_belong_to_the_first_line() -> None:
    found = first_lines(TEXT)
    assert {line: found.get(line, line) for line in range(8, 19)} == {
        **dict.fromkeys((8, 10, 11, 12), 8),
        9: 9,  # a load of its own
        **dict.fromkeys((13, 14, 15, 16), 13),
        17: 17,
        18: 18,
    }
    assert found[5] == found[6] == 4


def test_what_is_no_python_has_no_statements() -> None:
    assert first_lines("def (") == {}


def test_lines_stay_where_no_text_is_known() -> None:
    assert as_recorded(("a.py", 3)) == ("a.py", 3)
