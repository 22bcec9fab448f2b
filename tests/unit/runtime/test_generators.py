"""Decorated generators whose scopes are open around a `yield`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import proton

pytestmark = pytest.mark.usefixtures("gpu")


def kernels(session: int, profile_of: Any) -> list[str]:
    profile = profile_of(proton.data.get(session))
    assert profile.losses == {}
    return sorted(path for path in profile.paths() if "count" in profile.metrics(path))


def test_a_scope_around_a_yield_holds_the_body_and_not_the_caller(
    gpu: Any, session: int, profile_of: Any
) -> None:
    @proton.scope("gen")
    def items() -> Iterator[int]:
        with proton.scope("outer"), proton.scope("inner", {"x": 1}):
            for number in range(3):
                gpu.launch("body")
                yield number
        gpu.launch("last")

    for _ in items():
        gpu.launch("caller")
    assert kernels(session, profile_of) == ["caller", "gen/last", "gen/outer/inner/body"]
    assert profile_of(proton.data.get(session)).metrics("gen/outer/inner") == {"x": 1}
    assert proton.context.depth(session) == 0


def test_each_run_of_the_body_stands_where_it_was_asked_for(
    gpu: Any, session: int, profile_of: Any
) -> None:
    @proton.scope("gen")
    def items() -> Iterator[int]:
        with proton.scope("inner"):
            while True:
                gpu.launch("body")
                yield 0

    generators = [items(), items()]
    for name in "ab":
        with proton.scope(name):
            for generator in generators:  # interleaved
                next(generator)
    for generator in generators:
        generator.close()  # type: ignore[attr-defined]
    assert kernels(session, profile_of) == ["a/gen/inner/body", "b/gen/inner/body"]


def test_a_generator_in_a_generator_and_one_that_is_dropped(
    gpu: Any, session: int, profile_of: Any
) -> None:
    @proton.scope("low")
    def low() -> Iterator[int]:
        with proton.scope("l"):
            gpu.launch("k")
            yield 1
            yield 2

    @proton.scope("high")
    def high() -> Iterator[int]:
        with proton.scope("h"):
            yield from low()

    for _ in high():
        gpu.launch("caller")
        break
    assert kernels(session, profile_of) == ["caller", "high/h/low/l/k"]
    assert proton.context.depth(session) == 0


def test_a_generator_may_go_on_in_another_thread(gpu: Any, session: int, profile_of: Any) -> None:
    @proton.scope("gen")
    def items() -> Iterator[int]:
        with proton.scope("inner"):
            yield 0
            gpu.launch("k")

    generator = items()
    next(generator)
    thread = threading.Thread(target=lambda: list(generator))
    thread.start()
    thread.join()
    assert kernels(session, profile_of) == ["gen/inner/k"]


def test_an_async_generator_does_the_same(gpu: Any, session: int, profile_of: Any) -> None:
    @proton.scope("gen")
    async def items() -> AsyncIterator[int]:
        with proton.scope("inner"):
            for number in range(2):
                await asyncio.sleep(0)
                gpu.launch("body")
                yield number

    async def work(name: str) -> None:
        with proton.scope(name):
            async for _ in items():
                gpu.launch("caller")

    async def both() -> None:
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(both())
    expected = ["a/caller", "a/gen/inner/body", "b/caller", "b/gen/inner/body"]
    assert kernels(session, profile_of) == expected


def test_a_plain_generator_keeps_its_scope_open_for_its_caller(
    gpu: Any, session: int, profile_of: Any
) -> None:
    def items() -> Iterator[int]:
        with proton.scope("inner"):
            yield 0

    for _ in items():
        gpu.launch("caller")
    assert kernels(session, profile_of) == ["inner/caller"]
