"""Our places in Triton's launch path, and that they are given back."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from proton.backends.instrumentation.launch_path import LaunchPath

triton = pytest.importorskip("triton")


@pytest.fixture
def places() -> Iterator[Any]:
    from triton.runtime import _allocation

    runtime = triton.knobs.runtime
    _allocation.set_profile_allocator(None)
    yield SimpleNamespace(
        allocator=_allocation._profile_allocator,
        loads=runtime.kernel_load_end_hook,
        exits=runtime.launch_exit_hook,
    )
    _allocation.set_profile_allocator(None)


def test_places_are_taken_once_and_given_back_by_the_last(places: Any) -> None:
    before = places.allocator.get(), list(places.loads.calls), list(places.exits.calls)
    launches = LaunchPath()
    launches.enter()
    launches.enter()
    assert places.allocator.get() == launches._allocate
    assert len(places.exits.calls) == len(before[2]) + 1
    launches.leave()
    assert places.allocator.get() == launches._allocate
    launches.leave()
    assert before[1:] == (places.loads.calls, places.exits.calls)
    # A program may have kept a kernel with records: Triton's own allocator refuses its launches.
    assert places.allocator.get() == launches._throw_away


def test_it_is_called_first_behind_a_launch_whoever_comes_later(
    places: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proton.backends.instrumentation import launch_path as module

    asked: list[tuple[Any, ...]] = []

    def allocate(*given: Any, **more: Any) -> int:
        asked.append((*given, more))
        return 64

    recorder = SimpleNamespace(allocate=allocate, has_buffer=lambda: False)
    monkeypatch.setattr(module, "_native", SimpleNamespace(InKernel=recorder))
    launches = LaunchPath()
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
        places.exits(None)
    finally:
        places.exits.remove(later)
        launches.leave()


def test_arguments_of_a_launch_are_noted_where_its_buffer_is_read_by_others() -> None:
    tensor = SimpleNamespace(
        data_ptr=lambda: 0x1000, element_size=lambda: 4, shape=(8,), stride=lambda: (1,)
    )
    source = SimpleNamespace(fn=SimpleNamespace(arg_names=["x_ptr", "B"]))
    kernel = SimpleNamespace(function=7, src=source)
    launches = LaunchPath()
    launches._see(kernel, (tensor, 64))
    assert launches._thread.arguments == (), "nobody wants to know"
    assert launches._take_note(7, ()) == 0
    launches.kernels.keeps_bytes = True
    launches._see(kernel, (tensor, 64))
    assert len(launches._thread.arguments) == 2
    assert launches._take_note(8, (tensor, 64)) == 0, "another kernel's"
    note = launches.note_of(launches._take_note(7, (tensor, 64)))
    assert [(each.name, each.address, each.size_bytes) for each in note.tensors] == [
        ("x_ptr", 0x1000, 32)
    ]
    assert launches.note_of(99).tensors == ()


def test_threads_note_launches_while_the_oldest_notes_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was noted between looking for the oldest and dropping it once failed a launch."""
    from proton.backends.instrumentation import launch_path as module

    monkeypatch.setattr(module, "MOST_NOTES", 16)
    monkeypatch.setattr(module, "current_tools", lambda: (object(),))
    launches = LaunchPath()
    failed: list[BaseException] = []

    def note() -> None:
        try:
            for _ in range(20_000):
                launches._take_note(7, ())
        except BaseException as error:
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=note) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(30)
    finally:
        sys.setswitchinterval(interval)
    assert failed == []
    assert len(launches._notes) == 16
