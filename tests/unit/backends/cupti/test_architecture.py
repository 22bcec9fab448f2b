"""How new the GPUs are: asked of NVML, or of the CUDA driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import gpu_capability as nvml
from proton.backends.cupti.gpu_capability import newest_capability, text_of
from tests.native.fake_cuda.driver import FakeDriver


def test_nvml_is_asked_and_the_driver_not_even_opened(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_driver()
    cuda = machine.add_cuda_library()  # an empty file: opening it would fail
    asked: list[str] = []

    def gpus(library: str) -> list[nvml.Gpu]:
        asked.append(library)
        found = [nvml.Gpu((10, 3)), nvml.Gpu(None), nvml.Gpu((9, 0))]
        return found if library == nvml.LIBRARY else []

    monkeypatch.setattr(nvml, "gpus", gpus)
    assert newest_capability(Knobs()) == 103
    assert asked == [f"{Path(cuda).parent}/{nvml.LIBRARY}", nvml.LIBRARY]


@pytest.mark.parametrize("capability", [90, 120])
def test_a_driver_that_is_named_is_asked_itself(fake_driver: FakeDriver, capability: int) -> None:
    fake_driver.option("compute_capability", capability)
    knobs = Knobs(cuda_library=fake_driver.environment["PROTON_CUDA_LIBRARY"])
    assert newest_capability(knobs) == capability
    assert fake_driver.counter("cuDevicePrimaryCtxRetain") == 0


def test_a_driver_without_a_gpu_tells_nothing(fake_driver: FakeDriver) -> None:
    fake_driver.option("device_count", 0)
    knobs = Knobs(cuda_library=fake_driver.environment["PROTON_CUDA_LIBRARY"])
    assert newest_capability(knobs) is None


def test_without_nvml_the_driver_is_asked(
    fake_driver: FakeDriver, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.root / "lib").mkdir()
    (machine.root / "lib/libcuda.so.1").symlink_to(fake_driver.library)
    monkeypatch.setattr(nvml, "gpus", lambda library: [])
    assert newest_capability(Knobs()) == 90


def test_a_machine_without_a_driver_tells_nothing(machine: Any) -> None:
    assert newest_capability(Knobs()) is None
    assert newest_capability(Knobs(cuda_library="/nowhere/libcuda.so.1")) is None


def test_capabilities_are_written_with_a_point() -> None:
    assert [text_of(each) for each in (90, 103, 120)] == ["9.0", "10.3", "12.0"]
