"""Tests of what `main` does with the words, without running a target."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from proton._version import __version__
from proton.cli import main
from proton.cli.parser import COMMANDS
from proton.cli.run import VERSION


def test_the_version_says_whose_it_is() -> None:
    assert f"proton {__version__} (proton-profiler), not Triton's" == VERSION


def test_help_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: proton [options] script.py [arguments]\n")
    assert err == ""


def test_version_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr() == (VERSION + "\n", "")


def test_the_words_of_the_process_are_the_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["proton", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == VERSION + "\n"


def test_a_failure_of_the_machine_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "no-such.hatchet", "x.hatchet_msgpack"]) == 1
    assert capsys.readouterr().err.startswith("proton: no-such.hatchet: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: proton {command}")
    assert f"examples:\n  proton {command}" in shown


def test_a_line_stays_one_line_whatever_it_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a\nb/c.py"]) == 2
    assert capsys.readouterr().err.startswith("proton: a b/c.py: no such file")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["--completion", "bash"], ["doctor"]])
def test_a_reader_that_has_seen_enough_is_no_failure(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = f"import sys; from proton.cli import main; sys.exit(main({words!r}))"
    with open(writer, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, timeout=60
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_output_that_is_full_is_one_line() -> None:
    code = "import sys; from proton.cli import main; sys.exit(main(['--completion', 'bash']))"
    with open("/dev/full", "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, b"proton: output: no space left on device\n")
