"""Stacks of threads and asyncio tasks, and whose path they follow."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import gc
import os
import threading
from collections.abc import Callable

import pytest

from proton import _native
from proton._native import Scope, context_path, enter_scope, exit_scope
from proton.errors import ScopeMismatch
from tests.support.native import run_thread

# Threads


def test_a_thread_without_scopes_follows_the_lead_thread_as_it_stands() -> None:
    _native.lead_thread()
    seen: list[list[str]] = []
    steps = threading.Semaphore(0), threading.Semaphore(0)

    def follow() -> None:
        for _ in range(2):
            steps[0].acquire()
            seen.append(context_path())
            steps[1].release()

    thread = threading.Thread(target=follow)
    thread.start()
    for name in ("first", "second"):
        with Scope(name):
            steps[0].release()
            steps[1].acquire()
    thread.join()
    assert seen == [["first"], ["second"]]


def test_a_known_thread_with_scopes_starts_at_the_root() -> None:
    seen: list[list[str]] = []

    def work() -> None:
        with Scope("own"):
            seen.append(context_path())

    with Scope("lead"):
        run_thread(work)
    assert seen == [["own"]]


def call_from_foreign_thread(function: Callable[[], None]) -> None:
    """Runs `function` on a thread that Python's threading module does not know."""
    libc = ctypes.CDLL(None)
    errors: list[BaseException] = []

    def run(_: object) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    handle = ctypes.c_ulong()
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(run)
    assert libc.pthread_create(ctypes.byref(handle), None, start, None) == 0
    assert libc.pthread_join(handle, None) == 0
    if errors:
        raise errors[0]


def test_a_foreign_thread_hangs_its_scopes_below_the_lead_thread() -> None:
    _native.lead_thread()
    seen: list[list[str]] = []

    def work() -> None:
        seen.append(context_path())
        with Scope("own"):
            seen.append(context_path())
        seen.append(context_path())

    with Scope("lead"):
        call_from_foreign_thread(work)
    assert seen == [["lead"], ["lead", "own"], ["lead"]]


def test_a_thread_that_ends_leaves_no_state_behind() -> None:
    before = _native.thread_count()

    def work() -> None:
        Scope("left open").__enter__()

    for _ in range(3):
        run_thread(work)
    assert _native.thread_count() == before


def test_scopes_that_a_dead_thread_left_open_are_counted(session: _native.Session) -> None:
    def work() -> None:
        Scope("left open").__enter__()

    run_thread(work)
    assert session.losses == {"unclosed_scope": 1}


def test_threads_do_not_disturb_each_other() -> None:
    barrier = threading.Barrier(4)
    scope = Scope("shared")
    wrong: list[list[str]] = []

    def work() -> None:
        barrier.wait()
        for _ in range(500):
            with scope, scope:
                if context_path() != ["shared", "shared"]:
                    wrong.append(context_path())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Tasks


def test_interleaved_tasks_keep_paths_of_their_own(session: _native.Session) -> None:
    seen: dict[str, list[list[str]]] = {"a": [], "b": []}

    async def work(name: str) -> None:
        with Scope(name):
            await asyncio.sleep(0)
            seen[name].append(context_path())
            with Scope("inner"):
                await asyncio.sleep(0)
                seen[name].append(context_path())

    async def main() -> None:
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(main())
    assert seen == {"a": [["a"], ["a", "inner"]], "b": [["b"], ["b", "inner"]]}
    assert session.losses == {}
    assert context_path() == []


def test_a_task_inherits_the_path_of_its_creator_at_creation() -> None:
    async def child() -> list[str]:
        await asyncio.sleep(0)
        return context_path()

    async def main() -> list[str]:
        with Scope("creator"):
            task = asyncio.create_task(child())
        return await task

    with Scope("outside"):
        assert asyncio.run(main()) == ["outside", "creator"]


def test_a_task_cannot_leave_its_creators_scope(session: _native.Session) -> None:
    async def child(scope: Scope) -> list[str]:
        scope.__exit__()
        return context_path()

    async def main() -> list[str]:
        with Scope("creator") as scope:
            return await asyncio.create_task(child(scope))

    assert asyncio.run(main()) == ["creator"]
    assert session.losses == {"unmatched_exit": 1}


def test_enter_scope_is_per_task() -> None:
    async def child() -> None:
        with pytest.raises(ScopeMismatch):
            exit_scope("creator")

    async def main() -> None:
        enter_scope("creator")
        await asyncio.create_task(child())
        assert context_path() == ["creator"]
        exit_scope("creator")

    asyncio.run(main())


def test_states_are_per_task(session: _native.Session) -> None:
    async def child() -> None:
        with pytest.raises(ScopeMismatch):
            _native.exit_state()

    async def main() -> None:
        _native.enter_state("creator")
        await asyncio.create_task(child())
        _native.exit_state()

    asyncio.run(main())


def test_scopes_in_a_copied_context_end_with_it() -> None:
    def work() -> list[str]:
        Scope("inside").__enter__()
        return context_path()

    with Scope("outside"):
        assert contextvars.copy_context().run(work) == ["outside", "inside"]
        assert context_path() == ["outside"]


def test_scopes_that_a_task_left_open_are_counted(session: _native.Session) -> None:
    async def leave_open() -> None:
        Scope("left open").__enter__()

    asyncio.run(leave_open())
    assert context_path() == []
    gc.collect()
    assert session.losses == {"unclosed_scope": 1}


def test_a_child_forked_inside_a_task_has_none_of_the_tasks_scopes(
    session: _native.Session,
) -> None:
    async def other(started: asyncio.Event, done: asyncio.Event) -> None:
        with Scope("other"):
            started.set()
            await done.wait()

    async def main() -> int:
        started, done = asyncio.Event(), asyncio.Event()
        beside = asyncio.create_task(other(started, done))
        await started.wait()
        with Scope("task"):
            pid = os.fork()
            if pid == 0:
                child = _native.Session(1, context="shadow", data="trace")
                child.activate()
                is_clean = context_path() == []
                with Scope("own"):
                    is_clean = is_clean and context_path() == ["own"]
                text = child.serialize("chrome_trace", 0, {}).decode()
                os._exit(0 if is_clean and '"other"' not in text else 1)
            assert context_path() == ["task"]
        done.set()
        await beside
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert asyncio.run(main()) == 0
