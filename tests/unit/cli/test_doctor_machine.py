"""Tests of the doctor's findings about the machine, on made-up machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.cli import doctor_machine


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a GPU, whose files lie in a folder, and a clean environment."""
    monkeypatch.setattr(doctor_machine, "_NVIDIA", tmp_path / "nvidia")
    monkeypatch.setattr(doctor_machine, "_AMD", tmp_path / "kfd")
    monkeypatch.setattr(doctor_machine, "_LIBRARY_CACHE", tmp_path / "ld.so.cache")
    for name in (*doctor_machine._VARIABLES, "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add_gpu(machine: Path, model: str) -> None:
    folder = machine / "nvidia" / "gpus" / "0000:01:00.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text(f"Model: \t\t {model}\nIRQ:  1\n")


def test_a_machine_without_a_gpu_is_fine() -> None:
    (finding,) = doctor_machine.gpu()
    assert finding.text.startswith("none found")
    assert not finding.is_problem
    (backend,) = doctor_machine.backend()
    assert backend.text == "interpreter: there is no GPU"


def test_a_gpu_is_named_and_the_backend_explained(machine: Path) -> None:
    add_gpu(machine, "NVIDIA H200")
    (machine / "ld.so.cache").write_bytes(b"\0libcuda.so.1\0")
    gpu, driver = doctor_machine.gpu()
    assert (gpu.subject, gpu.text) == ("gpu 0", "NVIDIA H200")
    assert not driver.is_problem
    (backend,) = doctor_machine.backend()
    assert "no GPU backend yet" in backend.text


def test_a_gpu_without_the_drivers_library_is_a_problem(machine: Path) -> None:
    add_gpu(machine, "NVIDIA H200")
    _, driver = doctor_machine.gpu()
    assert driver.is_problem


def test_the_library_is_also_found_by_its_path(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{machine}")
    assert doctor_machine.has_cuda_library()


def test_an_amd_driver_is_seen(machine: Path) -> None:
    (machine / "kfd").touch()
    (finding,) = doctor_machine.gpu()
    assert "AMD" in finding.text


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
    [("TRITON_PROTON_DISABLE", "1"), ("TRITON_PROFILE_BUFFER_SIZE", "much")],
)
def test_a_variable_in_the_way_is_a_problem(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    (finding,) = doctor_machine.environment()
    assert variable in finding.text
    assert finding.is_problem


def test_a_folder_that_takes_no_files_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not next(doctor_machine.folder()).is_problem
    monkeypatch.chdir("/proc/self")
    assert next(doctor_machine.folder()).is_problem
