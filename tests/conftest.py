"""Fixtures for all tests: nothing is left behind, a folder of one's own, a backend without a GPU.

Nothing of Proton is imported before a test asks for it: reading tests need no native module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def folder_of_proton() -> str:
    """The folder the tests import Proton from: installed, or the working tree."""
    spec = find_spec("proton")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parents[1])


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a session, hook, state, scope or event subscriber behind."""
    yield
    left = _take_away_what_is_left()
    if left:
        pytest.fail(f"the test left behind: {'; '.join(left)}")


def _take_away_what_is_left() -> list[str]:
    session = sys.modules.get("proton.runtime.sessions")
    if session is None:
        return []
    left = [f"session {each.options.name!r}" for each in session.open_sessions()]
    session.flags.command_line = False
    session.discard_sessions()
    left += _hooks_left()
    native = sys.modules["proton._native"]
    if native.context_path():
        left.append(f"scopes {native.context_path()}")
        native.reset_after_fork()  # the one way to empty all stacks
    choice_module = sys.modules.get("proton.inkernel.compiler.recording_choice")
    choice = choice_module.choice if choice_module else None
    if choice is not None and (choice.is_on or choice.take_back()):
        left.append("in-kernel recording")
        instrument = sys.modules.get("proton.inkernel.compiler.instrument")
        for handle in instrument._switch.handles() if instrument else ():
            handle.end()
        choice.set_session(None)
    events = sys.modules.get("proton.backends.interpreter.events")
    if getattr(events, "subscribers", ()):
        left.append("a subscriber of interpreter events")
    return left


def _hooks_left() -> list[str]:
    hooks = sys.modules.get("proton.runtime.hooks")
    left = []
    if hooks is not None:
        left = [f"hook {hook!r}" for hook in hooks.HookManager.active_hooks]
        left += [f"hooks of session {each}" for each in hooks.HookManager.session_hooks]
        hooks.HookManager.forget()
    knobs = sys.modules.get("triton.knobs")
    if knobs is not None:
        for chain in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
            ours = [each for each in chain.calls if each.__module__.startswith("proton.")]
            left += [f"launch hook {each!r} in Triton" for each in ours]
            for each in ours:
                chain.remove(each)
    return left


@pytest.fixture
def tmp_cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one during the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class HatchetFile:
    """A hatchet JSON file as plain data, read without Proton's own reader."""

    root: dict[str, Any]
    devices: dict[str, Any]

    @property
    def header(self) -> dict[str, Any]:
        """The `proton` key of the root."""
        header: dict[str, Any] = self.root["proton"]
        return header

    @property
    def losses(self) -> dict[str, int]:
        """What was lost, by kind."""
        losses: dict[str, int] = self.header.get("losses", {})
        return losses

    def paths(self) -> list[str]:
        """Every node but the root as `"a/b/c"`, parents first."""
        found = []
        pending = [((), child) for child in reversed(self.root["children"])]
        while pending:
            above, node = pending.pop()
            path = (*above, node["frame"]["name"])
            found.append("/".join(path))
            pending.extend((path, child) for child in reversed(node["children"]))  # type: ignore[misc]
        return found

    def metrics(self, path: str = "") -> dict[str, Any]:
        """The metrics of the node at `"a/b/c"`; KeyError, with what there is, if there is none."""
        node = self.root
        for name in path.split("/") if path else ():
            matching = [each for each in node["children"] if each["frame"]["name"] == name]
            if len(matching) != 1:
                raise KeyError(f"{len(matching)} nodes {name!r} of {path!r} in {self.paths()}")
            node = matching[0]
        metrics: dict[str, Any] = node["metrics"]
        return metrics


@pytest.fixture
def profile_of() -> Callable[..., HatchetFile]:
    """`profile_of("run.hatchet")` or `profile_of(parsed list)` gives a `HatchetFile`."""

    def read(source: str | os.PathLike[str] | list[Any]) -> HatchetFile:
        content = source if isinstance(source, list) else json.loads(Path(source).read_bytes())
        return HatchetFile(*content)

    return read


class FakeGpu:
    """A backend whose kernels the test launches; `launch` reaches every session that is open."""

    sinks: list[Any]
    log: list[str]
    fails_to_start: bool

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.sink: Any = None

    @classmethod
    def reset(cls) -> None:
        """Forget everything of the last test."""
        cls.sinks, cls.log, cls.fails_to_start = [], [], False

    @classmethod
    def launch(cls, name: str, time_ns: int = 10, **metrics: Any) -> None:
        """Report one kernel, as a launch by the calling thread."""
        for sink in cls.sinks:
            sink.on_kernel(
                name, 100, 100 + time_ns, device_type="FAKE", device_id=0, metrics=metrics or None
            )

    def start(self, sink: Any) -> None:
        """Connect."""
        if self.fails_to_start:
            raise RuntimeError("the fake GPU fails to start")
        self.log.append(f"start {self.mode}".strip())
        self.sink = sink
        sink.add_device("FAKE", 0, {"arch": "fake", "num_sms": 1})
        self.sinks.append(sink)

    def flush(self, limit_s: float = 30.0) -> None:
        """Nothing is ever outstanding."""
        self.log.append("flush")

    def flush_soon(self) -> None:
        """Nothing comes in by itself."""

    def stop(self) -> None:
        """Disconnect."""
        self.log.append("stop")
        if self.sink in self.sinks:
            self.sinks.remove(self.sink)


class OtherFakeGpu(FakeGpu):
    """A second backend, to add to the same session."""


@pytest.fixture
def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeGpu]]:
    """Backends `"fake"`, here the default, and `"other_fake"`; `fake_gpu.launch("name")`."""
    from proton.backends.common.base import BACKENDS
    from proton.backends.default_backend import DefaultBackend

    module = ModuleType("proton_fake_gpu")
    module.FakeGpu, module.OtherFakeGpu = FakeGpu, OtherFakeGpu  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(BACKENDS, "fake", "proton_fake_gpu:FakeGpu")
    monkeypatch.setitem(BACKENDS, "other_fake", "proton_fake_gpu:OtherFakeGpu")
    chosen = DefaultBackend("fake", "the test has it")
    monkeypatch.setattr("proton.runtime.options.choose_backend", lambda knobs: chosen)
    FakeGpu.reset()
    yield FakeGpu
    FakeGpu.reset()


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_python("code", env={...})` runs a script in a process and a folder of its own."""

    def run(
        code: str, *arguments: str, env: dict[str, str] | None = None, timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code))
        paths = [folder_of_proton(), os.environ.get("PYTHONPATH", "")]
        everything = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        return subprocess.run(
            [sys.executable, str(script), *arguments],
            cwd=tmp_path,
            env={**everything, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def fake_driver_folder() -> Path:
    """Where the fake libcuda and libcupti are, built once."""
    from tests.native.fake_cuda.driver import build_driver, find_compiler

    if find_compiler() is None:
        pytest.skip("no C++ compiler to build the fake CUDA driver with")
    return build_driver()


@pytest.fixture
def fake_driver(fake_driver_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The fake CUDA driver (tests/native/fake_cuda), which backend `"cupti"` then opens.

    A process opens one driver for good: tests of other versions run in processes of their own.
    """
    from tests.native.fake_cuda.driver import FakeDriver

    driver = FakeDriver(fake_driver_folder)
    for name, value in driver.environment.items():
        monkeypatch.setenv(name, value)
    driver.clear()
    yield driver
    broken = driver.violations
    driver.clear()
    assert not broken, f"rules of CUPTI were broken: {broken}"
