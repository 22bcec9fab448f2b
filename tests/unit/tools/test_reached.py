"""The plugin that fails a run in which no test of its room calls a public function."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import proton
from tests.support import reached

needs_monitoring = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12"
)

MODULES = {
    "__init__.py": "",
    "door.py": "def opens():\n    return 1\n\ndef _private():\n    pass\n",
    "once.py": "from functools import cache\n\n@cache\ndef loads():\n    return 4\n",
    "files/__init__.py": "",
    "files/read.py": "import contextlib\n\n@contextlib.contextmanager\ndef reads():\n    yield\n",
    "model/__init__.py": "def builds():\n    return 2\n\ndef counts():\n    return 3\n",
}
PLUGIN = """
from pathlib import Path
from tests.support import reached
reached.UNIT = Path(__file__).parent / "unit"
reached.UNREACHED = {listed!r}
from tests.support.reached import *
"""
TESTS = {
    "files/test_read.py": """
from proton import door, model
from proton.files.read import reads

def test_reading():
    with reads():
        assert model.counts() == 3
    assert door.opens() == 1
""",
    "model/test_model.py": """
from proton import model, once

def test_building():
    assert model.builds() == 2

def test_once():
    assert once.loads() == 4
""",
}
# Runs before the others, and so is the one in whose time `loads` runs.
WHOLE = "from proton import once\n\ndef test_all():\n    assert once.loads() == 4\n"


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(tmp_path: Path, listed: dict[str, str], *options: str) -> tuple[int, str]:
    write(tmp_path / "proton", MODULES)
    write(tmp_path / "unit", TESTS)
    write(tmp_path / "whole", {"test_whole.py": WHOLE})
    (tmp_path / "plugin.py").write_text(PLUGIN.format(listed=listed))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    root = Path(reached.__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", *options, "whole", "unit"]
    # The package's own plugin for pytest would be looked for in this small one.
    environment = os.environ | {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


@needs_monitoring
@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2", "--dist", "loadfile")])
def test_a_function_that_only_another_rooms_tests_call_fails_the_run(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    status, output = run(tmp_path, {}, *options)
    assert status == 1
    assert "4 passed" in output
    assert output.split("of their room:\n")[1].splitlines()[0] == (
        "  model/__init__.py:counts is called by no test"
    )
    assert "opens" not in output
    assert "_private" not in output


@needs_monitoring
def test_what_is_cached_may_have_run_in_an_earlier_test_of_any_room(tmp_path: Path) -> None:
    _, output = run(tmp_path, {})
    assert "counts is called by no test" in output
    assert "loads" not in output


@needs_monitoring
def test_a_listed_function_does_not_fail_the_run(tmp_path: Path) -> None:
    status, output = run(tmp_path, {"model/__init__.py:counts": "a reason"})
    assert status == 0, output


@needs_monitoring
def test_an_entry_without_a_function_fails_the_run(tmp_path: Path) -> None:
    listed = {"model/__init__.py:counts": "a reason", "model/gone.py:gone": "a reason"}
    status, output = run(tmp_path, listed)
    assert status == 1
    assert "model/gone.py:gone is listed, but there is no such function" in output


def test_the_list_names_functions_that_there_are() -> None:
    functions = {name for _, name in reached.public_functions(Path(proton.__file__).parent)}
    assert reached.UNREACHED.keys() - functions == set()
