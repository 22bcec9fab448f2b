"""A sink that keeps what it is told, and kernels to launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest


@dataclass
class Launch:
    """One kernel event as the sink got it."""

    name: str
    start_ns: int
    end_ns: int
    device: tuple[str, int]
    metrics: Mapping[str, Any]


@dataclass
class Sink:
    """Stands in for a native session."""

    is_active: bool = True
    uses_launch_metadata: bool = False
    launches: list[Launch] = field(default_factory=list)
    devices: list[tuple[str, int, Mapping[str, str | int]]] = field(default_factory=list)
    autotuned: list[Mapping[str, Any]] = field(default_factory=list)
    losses: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def on_kernel(
        self,
        name: str,
        start_ns: int,
        end_ns: int,
        *,
        device_type: str,
        device_id: int,
        lane: int = 0,
        metrics: Mapping[str, Any] | None = None,
        context: int | None = None,
    ) -> None:
        self.launches.append(
            Launch(name, start_ns, end_ns, (device_type, device_id), dict(metrics or {}))
        )

    def launch_context(self) -> int:
        raise AssertionError("interpreted kernels are booked at once")

    def add_device(
        self, device_type: str, device_id: int, attributes: Mapping[str, str | int]
    ) -> None:
        self.devices.append((device_type, device_id, attributes))

    def add_autotune(self, record: Mapping[str, object]) -> None:
        self.autotuned.append(record)

    def count_loss(self, kind: str, count: int = 1) -> None:
        self.losses[kind] = self.losses.get(kind, 0) + count

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Of the latest launch."""
        return self.launches[-1].metrics


@pytest.fixture
def new_sink() -> type[Sink]:
    return Sink


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A sink with the backend started on it."""
    pytest.importorskip("triton")
    from proton.backends.interpreter import InterpreterBackend

    kept = Sink()
    backend = InterpreterBackend("")
    backend.start(cast(Any, kept))
    yield kept
    backend.stop()
