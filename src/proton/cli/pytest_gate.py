"""A plugin of pytest: `proton_gate` fails a test whose kernels became slower than a baseline.

Light to import, because pytest loads it in every run; recording and comparing are loaded when used.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_LEAST_REPEATS = 3  # of which chance can be judged
_DEFAULT_FOLDER = "proton-baselines"
_DEFAULT_FAIL_OVER = "5%"
_STORED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and settings of the fixture."""
    group = parser.getgroup("proton", "proton_gate: kernels against their baselines")
    group.addoption(
        "--proton-update", action="store_true", help="store what is measured as new baselines"
    )
    group.addoption("--proton-baselines", metavar="FOLDER", help="where baselines are kept")
    group.addoption(
        "--proton-fail-over", metavar="PERCENT", help="how much slower a test may be, as in 3%%"
    )
    parser.addini("proton_baselines", "where baselines are kept", default=_DEFAULT_FOLDER)
    parser.addini("proton_fail_over", "how much slower may be", default=_DEFAULT_FAIL_OVER)


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is stored yet."""
    config.stash[_STORED] = []


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which baselines are new."""
    if stored := config.stash[_STORED]:
        terminalreporter.section("proton baselines stored")
        for name in stored:
            terminalreporter.line(name)


class Gate:
    """Measures work and compares it with its baseline; one for each test that asks for it."""

    def __init__(self, config: pytest.Config, test: str, folder: Path) -> None:
        """`test` is the test's id; `folder` is empty, for what is recorded now."""
        self._config = config
        self._test = test
        self._folder = folder

    def __call__(
        self,
        work: Callable[[], object],
        *,
        repeats: int = 5,
        warmup: int = 1,
        fail_over: str = "",
        backend: str | None = None,
    ) -> None:
        """Run `work` so often, and fail the test where its kernels are slower than the baseline.

        The first time, or with `--proton-update`, the baseline is stored instead. A baseline of
        another device skips the test.

        Args:
            work: What to measure; each call is a repeat.
            repeats: How often it is recorded: three times or more, to know what is chance.
            warmup: How often it is run before, unrecorded: compilation, autotuning, caches.
            fail_over: How much slower it may be, as in `"3%"`; by default what the option or the
                setting `proton_fail_over` says, else 5 %.
            backend: As in `proton.start`.

        Raises:
            UsageError: a value without meaning.
        """
        from proton.cli.compare import compare, parse_percent
        from proton.errors import FormatError, UsageError

        if repeats < _LEAST_REPEATS:
            raise UsageError(f"repeats must be {_LEAST_REPEATS} or more, not {repeats!r}")
        allowed = parse_percent(fail_over or self._setting("proton_fail_over"))
        for _ in range(warmup):
            work()
        self._record(work, repeats, backend)
        baseline = self._baseline()
        is_new = self._config.getoption("--proton-update") or not baseline.is_dir()
        try:
            outcome = compare(str(self._folder if is_new else baseline), str(self._folder), allowed)
        except FormatError as error:
            pytest.fail(str(error), pytrace=False)
        if is_new:
            shutil.rmtree(baseline, ignore_errors=True)
            shutil.copytree(self._folder, baseline)
            self._config.stash[_STORED].append(f"{self._test} -> {baseline}")
            return
        old, new = outcome.part.before.devices, outcome.part.after.devices
        if list(old) != list(new):
            pytest.skip(
                f"the baseline {baseline} is of {', '.join(old) or 'no device'}, and this is "
                f"{', '.join(new) or 'no device'}; store another one with --proton-update"
            )
        if outcome.regressions:
            pytest.fail(_failure(outcome, baseline), pytrace=False)

    def _setting(self, name: str) -> str:
        option = self._config.getoption(f"--{name.replace('_', '-')}")
        return str(option or self._config.getini(name))

    def _baseline(self) -> Path:
        """The folder of this test's baseline; its name is the test's id, as far as files allow."""
        folder = self._config.rootpath / self._setting("proton_baselines")
        return folder / re.sub(r"[^\w.=-]+", "_", self._test.replace("::", ".")).strip("_")

    def _record(self, work: Callable[[], object], repeats: int, backend: str | None) -> None:
        import proton
        from proton.runtime.sessions import flags

        if flags.command_line:
            pytest.skip("proton_gate records by itself; run pytest without the proton command")
        session = proton.start(self._folder / "run", backend=backend)
        if session is None:
            pytest.skip("TRITON_PROTON_DISABLE is set: nothing is recorded")
        try:
            for repeat in range(repeats):
                if repeat:
                    proton.data.advance_phase(session)
                work()
        finally:
            proton.finalize(session)


def _failure(outcome: Any, baseline: Path) -> str:
    from proton.cli.compare import lines_of
    from proton.render.text.style import Style

    lines = lines_of(outcome, Style())
    return "\n".join(
        [
            lines[-1],
            "",
            *lines[:-2],
            "",
            f"the baseline is {baseline}; if this is as it should be, renew it: --proton-update",
        ]
    )


@pytest.fixture
def proton_gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gate:
    """Call it with work to measure: the test fails where its kernels are slower than before.

    Example:
        >>> def test_attention(proton_gate):
        ...     proton_gate(lambda: attention(q, k, v), fail_over="3%")
    """
    folder = tmp_path_factory.mktemp("proton-gate")
    return Gate(request.config, request.node.nodeid, folder)
