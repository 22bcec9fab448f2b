"""Regions as decorators of plain functions, coroutines and generators."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from proton.errors import UsageError
from proton.runtime.scopes import wrap


class Log:
    """Notes when a region is entered and left."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def region(self) -> Iterator[None]:
        self.lines.append("in")
        try:
            yield
        finally:
            self.lines.append("out")

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        region: Callable[[], AbstractContextManager[None]] = self.region
        return wrap(function, region, finish=lambda: self.lines.append("end"))


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_function_runs_inside_and_returns_its_result(log: Log) -> None:
    def add(a: int, *, b: int) -> int:
        log.lines.append("body")
        return a + b

    assert log.wrap(add)(1, b=2) == 3
    assert log.lines == ["in", "body", "out"]


def test_the_region_is_left_when_the_function_raises(log: Log) -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        log.wrap(fail)()
    assert log.lines == ["in", "out"]


def test_name_and_signature_are_kept(log: Log) -> None:
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    wrapped = log.wrap(add)
    assert (wrapped.__name__, wrapped.__doc__) == ("add", "Add.")
    assert inspect.signature(wrapped) == inspect.signature(add)


def test_a_coroutine_is_inside_until_it_has_ended(log: Log) -> None:
    async def work() -> str:
        log.lines.append("before")
        await asyncio.sleep(0)
        log.lines.append("after")
        return "done"

    wrapped = log.wrap(work)
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped()) == "done"
    assert log.lines == ["in", "before", "after", "out"]


def test_a_generator_is_inside_only_while_its_body_runs(log: Log) -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2

    wrapped = log.wrap(items)
    assert inspect.isgeneratorfunction(wrapped)
    for item in wrapped():
        log.lines.append(str(item))
    assert log.lines == ["in", "out", "1", "in", "out", "2", "in", "out", "end"]


def test_a_generator_still_takes_values_and_returns_one(log: Log) -> None:
    def echo() -> Generator[int, int, str]:
        got = yield 1
        return f"got {got}"

    generator = log.wrap(echo)()
    assert next(generator) == 1
    with pytest.raises(StopIteration, match="got 7"):
        generator.send(7)


def test_an_exception_thrown_into_a_generator_reaches_its_body(log: Log) -> None:
    def guarded() -> Iterator[str]:
        try:
            yield "first"
        except KeyError:
            yield "caught"

    generator = log.wrap(guarded)()
    next(generator)
    assert generator.throw(KeyError("x")) == "caught"
    generator.close()


def test_closing_a_generator_closes_its_body_inside(log: Log) -> None:
    def items() -> Iterator[int]:
        try:
            yield 1
        finally:
            log.lines.append("closed")

    generator = log.wrap(items)()
    next(generator)
    generator.close()
    assert log.lines == ["in", "out", "in", "closed", "out", "end"]


def test_an_async_generator_is_inside_only_while_its_body_runs(log: Log) -> None:
    async def items() -> AsyncGenerator[int, None]:
        yield 1
        await asyncio.sleep(0)
        yield 2

    async def consume() -> None:
        async for item in log.wrap(items)():
            log.lines.append(str(item))

    assert inspect.isasyncgenfunction(log.wrap(items))
    asyncio.run(consume())
    assert log.lines == ["in", "out", "1", "in", "out", "2", "in", "out", "end"]


def test_an_async_generator_still_takes_values_and_exceptions(log: Log) -> None:
    async def echo() -> AsyncGenerator[object, object]:
        try:
            got = yield "first"
            yield got
        except KeyError:
            yield "caught"

    async def drive() -> list[object]:
        generator = log.wrap(echo)()
        seen = [await generator.asend(None), await generator.asend(5)]
        seen.append(await generator.athrow(KeyError("x")))
        await generator.aclose()
        return seen

    assert asyncio.run(drive()) == ["first", 5, "caught"]
    assert log.lines[-1] == "end"


def test_what_cannot_be_called_is_refused_with_a_hint(log: Log) -> None:
    with pytest.raises(UsageError, match=r"not a function; put the decorator below @classmethod"):
        log.wrap(classmethod(lambda cls: None))  # type: ignore[arg-type]
