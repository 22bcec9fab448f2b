"""Tensors that say they are on a GPU, for metrics that the fake driver reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proton import _native
from tests.native.fake_cuda.driver import FakeDriver

torch = pytest.importorskip("torch")


class OnGpu(torch.Tensor):  # type: ignore[misc, name-defined]  # torch may be absent
    """A CPU tensor that says it is on a GPU: the fake driver's device memory is the host's."""

    device_index = 0

    @property
    def device(self) -> Any:
        return SimpleNamespace(type="cuda", index=self.device_index)


def on_gpu(value: Any, dtype: Any = None) -> Any:
    """Such a tensor. It must live for as long as a graph reads it."""
    return torch.as_tensor(value, dtype=dtype).as_subclass(OnGpu)


def launch_with(driver: FakeDriver, name: str, metrics: dict[str, Any], stream: int = 0) -> None:
    """A launch as Triton's hooks bracket it."""
    _native.enter_op(name, metrics)
    driver.launch("raw", 5, stream or None)
    _native.exit_op()


def metrics_of(profile: Any) -> dict[str, dict[str, Any]]:
    """Path -> the metrics of every node that has some."""
    found = {}
    pending = [("", child) for child in profile.root["children"]]
    while pending:
        above, node = pending.pop()
        path = above + node["frame"]["name"]
        if node["metrics"]:
            found[path] = node["metrics"]
        pending += [(path + "/", child) for child in node["children"]]
    return found
