"""Scopes and states among tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

import proton

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture
def recorded(fake_gpu: Any, profile_of: Any) -> Any:
    """Runs a coroutine in a session; what it recorded."""

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        proton.start("run")
        asyncio.run(main)
        proton.finalize()
        return profile_of("run.hatchet")

    return run


async def pause() -> None:
    """Let every other task run."""
    await asyncio.sleep(0)


def test_tasks_start_where_they_were_created(fake_gpu: Any, recorded: Any) -> None:
    async def child() -> None:
        await pause()
        with proton.scope("child"):
            await pause()
            fake_gpu.launch("k")

    async def main() -> None:
        with proton.scope("parent"):
            task = asyncio.create_task(child())
            await pause()
        await task  # the parent's scope is closed by now

    assert recorded(main()).paths() == ["parent", "parent/child", "parent/child/k"]


def test_a_tasks_scopes_do_not_leak_into_its_creator(fake_gpu: Any, recorded: Any) -> None:
    async def child(entered: asyncio.Event, leave: asyncio.Event) -> None:
        with proton.scope("child"):
            entered.set()
            await leave.wait()

    async def main() -> None:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(child(entered, leave))
        await entered.wait()
        fake_gpu.launch("main")
        leave.set()
        await task

    assert sorted(recorded(main()).paths()) == ["child", "main"]


def test_gathered_tasks_keep_apart_over_many_switches(fake_gpu: Any, recorded: Any) -> None:
    async def work(n: int) -> None:
        for _ in range(10):
            with proton.scope(f"task{n}", {"x": 1}):
                await pause()
                with proton.scope("inner"):
                    await pause()
                    fake_gpu.launch("k", 1)

    async def main() -> None:
        with proton.scope("main"):
            await asyncio.gather(*(work(n) for n in range(5)))

    profile = recorded(main())
    for n in range(5):
        assert profile.metrics(f"main/task{n}")["x"] == 10
        assert profile.metrics(f"main/task{n}/inner/k")["count"] == 10
    assert profile.losses == {}


def test_enter_and_exit_keep_to_their_task(fake_gpu: Any, recorded: Any) -> None:
    async def work(name: str) -> None:
        proton.enter_scope(name)
        await pause()
        fake_gpu.launch("k")
        proton.exit_scope(name)

    async def main() -> None:
        await asyncio.gather(work("a"), work("b"))

    assert sorted(recorded(main()).paths()) == ["a", "a/k", "b", "b/k"]


def test_states_keep_to_their_task(fake_gpu: Any, recorded: Any) -> None:
    async def work(name: str) -> None:
        with proton.state(name):
            await pause()
            fake_gpu.launch(f"k_{name}")

    async def main() -> None:
        await asyncio.gather(work("a"), work("b"))

    assert sorted(recorded(main()).paths()) == ["a", "a/k_a", "b", "b/k_b"]


def test_a_cancelled_task_leaves_its_scopes(fake_gpu: Any, recorded: Any) -> None:
    async def work() -> None:
        with proton.scope("cancelled"):
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(work())
        await pause()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        fake_gpu.launch("k")

    assert sorted(recorded(main()).paths()) == ["cancelled", "k"]


def test_a_decorated_async_generator_does_not_claim_its_consumers_work(
    fake_gpu: Any, recorded: Any
) -> None:
    @proton.scope("items")
    async def items() -> AsyncIterator[int]:
        for n in range(3):
            await pause()
            fake_gpu.launch("inner")
            yield n

    async def main() -> None:
        async for _ in items():
            await pause()
            fake_gpu.launch("outer")

    assert recorded(main()).paths() == ["items", "items/inner", "outer"]


def test_one_decorator_serves_many_tasks_at_once(fake_gpu: Any, recorded: Any) -> None:
    @proton.cpu_timed_scope("work")
    async def work() -> None:
        await pause()
        fake_gpu.launch("k")

    async def main() -> None:
        await asyncio.gather(*(work() for _ in range(10)))

    profile = recorded(main())
    assert profile.paths() == ["work", "work/k"]
    assert profile.metrics("work/k")["count"] == 10


def test_work_handed_to_a_thread_stands_below_the_tasks_scopes(
    fake_gpu: Any, recorded: Any
) -> None:
    async def work(name: str) -> None:
        with proton.scope(name):
            await asyncio.to_thread(fake_gpu.launch, "k")  # copies the task's context

    async def main() -> None:
        await asyncio.gather(work("a"), work("b"))

    assert sorted(recorded(main()).paths()) == ["a", "a/k", "b", "b/k"]


def test_a_session_started_inside_a_task_knows_the_tasks_scopes(
    fake_gpu: Any, profile_of: Any
) -> None:
    async def work() -> None:
        with proton.scope("task"):
            await pause()
            proton.start("run")
            fake_gpu.launch("k")

    async def main() -> None:
        with proton.scope("main"):
            await asyncio.create_task(work())

    asyncio.run(main())
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["main", "main/task", "main/task/k"]
