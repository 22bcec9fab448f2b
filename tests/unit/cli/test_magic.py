"""`%proton` and `%%proton`, in a shell that does what they need of IPython's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proton
from proton import notebook
from proton.cli.magic import parse_line, record, register, unregister
from proton.errors import PageNotBuilt, UsageError
from proton.files.detect import open_profile

CELL = "with proton.scope('step'):\n    x = 40 + 2\n"


class Shell:
    """Runs cells in a namespace of its own."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"proton": proton}
        self.magics: dict[str, Callable[..., None]] = {}
        self.magics_manager = SimpleNamespace(magics={"line": self.magics, "cell": {}})

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        assert kind == "line_cell"
        self.magics[name] = function

    def run_cell(self, code: str) -> Shell:
        """Its error is kept, as in IPython's result, and shown."""
        self.error: Exception | None = None
        try:
            exec(code, self.user_ns)
        except Exception as error:
            self.error = error
            self.showtraceback()
        return self

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def showtraceback(self) -> None:
        print(f"shown: {self.error}")

    def showsyntaxerror(self) -> None:
        self.showtraceback()


@pytest.fixture
def shell(tmp_cwd: Path) -> Shell:
    shell = Shell()
    proton.load_ipython_extension(shell)
    return shell


def names(path: str) -> list[str]:
    profile: Any = open_profile(path)
    return [frame.name for frame in profile.tree.frames]


def test_a_cell_is_recorded_in_the_notebook_and_its_tree_shown(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.magics["proton"]("-n cell", CELL)
    assert shell.user_ns["x"] == 42
    assert names("cell.hatchet") == ["ROOT", "step"]
    assert "step" in capsys.readouterr().out


def test_a_line_is_recorded_as_it_stands_behind_the_options(shell: Shell) -> None:
    record(shell, """--name line -q with proton.scope("it's  two"): pass""")
    assert names("line.hatchet") == ["ROOT", "it's  two"]


def test_options_are_those_of_the_command(shell: Shell) -> None:
    record(shell, "-n 'a run' -d trace --output-format chrome_trace -q", CELL)
    assert Path("a run.chrome_trace").exists()


def test_what_failed_is_recorded_too_and_raised_once(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ZeroDivisionError):
        record(shell, "-n failed -q", CELL + "1 / 0")
    assert capsys.readouterr().out == ""
    assert names("failed.hatchet") == ["ROOT", "step"]
    shell.run_cell("1 / 0")
    assert capsys.readouterr().out == "shown: division by zero\n"


def test_a_schedule_is_kept(shell: Shell) -> None:
    steps = (
        "for n in range(4):\n    with proton.scope(f'step {n}'):\n        pass\n    proton.step()"
    )
    record(shell, "-n some -q --schedule wait=1,active=2", steps)
    assert "step 1" in names("some.hatchet")
    assert "step 0" not in names("some.hatchet")


def test_a_cell_without_anything_to_time_says_what_to_do(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    record(shell, "-n empty", "x = 1")
    captured = capsys.readouterr()
    nothing, what_to_do = captured.err.splitlines()
    assert nothing.startswith("proton: session 'empty' captured nothing")
    assert what_to_do.startswith("proton: to time parts of a cell: with proton.cpu_timed_scope")
    assert captured.out == ""


def test_help_ends_nothing(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.magics["proton"]("--help")
    assert "--output-format" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "cell", "why"),
    [
        ("", None, "nothing to record"),
        ("report run.hatchet", None, "!proton report"),
        ("--module json.tool", None, "what stands in the notebook"),
        ("step()", CELL, "is no option"),
    ],
)
def test_lines_that_make_no_sense_say_why(line: str, cell: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_line(line, cell)


def test_a_notebook_shows_the_page_and_without_one_the_tree(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vars(shell)["kernel"] = object()
    shown: list[str] = []
    monkeypatch.setattr(notebook, "show", shown.append)
    record(shell, "-n page", CELL)
    assert [Path(path).name for path in shown] == ["page.hatchet"]

    def refuse(path: str) -> None:
        raise PageNotBuilt("no page")

    monkeypatch.setattr(notebook, "show", refuse)
    record(shell, "-n tree", CELL)
    assert "step" in capsys.readouterr().out


def test_the_extension_can_be_taken_out_again(shell: Shell) -> None:
    proton.unload_ipython_extension(shell)
    assert shell.magics == {}
    register(shell)
    unregister(shell)
    assert shell.magics == {}
