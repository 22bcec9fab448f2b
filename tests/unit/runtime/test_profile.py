"""`@profile`."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import proton
from proton.runtime import sessions

pytestmark = pytest.mark.usefixtures("gpu")


def is_recording() -> bool:
    return any(each.native.is_active for each in sessions.open_sessions())


def test_the_function_is_recorded_and_its_result_returned(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run")
    def work(x: int) -> int:
        gpu.launch("kernel")
        return x + 1

    assert work(1) == 2
    gpu.launch("outside")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["kernel"]


def test_it_decorates_without_parentheses(gpu: Any, profile_of: Any) -> None:
    @proton.profile
    def work() -> None:
        """Do it."""
        gpu.launch("kernel")

    work()
    proton.finalize()
    assert work.__doc__ == "Do it."
    assert profile_of("proton.hatchet").paths() == ["kernel"]


def test_it_takes_the_function_with_options(gpu: Any, profile_of: Any) -> None:
    proton.profile(lambda: gpu.launch("kernel"), name="run", context="python")()
    proton.finalize()
    assert profile_of("run.hatchet").header["context"] == "python"


def test_calls_add_up_in_one_session(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run")
    def work() -> None:
        gpu.launch("kernel")

    work()
    work()
    proton.finalize()
    assert profile_of("run.hatchet").metrics("kernel")["count"] == 2


def test_an_exception_does_not_leave_the_session_active(gpu: Any) -> None:
    @proton.profile(name="run")
    def work() -> None:
        gpu.launch("kernel")
        raise KeyError("x")

    with pytest.raises(KeyError):
        work()
    assert not is_recording()
    proton.finalize()


def test_a_recursive_call_does_not_pause_the_outer_one(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run")
    def work(depth: int) -> None:
        if depth:
            work(depth - 1)
        gpu.launch("kernel")

    work(2)
    assert not is_recording()
    proton.finalize()
    assert profile_of("run.hatchet").metrics("kernel")["count"] == 3


def test_a_session_that_was_active_before_stays_active(gpu: Any) -> None:
    proton.start("run")
    proton.profile(lambda: gpu.launch("kernel"), name="run")()
    assert is_recording()
    proton.finalize()


def test_calls_in_two_threads_pause_after_the_last(gpu: Any) -> None:
    both_in, first_may_end = threading.Barrier(2), threading.Event()

    @proton.profile(name="run")
    def work(waits: bool) -> None:
        gpu.launch("kernel")
        both_in.wait(10)
        if waits:
            first_may_end.wait(10)

    threads = [threading.Thread(target=work, args=(waits,)) for waits in (True, False)]
    for thread in threads:
        thread.start()
    threads[1].join(10)
    assert is_recording()
    first_may_end.set()
    threads[0].join(10)
    assert not is_recording()
    proton.finalize()


def test_the_function_may_finalize_the_session(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run")
    def work() -> None:
        gpu.launch("kernel")
        proton.finalize()

    work()
    assert profile_of("run.hatchet").paths() == ["kernel"]


def test_a_coroutine_is_recorded_until_it_ends(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run")
    async def work() -> str:
        await asyncio.sleep(0)
        gpu.launch("kernel")
        return "done"

    assert asyncio.run(work()) == "done"
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["kernel"]


def test_a_disabled_profiler_just_runs_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert proton.profile(lambda: 5)() == 5
