"""`proton pytest ...`: as `python -m pytest`, profiled."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.conftest import folder_of_proton

TESTS = """
import proton, sys

def test_passes(fixture_of_conftest):
    with proton.scope("in a test"): pass
    assert fixture_of_conftest == 1
    assert "" not in sys.path

def test_fails():
    assert 1 == 2
"""


CONFTEST = """
import sys, pytest
def pytest_sessionfinish(session):
    print(sys.argv, sys.path, sys.modules["__main__"].__spec__.name, file=sys.stderr)
@pytest.fixture
def fixture_of_conftest(): return 1
"""
OPTIONS = ("-q", "-p", "no:cacheprovider")


def test_results_and_exit_code_are_those_of_pytest(runner: Any) -> None:
    runner.write("tests/test_it.py", TESTS)
    runner.write("conftest.py", CONFTEST)
    alone = runner.python("-m", "pytest", *OPTIONS, "tests")
    ended = runner.proton("-n", "tests-run", "pytest", *OPTIONS, "tests")
    assert alone.code == ended.code == 1
    assert "1 failed, 1 passed" in ended.out
    assert ended.err == alone.err
    assert ("in a test",) in runner.paths("tests-run.hatchet")


def test_tests_that_pass_give_a_run_that_passes(runner: Any) -> None:
    runner.write("tests/test_it.py", TESTS)
    runner.write("conftest.py", CONFTEST)
    assert runner.proton("pytest", *OPTIONS, "-k", "passes").code == 0
    assert runner.paths() == [("in a test",)]


def test_the_plugin_is_found_by_its_entry_point_and_says_nothing_under_the_command(
    runner: Any,
) -> None:
    pyproject = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    points = pyproject["project"]["entry-points"]["pytest11"]
    lines = [f"{name} = {module}" for name, module in points.items()]
    folder = "site/proton_as_installed-1.dist-info"
    runner.write(
        f"{folder}/METADATA", "Metadata-Version: 2.1\nName: proton-as-installed\nVersion: 1\n"
    )
    runner.write(f"{folder}/entry_points.txt", "\n".join(["[pytest11]", *lines]))
    runner.write(f"{folder}/RECORD", "proton/__init__.py,,\n")
    runner.write("tests/test_it.py", "def test_it(proton_gate): proton_gate(lambda: None)")
    paths = f"{runner.folder}/site:{folder_of_proton()}"
    ended = runner.proton("pytest", *OPTIONS, "-W", "error", "-rs", "tests", PYTHONPATH=paths)
    assert "1 skipped" in ended.out
    assert "run pytest without the proton command" in ended.out
    assert "warning" not in ended.out
