"""`%load_ext proton` in a real IPython, one process for all cells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.files.detect import open_profile

pytest.importorskip("IPython")

# Runs the cells of standard input; after each a line of JSON: what was printed, how it ended.
DRIVER = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.enable_html_pager = False
for cell in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        result = shell.run_cell(cell)
    print(json.dumps([text.getvalue(), result.success]))
"""


Cells = Callable[..., list[tuple[str, bool]]]


@pytest.fixture
def ipython(tmp_path: Path) -> Cells:
    def run(*cells: str) -> list[tuple[str, bool]]:
        environment = {
            **os.environ,
            "IPYTHONDIR": str(tmp_path / "ipython"),
            "PYTHONPATH": str(Path(proton.__file__).parents[1]),
            "NO_COLOR": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER],
            input=json.dumps(["%load_ext proton", "import proton", *cells]),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        loaded, imported, *results = [json.loads(line) for line in done.stdout.splitlines()]
        assert loaded == ["", True], loaded
        assert imported == ["", True], imported
        return [(text, succeeded) for text, succeeded in results]

    return run


def names(path: Path) -> list[str]:
    profile: Any = open_profile(path)
    return [frame.name for frame in profile.tree.frames]


def test_a_cell_and_a_line_are_recorded_and_their_trees_printed(
    ipython: Cells, tmp_path: Path
) -> None:
    cell, line, value = ipython(
        "%%proton -n cell\nwith proton.scope('forward'):\n    x = 40 + 2\nx",
        '%proton -n line with proton.scope("it\'s  two"): y = x + 1',
        "y",
    )
    assert cell[1]
    assert "42" in cell[0]
    assert "forward" in cell[0]
    assert line[1]
    assert "it's  two" in line[0]
    assert "43" in value[0]
    assert names(tmp_path / "cell.hatchet") == ["ROOT", "forward"]
    assert names(tmp_path / "line.hatchet") == ["ROOT", "it's  two"]


def test_a_cell_that_fails_stops_the_notebook_and_shows_its_error_once(
    ipython: Cells, tmp_path: Path
) -> None:
    failed, broken, later = ipython(
        "%%proton -n failed\nwith proton.scope('a'):\n    1 / 0",
        "%%proton -n broken\n1 +",
        "1 / 0",
    )
    assert not failed[1]
    assert failed[0].count("ZeroDivisionError: division by zero") == 1
    assert names(tmp_path / "failed.hatchet") == ["ROOT", "a"]
    assert not broken[1]
    assert broken[0].count("SyntaxError: ") == 1
    assert "ZeroDivisionError" in later[0]  # IPython shows errors again


def test_wrong_words_are_one_line_and_run_nothing(ipython: Cells, tmp_path: Path) -> None:
    wrong, nothing = ipython("%%proton --data picture\nx = 1", "x")
    assert wrong == (
        "UsageError: unknown value for '--data': 'picture'; choose one of 'trace', 'tree'\n",
        False,
    )
    assert "NameError" in nothing[0]
    assert not list(tmp_path.glob("*.hatchet"))


def test_what_awaits_is_recorded_where_no_loop_runs_yet_and_else_refused(
    ipython: Cells, tmp_path: Path
) -> None:
    awaits = "import asyncio\nwith proton.scope('waits'):\n    await asyncio.sleep(0)"
    alone, inside = ipython(
        f"%%proton -n alone\n{awaits}",
        "async def main():\n"
        f"    get_ipython().run_cell_magic('proton', '-n inside', {awaits!r})\n"
        "import asyncio\nasyncio.run(main())",
    )
    assert alone[1], alone[0]
    assert names(tmp_path / "alone.hatchet") == ["ROOT", "waits"]
    assert "%%proton cannot record a cell that awaits" in inside[0]
    assert not (tmp_path / "inside.hatchet").exists()


def test_question_marks_show_parameters(ipython: Cells) -> None:
    scope, enter, magic = ipython("proton.scope?", "proton.enter_scope?", "%proton?")
    assert "proton.scope(name, metrics=None)" in scope[0]
    assert "proton.enter_scope(name, *, metrics=None)" in enter[0]
    assert "Record a cell, or the statement in a line" in magic[0]


def test_the_extension_leaves_again(ipython: Cells) -> None:
    unloaded, called = ipython("%unload_ext proton", "%proton 1")
    assert unloaded == ("", True)
    assert "Line magic function `%proton` not found" in called[0]
