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


def test_results_and_exit_code_are_those_of_pytest(runner: Any) -> None:
    runner.write("tests/test_it.py", TESTS)
    runner.write(
        "conftest.py", "import pytest\n@pytest.fixture\ndef fixture_of_conftest(): return 1\n"
    )
    words = ("-q", "-p", "no:cacheprovider", "--no-header", "-rN", "--durations=0", "--co")
    alone = runner.python("-m", "pytest", *words)
    assert runner.proton("pytest", *words).same()[0] == alone.code
    ended = runner.proton("-n", "tests-run", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert ended.code == 1
    assert "1 failed, 1 passed" in ended.out
    assert ("in a test",) in runner.paths("tests-run.hatchet")
    passed = runner.proton("pytest", "-q", "-p", "no:cacheprovider", "-k", "passes", "tests")
    assert (passed.code, passed.err) == (0, "")
