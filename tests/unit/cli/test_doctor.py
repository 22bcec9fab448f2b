"""Tests of the doctor's report as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proton.cli import doctor
from proton.cli.doctor import Finding
from proton.cli.parser import parse
from proton.errors import UsageError


@pytest.mark.parametrize(
    ("findings", "code", "last"),
    [
        ([Finding("a", "b")], 0, "no problem found"),
        ([Finding("a", "b", "c")], 1, "1 problem found"),
        ([Finding("a", "b", "c"), Finding("d", "e", "f")], 1, "2 problems found"),
    ],
)
def test_the_exit_code_says_whether_there_is_a_problem(
    findings: list[Finding],
    code: int,
    last: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    assert doctor.run(parse(["doctor"])) == code
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="doctor takes no arguments, 'x' was given"):
        parse(["doctor", "x"])


def test_every_subject_is_examined() -> None:
    findings: Iterator[Finding] = doctor.examine()
    subjects = {finding.subject for finding in findings}
    assert {
        "python",
        "native core",
        "triton",
        "torch",
        "command proton",
        "command proton-viewer",
        "default backend",
        "environment",
        "working directory",
    } <= subjects


def test_a_finding_without_a_remedy_is_fine() -> None:
    assert str(Finding("python", "3.11")) == "ok       python                 3.11"


def test_a_finding_with_a_remedy_is_a_problem_and_says_it() -> None:
    finding = Finding("python", "2.7", "use 3.11")
    assert finding.is_problem
    first, second = str(finding).splitlines()
    assert first.startswith("problem  python")
    assert second.strip() == "remedy: use 3.11"
