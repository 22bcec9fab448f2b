"""The door to Triton's launches: what is put there comes out again."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from proton._triton import launch as _triton_launch

triton = pytest.importorskip("triton")


def ours(size: int, alignment: int, stream: int | None) -> int:
    return 0


def afterwards(size: int, alignment: int, stream: int | None) -> int:
    return 0


def test_the_allocator_of_before_comes_back() -> None:
    from triton.runtime import _allocation

    theirs: Any = SimpleNamespace()
    _allocation._profile_allocator.set(theirs)
    undo = _triton_launch.set_profile_allocator(ours, afterwards)
    assert _allocation._profile_allocator.get() is ours
    undo()
    assert _allocation._profile_allocator.get() is theirs
    _allocation.set_profile_allocator(None)


def test_where_there_was_none_another_one_stays() -> None:
    from triton.runtime import _allocation

    _allocation.set_profile_allocator(None)
    undo = _triton_launch.set_profile_allocator(ours, afterwards)
    undo()
    assert _allocation._profile_allocator.get() is afterwards
    _allocation.set_profile_allocator(None)


def test_an_allocator_that_somebody_set_meanwhile_stays() -> None:
    from triton.runtime import _allocation

    undo = _triton_launch.set_profile_allocator(ours, afterwards)
    _allocation.set_profile_allocator(None)
    theirs = _allocation._profile_allocator.get()
    undo()
    assert _allocation._profile_allocator.get() is theirs


def test_exit_hooks_and_language_are_tritons() -> None:
    assert _triton_launch.exit_hooks() is triton.knobs.runtime.launch_exit_hook
    assert _triton_launch.language() is triton.language
    assert all(kernel.function is not None for kernel in _triton_launch.loaded_kernels())


def test_the_cache_is_cleared_by_what_triton_clears_it_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cleared: list[object] = []
    active = SimpleNamespace(
        get_empty_cache_for_benchmark=lambda: "cache", clear_cache=cleared.append
    )
    module = importlib.import_module("triton.runtime.driver")
    monkeypatch.setattr(module, "driver", SimpleNamespace(active=active))
    clear = _triton_launch.cache_clearer()
    assert cleared == []
    clear()
    assert cleared == ["cache"]
