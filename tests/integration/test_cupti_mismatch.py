"""Drivers and libcupti that do not fit each other: refused before the program runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.fake_cuda.driver import FakeDriver, build_driver

# A process opens one driver for good: each case has a process of its own.
SCRIPT = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from tests.native.fake_cuda.driver import FakeDriver
    import proton

    driver = FakeDriver(Path(sys.argv[2]))
    driver.option("driver_version", int(sys.argv[3]))
    try:
        session = proton.start("run", backend="cupti")
    except proton.errors.BackendUnavailable as error:
        print(error)
    else:
        driver.launch("k")
        proton.finalize(session)
        print("recorded", driver.counter("records"))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def start_with(run_python: Run, cupti: str, driver: int) -> str:
    """What a session says with this libcupti on a driver that serves this version of CUDA."""
    folder = build_driver(cupti)
    root = str(Path(__file__).parents[2])
    environment = FakeDriver(folder).environment
    run = run_python(SCRIPT, root, str(folder), str(driver), env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("cupti", ["12.8", "13.0"])
def test_a_driver_too_old_is_refused(cupti: str, fake_driver_folder: Path, run_python: Run) -> None:
    said = start_with(run_python, cupti, 11040)
    assert "the NVIDIA driver is too old: it serves CUDA 11.4" in said
    assert "install driver 525 or later" in said


def test_a_libcupti_newer_than_the_driver_is_refused(
    fake_driver_folder: Path, run_python: Run
) -> None:
    said = start_with(run_python, "13.0", 12080)
    assert "is of CUDA 13, but the NVIDIA driver serves CUDA 12.8" in said
    assert "use a libcupti of CUDA 12" in said


@pytest.mark.parametrize(("cupti", "driver"), [("12.8", 12040), ("12.8", 13000), ("13.4", 13000)])
def test_what_fits_records(
    cupti: str, driver: int, fake_driver_folder: Path, run_python: Run
) -> None:
    assert start_with(run_python, cupti, driver) == "recorded 1\n"
