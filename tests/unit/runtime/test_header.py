"""What a file says of its recording."""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import proton


@pytest.fixture
def header(fake_gpu: Any, tmp_cwd: Path, profile_of: Any) -> dict[str, Any]:
    proton.start("run", context="python")
    fake_gpu.launch("k")
    proton.finalize()
    found: dict[str, Any] = profile_of("run.hatchet").header
    return found


def test_it_names_the_session_and_how_it_recorded(header: dict[str, Any]) -> None:
    assert {key: header[key] for key in ("session", "context", "data", "backends", "mode")} == {
        "session": "run",
        "context": "python",
        "data": "tree",
        "backends": ["fake"],
        "mode": "",
    }


def test_it_names_the_command_and_the_process(header: dict[str, Any]) -> None:
    assert header["command"] == sys.orig_argv
    assert (header["pid"], header["host"]) == (os.getpid(), os.uname().nodename)


def test_it_has_the_rank_that_a_launcher_gave(
    fake_gpu: Any, tmp_cwd: Path, profile_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    proton.start("run")
    fake_gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").header["rank"] == 3


def test_it_has_the_versions(header: dict[str, Any]) -> None:
    assert header["format"] == 1
    assert header["version"] == proton.__version__
    assert header["python"] == platform.python_version()
    triton = sys.modules.get("triton")
    assert header["triton"] == (triton.__version__ if triton else None)


def test_it_has_the_unix_times_of_start_and_end(header: dict[str, Any]) -> None:
    assert header["start_time_ns"] < header["end_time_ns"] <= time.time_ns()
    assert header["end_time_ns"] - header["start_time_ns"] < 60e9


def test_a_session_without_phases_is_phase_zero(header: dict[str, Any]) -> None:
    assert (header["phase"], header["phases"]) == (0, [0])


def test_words_that_cannot_be_decoded_do_not_break_the_file(
    fake_gpu: Any, tmp_cwd: Path, profile_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "a\udcffb"])
    proton.start("run")
    fake_gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").header["command"] == ["python", "a\ufffdb"]
