"""Whether a machine lets a program sample, on made-up machines."""

from __future__ import annotations

from typing import Any

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver
from proton.backends.cupti import gpu_capability as nvml
from proton.backends.cupti.sampling_setup import Obstacle, find_obstacle

GOOD = nvml.Gpu((9, 0))
OLD = nvml.Gpu((6, 1))
DIVIDED = nvml.Gpu((9, 0), is_divided=True)
VIRTUAL = nvml.Gpu((9, 0), is_virtual=True)


@pytest.fixture
def found(machine: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`found(gpus, restricted=1, privileged=False)`: the obstacle of such a machine."""

    def make(
        gpus: list[nvml.Gpu], *, restricted: int = 0, privileged: bool = False, **knobs: Any
    ) -> Obstacle | None:
        machine.add_driver(restricted=restricted)
        monkeypatch.setattr(nvml, "gpus", lambda: gpus)
        monkeypatch.setattr(driver, "is_privileged", lambda: privileged)
        return find_obstacle(Knobs(**knobs))

    return make


def test_a_machine_that_lets_everybody_sample_has_no_obstacle(found: Any) -> None:
    assert found([GOOD]) is None


def test_a_machine_that_says_nothing_has_none(machine: Any) -> None:
    assert find_obstacle(Knobs(cuda_library="libfake.so")) is None


def test_administrators_may_sample_where_others_may_not(found: Any) -> None:
    assert found([GOOD], restricted=1, privileged=True) is None


def test_no_permission_is_told_with_the_option_of_the_driver(found: Any) -> None:
    obstacle = found([GOOD], restricted=1)
    assert "only administrators" in obstacle.reason
    assert "NVreg_RestrictProfilingToAdminUsers=0" in obstacle.remedy
    assert "--cap-add=SYS_ADMIN" in obstacle.remedy


@pytest.mark.parametrize(
    ("gpu", "reason", "remedy"),
    [
        (OLD, "compute capability is 6.1, and sampling needs 7.0", "Volta"),
        (DIVIDED, "divided into MIG instances", "nvidia-smi -mig 0"),
        (VIRTUAL, "is a vGPU", "host's administrator"),
    ],
)
def test_a_gpu_that_cannot_be_sampled_is_told_with_the_remedy(
    found: Any, gpu: nvml.Gpu, reason: str, remedy: str
) -> None:
    obstacle = found([gpu])
    assert reason in obstacle.reason
    assert remedy in obstacle.remedy


def test_one_gpu_that_can_be_sampled_is_enough(found: Any) -> None:
    assert found([DIVIDED, GOOD]) is None


def test_another_driver_than_the_kernels_is_not_judged(found: Any) -> None:
    assert found([OLD], restricted=1, cuda_library="libfake.so") is None
