"""The quiet runner: silent on success, everything on failure, alive meanwhile."""

import io
import sys

import pytest

from tools import progress


def test_a_command_that_succeeds_leaves_only_its_title() -> None:
    out = io.StringIO()
    assert progress.run("doing it", [sys.executable, "-c", "print('noise')"], out) == 0
    assert out.getvalue() == "== doing it\n"


def test_a_command_that_fails_shows_its_output_and_status() -> None:
    out = io.StringIO()
    command = [sys.executable, "-c", "import sys; print('the reason'); sys.exit(3)"]
    assert progress.run("doing it", command, out) == 3
    assert out.getvalue() == ("== doing it\nthe reason\n== failed with status 3: doing it\n")


def test_a_long_command_says_what_it_is_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_PERIOD_S", 0.01)
    out = io.StringIO()
    line = progress.Line("doing it (a minute at first)", out)
    while "at work" not in out.getvalue():
        pass
    line.see("Collecting triton==3.6.0\n")
    while "triton" not in out.getvalue():
        pass
    line.close()
    first, *others = out.getvalue().splitlines()
    assert first == "== doing it (a minute at first)"
    assert {other.partition(":")[0] for other in others} == {"   doing it"}
    assert others[0] == "   doing it: 0 s  at work"
    assert others[-1] == "   doing it: 0 s  triton==3.6.0"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("Collecting rich==15.0.0", "rich==15.0.0"),
        ("Installing collected packages: a, b", "Installing collected packages"),
        ("  [3/40] Building CXX object x.o", "[3/40] Building"),
    ],
)
def test_steps_of_pip_and_ninja_are_recognised(line: str, step: str) -> None:
    match = progress.STEPS.match(line)
    assert match is not None
    assert next(filter(None, match.groups())) == step
