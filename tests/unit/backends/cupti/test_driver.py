"""What the files of a machine say about its NVIDIA driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver


def test_a_machine_without_a_driver_has_no_version_and_no_device(machine: Any) -> None:
    assert driver.version() is None
    assert driver.devices() == []
    assert driver.is_profiling_restricted() is None


def test_the_version_is_the_kernel_modules(machine: Any) -> None:
    machine.add_driver("580.95.05")
    assert driver.version() == "580.95.05"


def test_only_numbered_device_files_are_gpus(machine: Any) -> None:
    machine.add_driver()
    assert driver.devices() == [str(machine.root / "dev/nvidia0")]


def test_a_gpu_has_the_name_that_the_driver_shows(machine: Any) -> None:
    machine.add_driver()
    assert driver.models() == ["NVIDIA H200"]


def test_windows_linux_has_one_device_file_for_all(machine: Any) -> None:
    machine.add_file("dev/dxg")
    assert driver.devices() == [str(machine.root / "dev/dxg")]


@pytest.mark.parametrize(
    ("version", "cuda"),
    [("470.1", 11), ("525.60", 12), ("575.2", 12), ("580.95", 13), (None, None)],
)
def test_a_driver_serves_the_cuda_of_its_time(version: str | None, cuda: int | None) -> None:
    assert driver.newest_cuda(version) == cuda


@pytest.mark.parametrize(("value", "expected"), [(0, False), (1, True)])
def test_the_restriction_of_sampling_is_read(machine: Any, value: int, expected: bool) -> None:
    machine.add_driver(restricted=value)
    assert driver.is_profiling_restricted() is expected


def test_the_library_is_found_in_the_folders_of_the_loader(machine: Any) -> None:
    path = machine.add_cuda_library()
    assert driver.find_library() == path


def test_folders_of_the_environment_come_first(machine: Any, tmp_path: Path) -> None:
    machine.add_cuda_library()
    own = machine.add_file("own/libcuda.so.1")
    assert driver.find_library([str(own.parent)]) == str(own)


def test_the_loaders_cache_names_libraries_of_other_folders(machine: Any) -> None:
    path = machine.add_file("odd/libcuda.so.1")
    cache = b"glibc-ld.so.cache1.1\0libcuda.so.1\0" + str(path).encode() + b"\0/x/liba.so.1\0"
    (machine.root / "ld.so.cache").write_bytes(cache)
    assert driver.find_library() == str(path)


@pytest.mark.parametrize(
    ("knobs", "reason"),
    [
        (Knobs(), "there is no NVIDIA GPU"),
        (Knobs(interprets=True), "TRITON_INTERPRET is set, so kernels are interpreted"),
        (Knobs(hides_devices=True), "CUDA_VISIBLE_DEVICES hides every GPU"),
        (Knobs(cuda_library="/x/libfake.so"), None),
    ],
)
def test_the_reason_for_no_gpu_is_given(machine: Any, knobs: Knobs, reason: str | None) -> None:
    assert driver.why_no_gpu(knobs) == reason


def test_a_gpu_without_the_library_is_no_gpu_for_us(machine: Any) -> None:
    machine.add_driver()
    assert driver.why_no_gpu(Knobs()) == "a GPU is there, but no libcuda.so.1"
    machine.add_cuda_library()
    assert driver.why_no_gpu(Knobs()) is None


@pytest.mark.parametrize(
    ("capabilities", "users", "is_privileged"),
    [
        ("000001fffeffffff", "0 0 4294967295", True),
        ("0000004000000000", "0 0 4294967295", True),  # CAP_PERFMON alone
        ("00000000a80425fb", "0 0 4294967295", False),  # root of a plain container
        ("0000000000000000", "0 0 4294967295", False),
        ("000001ffffffffff", "0 1000 1", False),  # root of a user namespace of its own
    ],
)
def test_capabilities_of_the_machine_decide_who_is_an_administrator(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capabilities: str,
    users: str,
    is_privileged: bool,
) -> None:
    (tmp_path / "status").write_text(f"Name:\tx\nCapEff:\t{capabilities}\n")
    (tmp_path / "uid_map").write_text(f"         {users}\n")
    monkeypatch.setattr(driver, "_SELF", tmp_path)
    assert driver.is_privileged() is is_privileged


def test_without_such_files_the_user_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_SELF", tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert driver.is_privileged()
