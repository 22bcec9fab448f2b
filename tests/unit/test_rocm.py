"""ROCm libraries from wheels: found as a whole set or not at all, and never over the user's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from proton._rocm import configure_runtime, find_therock_rocm_libraries


@pytest.fixture
def rocm_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def find_libraries(*names: str) -> list[Path]:
        return [tmp_path / f"lib{name}.so" for name in names]

    monkeypatch.setitem(sys.modules, "rocm_sdk", SimpleNamespace(find_libraries=find_libraries))
    for name in [name for name in os.environ if name.startswith("TRITON_")]:
        monkeypatch.delenv(name)
    return tmp_path


def test_nothing_is_found_without_the_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rocm_sdk", None)
    assert find_therock_rocm_libraries() is None
    assert configure_runtime() is None


def test_a_set_without_its_hsa_runtime_is_not_used(rocm_sdk: Path) -> None:
    assert find_therock_rocm_libraries() is None


def test_the_environment_points_at_one_whole_set(
    rocm_sdk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rocm_sdk / "libhsa-runtime64.so.1").touch()
    monkeypatch.setattr(os, "environ", {})
    assert configure_runtime() is not None
    assert os.environ["TRITON_LIBHIP_PATH"] == str(rocm_sdk / "libamdhip64.so")
    assert os.environ["TRITON_HSA_RUNTIME_LIBRARY"] == str(rocm_sdk / "libhsa-runtime64.so.1")


def test_a_variable_of_the_users_stands(rocm_sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rocm_sdk / "libhsa-runtime64.so.1").touch()
    monkeypatch.setattr(os, "environ", {"TRITON_ROCTX_LIB_PATH": "/opt/mine"})
    configure_runtime()
    assert os.environ["TRITON_ROCTX_LIB_PATH"] == "/opt/mine"
    assert "TRITON_ROCTX_LIBRARY" not in os.environ
