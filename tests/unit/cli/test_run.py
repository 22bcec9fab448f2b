"""Tests of what is refused before a run; runs themselves are tested with processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.cli.arguments import RunArguments, Target, TargetKind
from proton.cli.run import prepare
from proton.errors import BackendUnavailable, UsageError
from proton.runtime.flags import flags


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    (tmp_path / "s.py").write_text("raise AssertionError('was run')")
    monkeypatch.chdir(tmp_path)
    return Target(TargetKind.SCRIPT, "s.py")


def test_a_missing_target_is_refused_before_a_session_is_opened() -> None:
    with pytest.raises(UsageError, match="no such file"):
        prepare(RunArguments(target=Target(TargetKind.SCRIPT, "none.py"), backend="nonsense"))


def test_a_format_that_does_not_suit_is_refused(script: Target) -> None:
    with pytest.raises(UsageError, match="cannot hold a trace session"):
        prepare(RunArguments(target=script, data="trace", output_format="hatchet"))


def test_a_session_that_cannot_be_opened_leaves_nothing_behind(script: Target) -> None:
    with pytest.raises(BackendUnavailable):
        prepare(RunArguments(target=script, backend="cupti"))
    assert not flags.command_line
    assert not flags.profiling_on
