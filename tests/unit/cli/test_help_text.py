"""Help texts on narrow terminals."""

from __future__ import annotations

import pytest

from proton.cli.help_text import fit_text, fit_usage
from proton.cli.parser import COMMANDS, RUN, build_parser
from proton.cli.viewer import make_parser


def test_prose_is_filled_anew_and_paragraphs_stay_apart() -> None:
    text = "One two three four five six\nseven eight.\n\nAnother one."
    assert fit_text(text, 100) == text
    assert fit_text(text, 20) == "One two three four\nfive six seven\neight.\n\nAnother one."


def test_a_row_goes_on_in_its_last_column() -> None:
    text = "exit status:\n  0   nothing is wrong with it,\n      nothing at all\n  1   wrong"
    assert fit_text(text, 30).splitlines() == [
        "exit status:",
        "  0   nothing is wrong with",
        "      it, nothing at all",
        "  1   wrong",
    ]
    columns = "  csv   .csv   a row per context of a tree"
    assert fit_text(columns, 40).splitlines() == [
        "  csv   .csv   a row per context of a",
        "               tree",
    ]


def test_commands_stand_for_themselves() -> None:
    text = "examples:\n  proton report a b\n  proton report a b c d e"
    assert fit_text(text, 20).splitlines() == [
        "examples:",
        "  proton report a b",
        "  proton report a b",
        "  c d e",
    ]


def test_an_explanation_stands_below_where_its_column_is_too_narrow() -> None:
    text = "  proton serve profiles/ and more    all profiles of a folder"
    assert fit_text(text, 50).splitlines() == [
        "  proton serve profiles/ and more",
        "      all profiles of a folder",
    ]


def test_options_of_the_usage_stay_with_their_values() -> None:
    assert fit_usage("p A [--name VALUE] [--other WORD]", 30).splitlines() == [
        "usage: p A [--name VALUE]",
        "       [--other WORD]",
    ]
    assert fit_usage("p A\n       p B", 80) == "usage: p A\n       p B"


@pytest.mark.parametrize("command", [RUN, *COMMANDS])
def test_every_help_fits_eighty_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for parser in (build_parser(command)[1][command], make_parser()):
        assert max(map(len, parser.format_help().splitlines())) <= 80
