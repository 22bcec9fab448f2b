"""Tests of the help and version texts."""

from __future__ import annotations

from proton._version import __version__
from proton.cli.arguments import COMMANDS, OPTIONS
from proton.cli.help import VERSION, help_text
from proton.inkernel.modes.mode_table import MODES


def test_the_version_says_whose_it_is() -> None:
    assert f"proton {__version__} (proton-profiler), not Triton's" == VERSION


def test_help_names_every_option_and_shows_examples() -> None:
    text = help_text()
    assert all(f"--{option.long}" in text for option in OPTIONS)
    assert "examples:\n  proton matmul.py" in text
    assert "python -m proton" in text


def test_help_names_every_mode_that_records_by_itself() -> None:
    (line,) = (line for line in help_text().splitlines() if "--instrument " in line)
    assert {mode.strip() for mode in line.partition(":")[2].split(",")} == {*MODES} - {"call-at"}


def test_help_offers_every_command() -> None:
    section = help_text().split("commands:\n")[1].split("\n\n")[0]
    offered = [line.split()[0] for line in section.splitlines()]
    assert offered == list(COMMANDS)


def test_help_fits_a_terminal() -> None:
    assert max(len(line) for line in help_text().splitlines()) <= 100
