"""Scopes and sessions among threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import proton
from proton import _native

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def in_thread(function: Callable[[], Any]) -> Any:
    """Run `function` in a new thread of Python's and wait for it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(30)


def kernels_below(node: Any) -> list[Any]:
    """The nodes of kernels named `k`, as they stand in a file."""
    below = [kernel for child in node["children"] for kernel in kernels_below(child)]
    return [node, *below] if node["frame"]["name"] == "k" else below


def test_a_thread_without_scopes_follows_the_thread_that_started(
    fake_gpu: Any, profile_of: Any
) -> None:
    proton.start("run")
    with proton.scope("main"):
        in_thread(lambda: fake_gpu.launch("k"))
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["main", "main/k"]


def test_a_thread_with_scopes_of_its_own_begins_at_the_root(fake_gpu: Any, profile_of: Any) -> None:
    def work() -> None:
        with proton.scope("worker"):
            fake_gpu.launch("k")

    proton.start("run")
    with proton.scope("main"):
        in_thread(work)
    proton.finalize()
    assert set(profile_of("run.hatchet").paths()) == {"main", "worker", "worker/k"}


def test_the_thread_that_started_last_is_followed(fake_gpu: Any, profile_of: Any) -> None:
    started, done = threading.Event(), threading.Event()

    def lead() -> None:
        proton.start("run")
        with proton.scope("leader"):
            started.set()
            done.wait(30)

    leader = threading.Thread(target=lead)
    leader.start()
    started.wait(30)
    in_thread(lambda: fake_gpu.launch("k"))
    done.set()
    leader.join(30)
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["leader", "leader/k"]


def test_many_threads_record_into_one_session_without_loss(fake_gpu: Any, profile_of: Any) -> None:
    def work(n: int) -> None:
        for _ in range(200):
            with proton.scope(f"thread{n}", {"x": 1}), proton.scope("inner"):
                fake_gpu.launch("k", 1)

    proton.start("run")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    proton.finalize()
    profile = profile_of("run.hatchet")
    for n in range(8):
        assert profile.metrics(f"thread{n}")["x"] == 200
        assert profile.metrics(f"thread{n}/inner/k") == {
            "time (ns)": 200,
            "count": 200,
            "device_id": "0",
            "device_type": "FAKE",
        }
    assert profile.losses == {}


def test_what_is_read_while_threads_record_never_shrinks(fake_gpu: Any, profile_of: Any) -> None:
    def work(n: int) -> None:
        for step in range(100):
            with proton.scope(f"thread{n}", {"x": 1}), proton.scope(f"step{step}"):
                fake_gpu.launch("k", 1)

    session = proton.start("run")
    runs = []
    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(work, n) for n in range(4)]
        while not all(task.done() for task in tasks):
            tree = proton.data.get(session)
            assert tree is not None
            runs.append(sum(kernel["metrics"]["count"] for kernel in kernels_below(tree[0])))
        for task in tasks:
            task.result()
    proton.finalize()
    assert runs == sorted(runs)
    profile = profile_of("run.hatchet")
    assert [profile.metrics(f"thread{n}")["x"] for n in range(4)] == [100] * 4
    assert len([path for path in profile.paths() if path.endswith("/k")]) == 400


def test_sessions_may_be_opened_and_closed_by_many_threads_at_once(fake_gpu: Any) -> None:
    def cycle(n: int) -> int:
        ids = set()
        for round_ in range(10):
            session = proton.start(f"run{n}_{round_}")
            assert session is not None
            ids.add(session)
            with proton.scope("a", {"x": 1}):
                fake_gpu.launch("k")
            proton.deactivate(session)
            proton.activate(session)
            proton.finalize(session)
        return len(ids)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(cycle, range(6))) == [10] * 6


def test_a_scope_left_on_another_thread_is_counted_not_raised(
    fake_gpu: Any, profile_of: Any
) -> None:
    proton.start("run")
    scope = proton.scope("a")
    in_thread(scope.__enter__)
    scope.__exit__(None, None, None)
    fake_gpu.launch("k")
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.losses["unmatched_exit"] == 1
    assert "k" in profile.paths()


def test_a_scope_left_open_above_is_closed_and_counted(fake_gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with proton.scope("outer"):
        proton.enter_scope("forgotten")
    fake_gpu.launch("k")
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.losses["unclosed_scope"] == 1
    assert profile.paths() == ["outer", "outer/forgotten", "k"]


def test_a_thread_that_follows_another_shares_its_state(fake_gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with proton.state("warmup"):
        in_thread(lambda: fake_gpu.launch("k"))
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["warmup", "warmup/k"]


def test_a_thread_with_scopes_of_its_own_has_its_own_states(fake_gpu: Any, profile_of: Any) -> None:
    def work() -> None:
        with proton.scope("worker"):
            fake_gpu.launch("k")

    proton.start("run")
    with proton.state("main's"):
        in_thread(work)
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["worker", "worker/k"]


def test_threads_that_ended_keep_no_native_memory(fake_gpu: Any) -> None:
    proton.start("run")
    before = _native.thread_count()
    for _ in range(50):
        thread = threading.Thread(target=lambda: fake_gpu.launch("k"))
        thread.start()
        thread.join(30)
    assert _native.thread_count() <= before + 1
    proton.finalize()


@pytest.mark.torch
def test_backward_scopes_of_a_foreign_thread_hang_below_the_step(
    fake_gpu: Any, profile_of: Any
) -> None:
    torch = pytest.importorskip("torch")

    def on_backward(grad: Any) -> Any:
        with proton.scope("grad"):
            fake_gpu.launch("k")
        return grad

    x = torch.ones(1, requires_grad=True)
    proton.start("run")
    for n in range(2):
        with proton.scope(f"step{n}"):
            y = x * 2
            y.register_hook(on_backward)
            y.sum().backward()
    proton.finalize()
    paths = profile_of("run.hatchet").paths()
    assert {"step0/grad/k", "step1/grad/k"} <= set(paths)
