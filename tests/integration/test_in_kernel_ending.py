"""Sessions that begin, end or pause while kernels are launched, on the fake driver: none fails,
none writes to memory that is gone (the driver's fixture looks), nothing of ours stays in Triton.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import proton
from proton import _native
from proton._triton import launch as _triton_launch
from proton.backends.instrumentation import backend
from proton.errors import UsageError
from proton.inkernel.compiler import instrument
from proton.inkernel.compiler.instrument import _switch as switch
from proton.inkernel.compiler.recording_choice import choice
from proton.runtime.sessions import find
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.recorded_softmax import ROWS, WARPS, launch_softmax, read

torch = pytest.importorskip("torch")

LIMIT_S = 30


@pytest.fixture(autouse=True)
def no_allocator() -> Iterator[None]:
    """Nobody has set one before, nor what a test put there stays."""
    from triton.runtime import _allocation

    _allocation.set_profile_allocator(None)
    yield
    _allocation.set_profile_allocator(None)


def after_leaving(launches: Any, monkeypatch: Any, act: Callable[[], object]) -> None:
    """Call `act` in the middle of `finalize`: when launches are ours no more, memory still is."""
    leave = launches.path.leave

    def leave_and_act() -> None:
        leave()
        act()

    monkeypatch.setattr(launches.path, "leave", leave_and_act)


def test_whoever_launches_while_a_session_begins_finds_a_buffer(
    launches: Any, monkeypatch: Any
) -> None:
    """Kernels once had records before there was anybody to give them memory."""
    begin = instrument.begin

    def begin_and_launch(*given: Any, **more: Any) -> Any:
        handle = begin(*given, **more)
        launch_softmax()
        return handle

    monkeypatch.setattr(backend, "begin", begin_and_launch)
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    proton.finalize(session)
    assert read()[1][0]["launches"] == 1, "the first was made before the session was active"


def test_a_session_that_cannot_begin_leaves_nothing_behind(launches: Any) -> None:
    from triton import knobs

    before = list(knobs.runtime.launch_exit_hook.calls)
    session = proton.start("run", backend="instrumentation")
    with pytest.raises(UsageError, match="already"):
        proton.start("other", backend="instrumentation", mode="ops")
    launch_softmax()
    proton.finalize(session)
    assert read()[1][0]["launches"] == 1
    assert knobs.runtime.launch_exit_hook.calls == before


def test_whoever_launches_while_a_session_ends_gets_the_plain_kernel(
    launches: Any, fake_driver: FakeDriver, monkeypatch: Any
) -> None:
    """It once got the one with records, in memory that was about to be freed."""
    given: list[int] = []

    def throw_away(size: int, alignment: int, stream: int | None) -> int:
        given.append(size)
        return 0

    monkeypatch.setattr(launches.path, "_throw_away", throw_away)
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    after_leaving(launches, monkeypatch, launch_softmax)
    proton.finalize(session)
    assert given == []


def test_a_launch_that_a_session_ends_under_writes_to_memory_that_stays(
    launches: Any, fake_driver: FakeDriver, monkeypatch: Any
) -> None:
    chosen, left, given, ended = (threading.Event() for _ in range(4))
    path = launches.path
    see, throw_away = path._see, path._throw_away

    def see_and_wait(kernel: Any, arguments: Any) -> None:
        see(kernel, arguments)
        if threading.current_thread() is late:  # it has the kernel with records, and no buffer
            chosen.set()
            assert left.wait(LIMIT_S)

    def throw_away_and_wait(*asked: Any) -> int:
        address: int = throw_away(*asked)
        given.set()
        assert ended.wait(LIMIT_S)
        return address

    monkeypatch.setattr(path, "_see", see_and_wait)
    monkeypatch.setattr(path, "_throw_away", throw_away_and_wait)

    def leave_it_behind() -> None:
        left.set()
        assert given.wait(LIMIT_S)

    after_leaving(launches, monkeypatch, leave_it_behind)
    late = threading.Thread(target=launch_softmax)
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    late.start()
    assert chosen.wait(LIMIT_S)
    proton.finalize(session)
    launched = fake_driver.counter("correlation")
    ended.set()
    late.join(LIMIT_S)
    assert fake_driver.counter("correlation") > launched
    assert read()[1][0]["launches"] == 1


def test_a_launch_that_had_our_allocator_when_we_left_leaves_no_hook_behind(
    launches: Any, fake_driver: FakeDriver
) -> None:
    """It once raised IndexError: the exit hook had gone before the allocator."""
    from triton import knobs

    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    proton.finalize(session)
    before = list(knobs.runtime.launch_exit_hook.calls)
    assert launches.path._allocate(1024, 128, None) != 0
    assert knobs.runtime.launch_exit_hook.calls == before


def test_exit_hooks_that_the_program_took_away_come_back_with_the_next_launch(
    launches: Any,
) -> None:
    from triton import knobs

    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    knobs.runtime.launch_exit_hook.calls.clear()
    launch_softmax()
    proton.finalize(session)
    assert read()[1][0]["launches"] == 2


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads that take turns a hundred times as often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@contextmanager
def launching_threads() -> Iterator[None]:
    """Three threads launch meanwhile, and none fails."""
    failures: list[BaseException] = []
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.is_set():
                launch_softmax()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join(LIMIT_S)
    assert failures == []


def test_sessions_come_and_go_while_threads_launch(launches: Any, eager_threads: None) -> None:
    with launching_threads():
        for _ in range(20):
            session = proton.start("run", backend="instrumentation")
            launch_softmax()
            proton.finalize(session)
            root, (entry,) = read()
            assert entry["launches"] >= 1
            assert root["proton"].get("losses", {}) == {}


def test_a_session_pauses_while_threads_launch(launches: Any, eager_threads: None) -> None:
    session = proton.start("run", backend="instrumentation")
    with launching_threads():
        for turn in range(50):
            proton.deactivate(session, flushing=turn % 5 == 0)
            proton.activate(session)
            launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    assert entry["launches"] >= 50
    assert root["proton"].get("losses", {}) == {}
    assert {each["count"] for each in entry["regions"]} == {entry["launches"] * ROWS * WARPS}


def test_kernels_are_plain_while_no_session_is_active(launches: Any, monkeypatch: Any) -> None:
    given: list[int] = []
    allocate = launches.path._allocate

    def counting(*asked: Any) -> int:
        given.append(asked[0])
        return int(allocate(*asked))

    monkeypatch.setattr(launches.path, "_allocate", counting)
    first = proton.start("run", backend="instrumentation")
    second = proton.start("other", backend="instrumentation")
    launch_softmax()
    proton.deactivate(first)
    launch_softmax()  # the second is active
    proton.deactivate(second)
    launch_softmax()
    assert len(given) == 2
    proton.activate(first)
    launch_softmax()
    proton.deactivate()
    launch_softmax()
    assert len(given) == 3
    proton.finalize()
    launched = [read(name)[1][0]["launches"] for name in ("run.hatchet", "other.hatchet")]
    assert launched == [2, 2]


def test_memory_of_launches_that_sessions_ended_under_comes_back(
    launches: Any, fake_driver: FakeDriver
) -> None:
    """Each such session once kept its blocks, until the pool was full and nothing was read."""
    pool_bytes = [_bytes_after_a_session()]  # those of graphs that other tests have captured
    for _ in range(12):
        session = proton.start("run", backend="instrumentation")
        assert session is not None
        assert _native.InKernel.flush(LIMIT_S), "what the session before has left has ended"
        find(session).flush_limit_s = 0.01
        fake_driver.option("hold", 1)
        with proton.scope("layer"):
            for _ in range(4):
                launch_softmax()
        proton.finalize(session)
        pool_bytes.append(_native.InKernel.stats()["pool_bytes"])
        fake_driver.option("hold", 0)
    assert max(pool_bytes) <= pool_bytes[2], "of the launches under way, and of those before them"
    assert _bytes_after_a_session() == pool_bytes[0]
    assert read("alone.hatchet")[1][0]["launches"] == 1


def _bytes_after_a_session() -> int:
    """What the pool has after one whose only launch was waited for."""
    session = proton.start("alone", backend="instrumentation")
    launch_softmax()
    proton.finalize(session)
    return _native.InKernel.stats()["pool_bytes"]


def test_what_other_threads_launch_while_a_session_flushes_is_plain(
    launches: Any, monkeypatch: Any
) -> None:
    """It once was recorded behind the flush, and missing in the profile."""
    session = proton.start("run", backend="instrumentation")
    assert session is not None
    launch_softmax()
    recording = find(session)
    flush = recording.flush

    def flush_and_launch() -> None:
        flush()
        launch_softmax()

    monkeypatch.setattr(recording, "flush", flush_and_launch)
    before = _native.InKernel.stats()["launches"]
    proton.deactivate(session, flushing=True)
    assert _native.InKernel.stats()["launches"] == before
    proton.activate(session)
    launch_softmax()
    assert _native.InKernel.stats()["launches"] == before + 1
    proton.finalize(session)
    assert read()[1][0]["launches"] == 2


def test_a_flush_that_is_interrupted_leaves_the_session_recording(
    launches: Any, monkeypatch: Any
) -> None:
    session = proton.start("run", backend="instrumentation")
    assert session is not None

    def interrupt() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(find(session), "flush", interrupt)
        with pytest.raises(KeyboardInterrupt):
            proton.deactivate(session, flushing=True)
    launch_softmax()
    proton.finalize(session)
    assert read()[1][0]["launches"] == 1


@pytest.mark.parametrize("place", ["enter", "leave"])
def test_a_session_that_fails_to_start_or_to_stop_leaves_nothing_behind(
    launches: Any, monkeypatch: Any, place: str
) -> None:
    from triton import knobs

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of luck")

    def run() -> None:
        session = proton.start("run", backend="instrumentation")
        launch_softmax()
        proton.finalize(session)

    before = list(knobs.runtime.launch_exit_hook.calls)
    with monkeypatch.context() as patch:
        if place == "enter":
            patch.setattr(_triton_launch, "set_profile_allocator", fail)
        else:
            patch.setattr(backend, "to_recorded_kernel", fail)
        with pytest.raises(RuntimeError, match="out of luck"):
            run()
    assert knobs.runtime.launch_exit_hook.calls == before
    assert not choice.is_on
    run()
    assert read()[1][0]["launches"] == 1


def test_a_forked_child_has_plain_kernels_and_may_record_in_another_mode(
    launches: Any,
) -> None:
    """It once was told that kernels are recorded already, by a session that it does not have."""
    from triton import knobs

    hooks = list(knobs.runtime.launch_exit_hook.calls)
    session = proton.start("run", backend="instrumentation", mode="ops")
    launch_softmax()
    holding, done = threading.Event(), threading.Event()

    def hold_locks() -> None:
        with switch._lock, choice._lock, launches.path._lock:
            holding.set()
            done.wait(LIMIT_S)

    holder = threading.Thread(target=hold_locks)
    holder.start()
    assert holding.wait(LIMIT_S)
    if (child := os.fork()) == 0:
        signal.alarm(LIMIT_S)  # ends it, should it wait for ever
        code = 1
        with suppress(BaseException):
            assert choice.current() is None
            assert knobs.runtime.launch_exit_hook.calls == hooks
            own = proton.start("child", backend="instrumentation", mode="cta")
            assert str(choice.session) == "cta"
            proton.deactivate(own)
            code = 0
        os._exit(code)
    done.set()
    holder.join(LIMIT_S)
    assert os.waitpid(child, 0)[1] == 0
    launch_softmax()
    proton.finalize(session)
    assert read()[1][0]["launches"] == 2
