"""As much of torch as tests/gpu/record_streams.py needs for its simpler works: operations are
launches on the fake driver. Its folder is on the path of processes that are to import it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.native.fake_cuda.driver import FakeDriver

__version__ = "stub"
version = SimpleNamespace(cuda="13.0")
_C = SimpleNamespace(_demangle=lambda name: f"void {name}()")
_driver = FakeDriver(Path(os.environ["FAKE_DRIVER"]))
_capturing: CUDAGraph | None = None
_seen: list[str] | None = None  # kernels, while the profiler is on


def _launch(name: str) -> None:
    if _capturing is not None:
        _capturing.kernels.append(name)
        _driver.launch(name, 100, _capturing.stream)
        return
    _driver.launch(name, 100)
    if _seen is not None:
        _seen.append(name)


class Tensor:
    """Has no values: its methods launch a kernel of their name."""

    def __getattr__(self, name: str) -> Any:
        def launch(*_: object) -> Tensor:
            _launch(name)
            return self

        return launch


def _new(*_: object, **__: object) -> Tensor:
    _launch("fill")
    return Tensor()


ones = zeros = _new


class CUDAGraph:
    """A graph on the fake driver."""

    def __init__(self) -> None:
        self.kernels: list[str] = []
        self.stream = _driver.stream()
        self.executable = 0

    def replay(self) -> None:
        """Launch it."""
        _driver.replay(self.executable)
        if _seen is not None:
            _seen.extend(self.kernels)


@contextmanager
def _capture(graph: CUDAGraph) -> Iterator[None]:
    global _capturing
    _driver.calls.fake_capture_begin(graph.stream)
    _capturing = graph
    yield
    _capturing = None
    graph.executable = _driver.instantiate(_driver.calls.fake_capture_end(graph.stream))


cuda = SimpleNamespace(
    synchronize=lambda: None,
    get_device_name=lambda: "Fake GPU",
    CUDAGraph=CUDAGraph,
    graph=_capture,
)


class _Profile:
    """What torch.profiler.profile is here: it sees the launches themselves."""

    def __init__(self, activities: object) -> None:
        self.kernels: list[str] = []

    def __enter__(self) -> _Profile:
        global _seen
        _seen = self.kernels
        return self

    def __exit__(self, *_: object) -> None:
        global _seen
        _seen = None

    def export_chrome_trace(self, path: str) -> None:
        """Write the kernels."""
        events = [{"cat": "kernel", "name": name} for name in self.kernels]
        Path(path).write_text(json.dumps({"traceEvents": events}))


profiler: Any = ModuleType("torch.profiler")
profiler.profile, profiler.ProfilerActivity = _Profile, SimpleNamespace(CUDA=1)
sys.modules["torch.profiler"] = profiler
