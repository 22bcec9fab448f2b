"""Tests of `triton.profiler` standing for `proton`, with a stand-in for Triton."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import proton
from proton.cli import triton_alias


@pytest.fixture
def triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package `triton` with a `profiler` of its own, and nothing imported of either."""
    (tmp_path / "triton" / "profiler").mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").touch()
    (tmp_path / "triton" / "profiler" / "__init__.py").write_text("whose = 'theirs'")
    (tmp_path / "triton" / "profiler" / "extra.py").touch()
    before = {name: sys.modules[name] for name in sys.modules if name.split(".")[0] == "triton"}
    for name in before:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    triton_alias.remove()
    for name in [name for name in sys.modules if name.split(".")[0] == "triton"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("triton")
def test_the_profiler_of_triton_is_ours() -> None:
    triton_alias.install()
    assert importlib.import_module("triton.profiler") is proton
    assert sys.modules["triton"].profiler is proton


@pytest.mark.usefixtures("triton")
def test_it_is_ours_when_triton_and_its_profiler_were_imported_before() -> None:
    assert importlib.import_module("triton.profiler").whose == "theirs"
    triton_alias.install()
    assert importlib.import_module("triton.profiler") is proton
    assert sys.modules["triton"].profiler is proton


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("name", ["flags", "viewer", "language", "hooks.launch", "state", "proton"])
def test_modules_below_are_ours_and_exist_once(name: str) -> None:
    triton_alias.install()
    alias = importlib.import_module(f"triton.profiler.{name}")
    assert alias is importlib.import_module(f"proton.{name}")
    assert alias.__spec__ is not None
    assert alias.__spec__.name == f"proton.{name}"


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("name", ["scope", "state", "profile"])
def test_importing_below_leaves_classes_and_functions_in_place(name: str) -> None:
    before = getattr(proton, name)
    triton_alias.install()
    importlib.import_module("triton.profiler.state")
    assert getattr(proton, name) is before


@pytest.mark.usefixtures("triton")
def test_a_module_that_only_triton_has_is_not_found_in_two_places() -> None:
    triton_alias.install()
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'triton\.profiler\.extra'"):
        importlib.import_module("triton.profiler.extra")


@pytest.mark.usefixtures("triton")
def test_installing_imports_nothing() -> None:
    triton_alias.install()
    assert "triton" not in sys.modules


@pytest.mark.usefixtures("triton")
def test_once_removed_theirs_is_found_again() -> None:
    triton_alias.install()
    triton_alias.install()
    importlib.import_module("triton.profiler.flags")
    triton_alias.remove()
    assert importlib.import_module("triton.profiler").whose == "theirs"
    assert "triton.profiler.flags" not in sys.modules
