"""Fixtures that tests of several files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def launches(fake_driver: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Triton on the fake driver; the cost of records is known, so that nobody measures it."""
    from proton.backends.instrumentation import backend
    from proton.backends.instrumentation.launch_path import LaunchPath
    from proton.backends.instrumentation.loaded_kernels import ProbeCost
    from tests.support.fake_launches import fake_launches

    fresh = LaunchPath()
    fresh.kernels._cost_of = lambda records: ProbeCost(20.0, 20.0, 1.0)
    monkeypatch.setattr(backend, "launches", fresh)
    with fake_launches(fake_driver) as active:
        active.path = fresh
        yield active


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The current stream of torch, which a test may change; tensors of `device_tensors` are taken
    for some on a GPU."""
    from proton import _torch

    current = [0]
    monkeypatch.setattr(_torch, "is_on_cuda", lambda tensor: tensor.device.type == "cuda")
    monkeypatch.setattr(_torch, "current_stream", lambda device: current[0])
    return current
