"""`proton pytest ...`: as `python -m pytest`, profiled."""

from __future__ import annotations

from typing import Any

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
