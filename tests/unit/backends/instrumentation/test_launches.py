"""Our places in Triton's launch path, and that they are given back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proton.backends.instrumentation.launches import Launches

triton = pytest.importorskip("triton")


@pytest.fixture
def places() -> Any:
    from triton.runtime import _allocation

    runtime = triton.knobs.runtime
    return SimpleNamespace(
        allocator=_allocation._profile_allocator,
        loads=runtime.kernel_load_end_hook,
        exits=runtime.launch_exit_hook,
    )


def test_places_are_taken_once_and_given_back_by_the_last(places: Any) -> None:
    before = places.allocator.get(), list(places.loads.calls), list(places.exits.calls)
    launches = Launches()
    launches.enter()
    launches.enter()
    assert places.allocator.get() == launches._allocate
    assert len(places.exits.calls) == len(before[2]) + 1
    launches.leave()
    assert places.allocator.get() == launches._allocate
    launches.leave()
    assert before == (places.allocator.get(), places.loads.calls, places.exits.calls)


def test_it_is_called_first_behind_a_launch_whoever_comes_later(
    places: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proton.backends.instrumentation import launches as module

    asked: list[tuple[Any, ...]] = []

    def allocate(*given: Any, **more: Any) -> int:
        asked.append((*given, more))
        return 64

    recorder = SimpleNamespace(allocate=allocate, has_buffer=lambda: False)
    monkeypatch.setattr(module, "_native", SimpleNamespace(InKernel=recorder))
    launches = Launches()
    launches.enter()
    later: Any = lambda metadata: None  # noqa: E731
    places.exits.add(later)
    try:
        walked = places.exits.calls
        assert launches._allocate(512, 128, None) == 64
        assert places.exits.calls[-1] is launches._on_exit
        assert walked[-1] is later, "others may be walking the list of before"
        assert asked == [(512, 128, 0, {"in_host_memory": False})]
        places.exits(SimpleNamespace(data={"function": 1}))
    finally:
        places.exits.remove(later)
        launches.leave()
