"""Which library NVTX is told to load, and when it is listened to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning
from proton.runtime import nvtx

Run = Callable[..., "CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def gpu(fake_gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(nvtx, "_has_warned", False)
    monkeypatch.delenv(nvtx.VARIABLE, raising=False)
    return fake_gpu


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every change of listening, as it is asked of the core."""
    changes: list[bool] = []

    class Core:
        load = staticmethod(lambda path: None)
        listen = staticmethod(changes.append)

    monkeypatch.setattr("proton._native.Nvtx", Core)
    return changes


def test_importing_proton_names_its_library_to_nvtx(run_python: Run) -> None:
    code = "import os, proton; print(os.environ['NVTX_INJECTION64_PATH'])"
    path = Path(run_python(code, env={"NVTX_INJECTION64_PATH": ""}).stdout.strip())
    assert path.name == "libproton_nvtx.so"
    assert path.exists()


def test_the_knob_leaves_the_environment_alone(run_python: Run) -> None:
    code = "import os, proton; print(repr(os.environ['NVTX_INJECTION64_PATH']))"
    done = run_python(code, env={"NVTX_INJECTION64_PATH": "", "TRITON_ENABLE_NVTX": "off"})
    assert done.stdout == "''\n"


def test_another_tool_keeps_nvtx_and_a_session_says_so_once(
    monkeypatch: pytest.MonkeyPatch, listening: list[bool], gpu: Any
) -> None:
    monkeypatch.setenv(nvtx.VARIABLE, "/opt/tool/libtool.so")
    nvtx.announce()
    assert os.environ[nvtx.VARIABLE] == "/opt/tool/libtool.so"
    with pytest.warns(ProtonWarning, match=r"another tool, '/opt/tool/libtool.so'; unset it"):
        proton.start("a")
    proton.start("b")
    gpu.launch("k")
    proton.finalize()
    assert listening == []


def test_a_library_of_another_installation_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(nvtx.VARIABLE, "/old/proton/libproton_nvtx.so")
    nvtx.announce()
    assert os.environ[nvtx.VARIABLE] == nvtx._PATH


def test_listening_lasts_from_the_first_session_to_the_last(
    listening: list[bool], gpu: Any
) -> None:
    first, second = proton.start("a"), proton.start("b")
    gpu.launch("k")
    proton.finalize(first)
    assert listening == [True]
    proton.finalize(second)
    assert listening == [True, False]


def test_the_knob_turns_ranges_off(
    monkeypatch: pytest.MonkeyPatch, listening: list[bool], gpu: Any
) -> None:
    monkeypatch.setenv("TRITON_ENABLE_NVTX", "0")
    proton.start("a")
    gpu.launch("k")
    proton.finalize()
    assert listening == []


def test_a_missing_library_is_named_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, run_python: Run
) -> None:
    code = """
    from proton import _native
    try:
        _native.Nvtx.load("/nowhere/libproton_nvtx.so")
    except ValueError as error:
        print(error)
    """
    text = run_python(code).stdout
    assert "/nowhere/libproton_nvtx.so" in text
    assert "reinstall proton or set TRITON_ENABLE_NVTX=0" in text


def test_a_forked_child_forgets_the_sessions_of_its_parent(gpu: Any, listening: list[bool]) -> None:
    first = proton.start("first")
    nvtx.forget()
    second = proton.start("second")
    assert listening == [True, True], "the second is the first that the child knows of"
    gpu.launch("k")
    proton.finalize(second)
    proton.finalize(first)
