"""Tests of a finding's text."""

from __future__ import annotations

from proton.cli.finding import Finding


def test_a_finding_without_a_remedy_is_fine() -> None:
    assert str(Finding("python", "3.11")) == "ok       python                 3.11"


def test_a_finding_with_a_remedy_is_a_problem_and_says_it() -> None:
    finding = Finding("python", "2.7", "use 3.11")
    assert finding.is_problem
    first, second = str(finding).splitlines()
    assert first.startswith("problem  python")
    assert second.strip() == "remedy: use 3.11"
