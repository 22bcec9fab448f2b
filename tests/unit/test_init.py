"""The package itself: what it offers, and what importing it does not load."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import proton


@pytest.mark.parametrize("name", proton.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(proton, name) is not None


@pytest.mark.parametrize("name", ["scope", "state", "profile"])
def test_importing_a_submodule_does_not_hide_the_name(name: str) -> None:
    before = getattr(proton, name)
    module = importlib.import_module(f"proton.{name}")
    assert getattr(module, name) is before is getattr(proton, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'proton' has no attribute 'nonsense'"):
        _ = proton.nonsense


def test_dir_lists_the_submodules() -> None:
    assert {"data", "mode", "context", "start"} <= set(dir(proton))


def test_importing_loads_nothing_heavy(run_python: Any) -> None:
    heavy = ("triton", "torch", "numpy", "rich", "msgpack", "dataclasses", "logging", "inspect")
    result = run_python(
        f"""
        import sys
        import proton
        print([name for name in {heavy} if name in sys.modules])
        """
    )
    assert result.stdout == "[]\n", result.stderr


def test_recording_a_session_loads_neither_triton_nor_torch(run_python: Any) -> None:
    result = run_python(
        """
        import sys
        import proton
        proton.start("run")
        with proton.scope("a", {"x": 1}):
            pass
        proton.finalize()
        heavy = ("triton", "torch", "numpy", "rich", "msgpack")
        print([name for name in heavy if name in sys.modules])
        """
    )
    assert result.stdout == "[]\n", result.stderr


def test_the_default_profile_name_is_the_known_one() -> None:
    assert proton.DEFAULT_PROFILE_NAME == "proton"
    assert sys.modules["proton"] is proton
