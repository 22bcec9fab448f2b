"""The backend of a session that names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver
from proton.backends.default_backend import DefaultBackend, choose_backend


@pytest.fixture(autouse=True)
def _no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_DEV", tmp_path / "dev")
    monkeypatch.setattr(driver, "_LIBRARY_FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr(driver, "_LIBRARY_CACHE", tmp_path / "ld.so.cache")


def add_gpu(machine: Path) -> None:
    for path in ("dev/nvidia0", "lib/libcuda.so.1"):
        (machine / path).parent.mkdir()
        (machine / path).touch()


def test_without_a_gpu_kernels_are_interpreted() -> None:
    assert choose_backend(Knobs()) == DefaultBackend("interpreter", "there is no NVIDIA GPU")


def test_with_a_gpu_and_its_driver_it_is_cupti(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    choice = choose_backend(Knobs())
    assert choice == DefaultBackend(
        "cupti", f"{tmp_path}/dev/nvidia0 and the CUDA driver are there"
    )


@pytest.mark.parametrize("knobs", [Knobs(hides_devices=True), Knobs(interprets=True)])
def test_a_gpu_that_the_program_is_not_to_use_is_not_chosen(tmp_path: Path, knobs: Knobs) -> None:
    add_gpu(tmp_path)
    assert choose_backend(knobs).name == "interpreter"


def test_a_driver_that_the_environment_names_is_enough() -> None:
    assert choose_backend(Knobs(cuda_library="libfake.so")).name == "cupti"
