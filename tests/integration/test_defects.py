"""What once went wrong in the known tool, and must not go wrong here: one test or more for each."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ScopeMismatch, WriteError

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture
def gpu(fake_gpu: Any) -> Any:
    return fake_gpu


# 1. Wrong attribution from long-lived threads


def test_a_pooled_thread_booked_all_iterations_under_the_first(gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with ThreadPoolExecutor(1) as pool:
        for n in range(3):
            with proton.scope(f"iter{n}"):
                pool.submit(gpu.launch, "k").result(10)
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert [profile.metrics(f"iter{n}/k")["count"] for n in range(3)] == [1, 1, 1]


@pytest.mark.torch
def test_autograd_threads_booked_all_backward_work_under_the_first_step(
    gpu: Any, profile_of: Any
) -> None:
    torch = pytest.importorskip("torch")

    class Launching(torch.autograd.Function):  # type: ignore[misc,name-defined]
        """Launches a kernel in its backward pass, on whichever thread that runs."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            gpu.launch("backward")
            return grad * 2

    x = torch.ones(1, requires_grad=True)
    proton.start("run")
    for n in range(3):
        with proton.scope(f"step{n}"):
            Launching.apply(x).sum().backward()
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert [profile.metrics(f"step{n}/backward")["count"] for n in range(3)] == [1, 1, 1]


# 2. asyncio


def test_interleaved_tasks_unbalanced_the_stack_and_nested_in_each_other(
    gpu: Any, profile_of: Any
) -> None:
    async def work(name: str) -> None:
        with proton.scope(name):
            await asyncio.sleep(0)
            gpu.launch(f"k_{name}")
            with proton.scope("inner"):
                await asyncio.sleep(0)
                gpu.launch("k")

    async def main() -> None:
        await asyncio.gather(*(work(name) for name in ("a", "b", "c")))

    proton.start("run")
    asyncio.run(main())
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert sorted(profile.paths()) == sorted(
        f"{name}{rest}"
        for name in ("a", "b", "c")
        for rest in ("", f"/k_{name}", "/inner", "/inner/k")
    )
    assert profile.losses == {}


# 3. State on decorator objects


def test_recursion_through_one_decorator_deepened_the_tree(gpu: Any, profile_of: Any) -> None:
    @proton.scope("f")
    def recurse(depth: int) -> None:
        gpu.launch("k")
        if depth:
            recurse(depth - 1)

    proton.start("run")
    recurse(2)
    recurse(0)
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.paths() == ["f", "f/k", "f/f", "f/f/k", "f/f/f", "f/f/f/k"]
    assert profile.metrics("f/k")["count"] == 2


def test_threads_through_one_timed_decorator_lost_most_of_the_time(
    gpu: Any, profile_of: Any
) -> None:
    pause_ns = 1_000_000

    @proton.cpu_timed_scope("work")
    def work() -> None:
        end = time.monotonic_ns() + pause_ns
        while time.monotonic_ns() < end:
            time.sleep(0)

    def repeat() -> None:
        for _ in range(20):
            work()

    proton.start("run")
    threads = [threading.Thread(target=repeat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.paths() == ["work"]
    assert profile.metrics("work")["cpu_time (ns)"] >= 4 * 20 * pause_ns


# 4. State was a single slot


def test_leaving_an_inner_state_erased_the_outer_one(gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with proton.state("outer"):
        with proton.state("inner"):
            pass
        gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["outer", "outer/k"]


def test_leaving_a_scope_with_metrics_erased_the_state(gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with proton.state("state"):
        with proton.scope("scope", {"x": 1}):
            pass
        gpu.launch("k")
    proton.finalize()
    assert "state/k" in profile_of("run.hatchet").paths()


def test_a_state_decorator_leaked_the_state_on_exceptions(gpu: Any, profile_of: Any) -> None:
    @proton.state("state")
    def fail() -> None:
        raise KeyError("x")

    proton.start("run")
    with pytest.raises(KeyError):
        fail()
    gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["k"]


# 5. exit_scope


def test_exit_with_a_wrong_name_popped_first_and_raised_then(gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    proton.enter_scope("a")
    with pytest.raises(ScopeMismatch, match=r"'b'.*'a'|'a'.*'b'"):
        proton.exit_scope("b")
    gpu.launch("inside")
    proton.exit_scope("a")
    gpu.launch("outside")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["a", "a/inside", "outside"]


def test_exit_with_nothing_entered_was_an_attribute_error(gpu: Any) -> None:
    session = proton.start("run")
    with pytest.raises(ValueError, match="enter_scope opened none on this thread"):
        proton.exit_scope("a")
    assert proton.context.depth(session) == 0
    gpu.launch("k")
    proton.finalize()


# 6. Activation in the middle of a scope


def test_activating_inside_a_scope_entered_while_paused_failed_at_its_exit(
    gpu: Any, profile_of: Any
) -> None:
    session = proton.start("run")
    proton.deactivate(session)
    with proton.scope("outer"):
        proton.activate(session)
        gpu.launch("inside")
    gpu.launch("outside")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["outer", "outer/inside", "outside"]


def test_starting_inside_a_scope_did_not_know_it(gpu: Any, profile_of: Any) -> None:
    with proton.scope("outer"):
        proton.start("run")
        gpu.launch("inside")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["outer", "outer/inside"]


def test_leaving_a_scope_while_paused_left_it_open(gpu: Any, profile_of: Any) -> None:
    session = proton.start("run")
    with proton.scope("outer"):
        proton.deactivate(session)
    proton.activate(session)
    assert proton.context.depth(session) == 0
    gpu.launch("outside")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["outer", "outside"]


# 7. Scopes open across phases


def test_a_scope_open_across_phases_lost_its_metric_in_a_tree(gpu: Any, profile_of: Any) -> None:
    session = proton.start("run")
    with proton.scope("a", {"x": 1}):
        gpu.launch("first")
        proton.data.advance_phase(session)
        gpu.launch("second")
    proton.finalize()
    first, second = (profile_of(f"run.part_{n}.hatchet") for n in range(2))
    assert first.paths() == ["a", "a/first"]
    assert second.paths() == ["a", "a/second"]
    assert "x" not in first.metrics("a")
    assert second.metrics("a")["x"] == 1


def test_a_scope_open_across_phases_broke_a_trace(gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run", data="trace")
    with proton.scope("a"):
        gpu.launch("first")
        proton.data.advance_phase(session)
        gpu.launch("second")
    proton.finalize()
    parts = [(tmp_cwd / f"run.part_{n}.chrome_trace").read_text() for n in range(2)]
    assert '"first"' in parts[0]
    assert '"second"' in parts[1]
    assert '"a"' in parts[1]


# 8. Under the command line


def test_the_targets_finalize_closed_the_commands_session(gpu: Any, profile_of: Any) -> None:
    from proton.runtime import command_line
    from proton.runtime.request import SessionRequest

    command_line.start(SessionRequest("run"))
    proton.finalize()
    gpu.launch("after")
    command_line.finish()
    assert profile_of("run.hatchet").paths() == ["after"]


def test_pausing_what_start_returned_raised_under_the_command(gpu: Any) -> None:
    from proton.runtime import command_line
    from proton.runtime.request import SessionRequest

    command_line.start(SessionRequest("run"))
    proton.deactivate(proton.start())
    proton.activate(proton.start())
    gpu.launch("k")
    command_line.finish()


# 9. Lost and empty files


def test_an_unwritable_path_lost_the_profile_silently(
    gpu: Any, profile_of: Any, monkeypatch: pytest.MonkeyPatch, tmp_cwd: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_cwd))
    proton.start("missing/run")
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    with pytest.raises(WriteError, match=r"^/.*missing/run\.hatchet: cannot write") as caught:
        proton.finalize()
    assert profile_of(caught.value.rescued_to).paths() == ["k"]


@pytest.mark.parametrize("output_format", ["xml", "chrome_trace"])
def test_a_format_error_left_an_empty_file(
    gpu: Any, tmp_cwd: Path, output_format: str, profile_of: Callable[..., Any]
) -> None:
    proton.start("run")
    gpu.launch("k")
    with pytest.raises(ValueError, match="output format"):
        proton.finalize(output_format=output_format)
    assert list(tmp_cwd.iterdir()) == []
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["k"]


# And the accidents: ids burnt, sessions leaked


def test_a_failed_start_burnt_an_id(gpu: Any) -> None:
    first = proton.start("a")
    with pytest.raises(ValueError, match="unknown context"):
        proton.start("b", context="x")
    second = proton.start("c")
    assert (first, second) == (first, (first or 0) + 1)
    gpu.launch("k")
    proton.finalize()


def test_a_bad_hook_leaked_its_session(gpu: Any) -> None:
    with pytest.raises(ValueError, match="unknown hook 'launch'"):
        proton.start("run", hook="launch")
    assert gpu.sinks == []
