"""Who may hold CUPTI in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from proton import _torch
from proton.backends.cupti import other_tools as holders
from proton.errors import BackendUnavailable

REFUSAL = BackendUnavailable("cupti", reason="another tool holds CUPTI", remedy="end it")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No tool at all; the file stands for the process's map of libraries."""
    maps = tmp_path / "maps"
    monkeypatch.setattr(holders, "_MAPS", maps)
    monkeypatch.setattr(_torch, "is_profiling", lambda: False)
    monkeypatch.delitem(sys.modules, "triton.profiler", raising=False)
    return maps


def test_with_nobody_in_sight_there_is_no_hint() -> None:
    assert holders.suspects() == []
    assert holders.hint(REFUSAL) == ""


def test_a_torch_profiler_that_records_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_torch, "is_profiling", lambda: True)
    assert holders.hint(REFUSAL) == "; the holder may be torch.profiler, which is recording"


def test_tritons_profiler_is_named_unless_it_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton.profiler", ModuleType("proton"))
    assert holders.suspects() == []
    monkeypatch.setitem(sys.modules, "triton.profiler", ModuleType("triton.profiler"))
    assert holders.suspects() == ["triton.profiler, which the program has imported"]


def test_a_tool_that_got_itself_loaded_is_named(nobody: Path) -> None:
    nobody.write_text("7f00-7f01 r-xp 0 0:0 0  /opt/nsys/libToolsInjection64.so\n")
    assert holders.suspects() == ["Nsight Systems"]


def test_whom_cupti_names_needs_no_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_torch, "is_profiling", lambda: True)
    named = BackendUnavailable("cupti", reason="another tool holds CUPTI: Kineto", remedy="end it")
    assert holders.hint(named) == ""


def test_launches_without_a_record_say_who_may_have_taken_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "another tool in this process, as torch.profiler does, has" in holders.unrecorded()
    monkeypatch.setattr(holders, "suspects", lambda: ["Nsight", "nvprof"])
    assert "this process, which may be Nsight or nvprof, has taken" in holders.unrecorded()
