"""Tests of the doctor's findings about the machine, on made-up machines."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from proton.backends.cupti import driver
from proton.cli import doctor_cuda, doctor_machine
from proton.runtime.environment import VARIABLES


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a GPU, whose files lie in a folder, and a clean environment."""
    monkeypatch.setattr(driver, "_PROC", tmp_path / "nvidia")
    monkeypatch.setattr(driver, "_DEV", tmp_path / "dev")
    monkeypatch.setattr(driver, "_LIBRARY_CACHE", tmp_path / "ld.so.cache")
    monkeypatch.setattr(driver, "_LIBRARY_FOLDERS", ())
    monkeypatch.setattr(doctor_cuda, "libraries", lambda knobs: iter(()))
    monkeypatch.setattr(doctor_machine, "_AMD", tmp_path / "kfd")
    others = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "TRITON_INTERPRET")
    for name in (*VARIABLES, *others):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add_gpu(machine: Path, model: str) -> None:
    folder = machine / "nvidia" / "gpus" / "0000:01:00.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text(f"Model: \t\t {model}\nIRQ:  1\n")
    (machine / "dev").mkdir()
    (machine / "dev" / "nvidia0").touch()


def test_a_machine_without_a_gpu_is_fine() -> None:
    (finding,) = doctor_machine.gpu()
    assert finding.text.startswith("none found")
    assert not finding.is_problem
    (backend,) = doctor_machine.backend()
    assert backend.text == "interpreter: there is no NVIDIA GPU"


def test_a_gpu_is_named_and_the_backend_explained(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_gpu(machine, "NVIDIA H200")
    (machine / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{machine}")
    gpu, *others = doctor_machine.gpu()
    assert (gpu.subject, gpu.text) == ("gpu 0", "NVIDIA H200")
    assert not any(finding.is_problem for finding in others)
    (backend,) = doctor_machine.backend()
    assert backend.text == f"cupti: {machine}/dev/nvidia0 and the CUDA driver are there"


def test_a_gpu_without_the_drivers_library_is_a_problem(machine: Path) -> None:
    add_gpu(machine, "NVIDIA H200")
    assert any(finding.is_problem for finding in doctor_machine.gpu())
    (backend,) = doctor_machine.backend()
    assert backend.text == "interpreter: a GPU is there, but no libcuda.so.1"


def test_an_amd_driver_is_seen(machine: Path) -> None:
    (machine / "kfd").touch()
    (finding,) = doctor_machine.gpu()
    assert "AMD" in finding.text
    (backend,) = doctor_machine.backend()
    assert "no backend for AMD GPUs yet" in backend.text


def test_an_environment_with_nothing_in_it_lists_what_is_understood() -> None:
    (finding,) = doctor_machine.environment()
    assert "TRITON_PROTON_DISABLE" in finding.text
    assert not finding.is_problem


def test_a_variable_that_is_set_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ENABLE_NVTX", "0")
    (finding,) = doctor_machine.environment()
    assert finding.text == "TRITON_ENABLE_NVTX=0"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRITON_PROTON_DISABLE", "1"),
        ("TRITON_PROFILE_BUFFER_SIZE", "much"),
        ("PROTON_JOURNAL_INTERVAL", "often"),
        ("PROTON_CATCH_SIGNALS", "some"),
    ],
)
def test_a_variable_in_the_way_is_a_problem(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    (finding,) = doctor_machine.environment()
    assert variable in finding.text
    assert finding.is_problem


def test_every_variable_in_the_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TRITON_ENABLE_NVTX", "TRITON_PROFILE_METRIC_BUFFER_SIZE", "TRITON_INTERPRET"):
        monkeypatch.setenv(variable, "perhaps")
    findings = list(doctor_machine.environment())
    assert [finding.text.split()[2].partition("=")[0] for finding in findings] == [
        "TRITON_ENABLE_NVTX",
        "TRITON_INTERPRET",
        "TRITON_PROFILE_METRIC_BUFFER_SIZE",
    ]


def test_a_folder_that_takes_no_files_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not next(doctor_machine.folder()).is_problem
    monkeypatch.chdir("/proc/self")
    assert next(doctor_machine.folder()).is_problem


def test_backends_of_other_packages_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "far_gpu:Backend", "proton.backends")
    monkeypatch.setattr(doctor_machine, "foreign_backends", lambda: {"mine": [point]})
    *_, finding = doctor_machine.backend()
    assert finding.subject == "backends of other packages"
    assert finding.text == "mine (far_gpu:Backend)"
