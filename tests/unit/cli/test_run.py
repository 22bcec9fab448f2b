"""Tests of what is refused before a run; runs themselves are tested with processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.cli.parser import parse
from proton.errors import BackendUnavailable, UsageError
from proton.runtime.sessions import flags


def prepare(*words: str) -> None:
    arguments = parse(words)
    arguments.run(arguments)


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "s.py").write_text("raise AssertionError('was run')")
    monkeypatch.chdir(tmp_path)
    return "s.py"


def test_a_missing_target_is_refused_before_a_session_is_opened() -> None:
    with pytest.raises(UsageError, match="no such file"):
        prepare("-b", "nonsense", "none.py")


def test_a_format_that_does_not_suit_is_refused(script: str) -> None:
    with pytest.raises(UsageError, match="cannot hold a trace session"):
        prepare("-d", "trace", "--output-format", "hatchet", script)


def test_a_session_that_cannot_be_opened_leaves_nothing_behind(script: str) -> None:
    with pytest.raises(BackendUnavailable):
        prepare("-b", "cupti", script)
    assert not flags.command_line
    assert not flags.profiling_on
