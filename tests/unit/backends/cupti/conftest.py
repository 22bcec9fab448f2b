"""A made-up machine for the tests of this folder: its files lie in a folder of the test's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import candidates, driver


class Machine:
    """Files that stand for those of a machine with or without a GPU."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.site = root / "site"
        self.maps = root / "maps"
        self.capability: int | None = 90  # of its newest GPU
        self.questions = 0  # for that

    def newest_capability(self, knobs: Knobs) -> int | None:
        """What the driver would say."""
        self.questions += 1
        return self.capability

    def add_driver(self, version: str = "580.95.05", *, restricted: int = 0) -> None:
        """One GPU and its kernel driver."""
        (self.root / "proc/gpus/0000:01:00.0").mkdir(parents=True)
        (self.root / "proc/version").write_text(
            f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build\n"
        )
        (self.root / "proc/params").write_text(f"RmMsg: 0\nRmProfilingAdminOnly: {restricted}\n")
        information = self.root / "proc/gpus/0000:01:00.0/information"
        information.write_text("Model: \t\t NVIDIA H200\nIRQ:  1\n")
        (self.root / "dev").mkdir(exist_ok=True)
        for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            (self.root / "dev" / name).touch()

    def add_cuda_library(self) -> str:
        """The driver's library, in a folder of the loader's."""
        return str(self.add_file("lib/libcuda.so.1"))

    def add_file(self, path: str) -> Path:
        """An empty file of the machine."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return file

    def map_library(self, path: Path) -> None:
        """Have this process seem to use a library."""
        with self.maps.open("a") as maps:
            maps.write(f"7f00-7f10 r-xp 00000000 08:01 42                     {path}\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without GPU, driver or libcupti; tests add what they need."""
    made = Machine(tmp_path)
    monkeypatch.setattr(driver, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(driver, "_DEV", tmp_path / "dev")
    monkeypatch.setattr(driver, "_LIBRARY_CACHE", tmp_path / "ld.so.cache")
    monkeypatch.setattr(driver, "_LIBRARY_FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr(candidates, "_MAPS", made.maps)
    monkeypatch.setattr(candidates, "_TOOLKITS", tmp_path / "local")
    monkeypatch.setattr(candidates, "_package_folder", lambda name: str(made.site / name))
    monkeypatch.setattr(candidates, "_torch_cuda_major", lambda: None)
    monkeypatch.setattr(candidates, "newest_capability", made.newest_capability)
    monkeypatch.setattr(sys, "path", [str(made.site)])
    return made
