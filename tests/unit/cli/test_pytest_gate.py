"""The fixture `proton_gate`, in runs of pytest inside this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proton.runtime.sessions import flags

pytest_plugins = ["pytester"]
Run = Callable[..., pytest.RunResult]

# Reports kernels of given lengths to the session, as a backend would.
TEST = """
import time
from proton.runtime.sessions import open_sessions

def work():
    for session in open_sessions():
        for step in range(20):
            now = time.monotonic_ns()
            session.native.on_kernel(
                "k", now, now + LENGTH_NS + step, device_type="CPU", device_id=0
            )

def test_speed(proton_gate):
    proton_gate(work, backend="interpreter", OPTIONS)
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run(length_ns, *words, options="")` runs the test once."""
    # Where the package is installed its entry point would bring the plugin a second time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def start(length_ns: int, *words: str, options: str = "") -> pytest.RunResult:
        text = TEST.replace("LENGTH_NS", str(length_ns)).replace("OPTIONS", options)
        pytester.makepyfile(test_speed=text)
        return pytester.runpytest_inprocess("-p", "proton.cli.pytest_gate", *words)

    return start


def test_the_first_run_stores_a_baseline_and_the_next_ones_are_held_to_it(
    run: Run, pytester: pytest.Pytester
) -> None:
    first = run(100_000)
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines(["*proton baselines stored*", "test_speed.py::test_speed -> *"])
    stored = pytester.path / "proton-baselines" / "test_speed.py.test_speed"
    assert len(list(stored.glob("run.part_*.hatchet"))) == 5
    same = run(100_500)
    same.assert_outcomes(passed=1)
    same.stdout.no_fnmatch_line("*baselines stored*")
    slower = run(120_000)
    slower.assert_outcomes(failed=1)
    slower.stdout.fnmatch_lines(
        [
            "regression beyond 5 %: all kernels +20.0 %*",
            "k *100 us *120 us *+20.0 % *slower",
            f"the baseline is {stored}; if this is as it should be, renew it: --proton-update",
        ]
    )
    run(120_000, "--proton-update").assert_outcomes(passed=1)
    run(120_000).assert_outcomes(passed=1)


def test_what_is_allowed_comes_from_the_call_the_option_or_the_setting(
    run: Run, pytester: pytest.Pytester
) -> None:
    run(100_000, "--proton-baselines", "elsewhere").assert_outcomes(passed=1)
    assert (pytester.path / "elsewhere").is_dir()
    pytester.makeini("[pytest]\nproton_fail_over = 30%\nproton_baselines = elsewhere\n")
    run(120_000).assert_outcomes(passed=1)
    run(120_000, "--proton-fail-over", "10%").assert_outcomes(failed=1)
    run(120_000, options="fail_over='10%'").assert_outcomes(failed=1)


def test_a_baseline_of_another_device_skips_the_test(run: Run, pytester: pytest.Pytester) -> None:
    run(100_000).assert_outcomes(passed=1)
    for path in Path(pytester.path).glob("proton-baselines/*/*.hatchet"):
        text = path.read_text()
        assert text.endswith(",{}]")  # no device, as the session was told of none
        path.write_text(text.removesuffix("{}]") + '{"CUDA": {"0": {"arch": "90"}}}]')
    run(120_000).assert_outcomes(skipped=1)


def test_work_without_kernels_fails_and_stores_nothing(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_speed="""
        import proton

        def work():
            with proton.scope("no kernel"):
                pass

        def test_speed(proton_gate):
            proton_gate(work, backend="interpreter")
        """
    )
    result = pytester.runpytest_inprocess("-p", "proton.cli.pytest_gate")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no kernel was timed in them*"])
    assert not (pytester.path / "proton-baselines").exists()


@pytest.mark.parametrize("options", ["repeats=2", "fail_over='much'"])
def test_values_without_meaning_are_refused(
    options: str, run: Run, pytester: pytest.Pytester
) -> None:
    result = run(100_000, options=options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*UsageError: *"])


def test_where_nothing_can_be_recorded_the_test_is_skipped(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    run(100_000).assert_outcomes(skipped=1)
    monkeypatch.delenv("TRITON_PROTON_DISABLE")
    monkeypatch.setattr(flags, "command_line", True)
    run(100_000).assert_outcomes(skipped=1)
