"""The native core's door to CUPTI, on the fake driver: `_native.Cupti` and sessions."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proton import _native
from proton._native import Cupti, Session
from proton.errors import BackendUnavailable, UsageError
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.native import root_of, run_thread, tree_of

Start = Callable[..., Session]


@pytest.fixture
def start(fake_driver: FakeDriver) -> Iterator[Start]:
    """`start(context=, data=, **options)`: an active session that gets CUPTI's events."""
    Cupti.load(
        fake_driver.environment["TRITON_CUPTI_LIB_PATH"],
        fake_driver.environment["PROTON_CUDA_LIBRARY"],
    )
    opened: list[Session] = []

    def make(context: str = "shadow", data: str = "tree", **options: Any) -> Session:
        session = Session(len(opened), context=context, data=data)
        opened.append(session)
        _native.lead_thread()
        session.activate()
        Cupti.start(session, **options)
        return session

    yield make
    for session in opened:
        Cupti.stop(session)
        session.close()
    assert fake_driver.counter("is_subscribed") == 0
    assert fake_driver.counter("buffers_held") == 0


def flushed(session: Session) -> dict[str, dict[str, Any]]:
    assert Cupti.flush(30.0)
    return tree_of(session)


def test_the_library_of_the_first_load_stands(fake_driver: FakeDriver, start: Start) -> None:
    assert Cupti.is_loaded()
    assert Cupti.load("/nowhere/libcupti.so") == 130001


def test_a_kernel_lies_below_its_scopes(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    with _native.Scope("outer"), _native.Scope("inner"):
        fake_driver.launch("gemm", 500)
        fake_driver.launch("gemm", 700)
    assert flushed(session) == {
        "outer": {},
        "outer/inner": {},
        "outer/inner/gemm": {
            "time (ns)": 1200,
            "count": 2,
            "device_id": "0",
            "device_type": "CUDA",
        },
    }


def test_copies_carry_their_bytes(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    fake_driver.memcpy(1, 4096)
    fake_driver.memcpy(1, 1024)
    fake_driver.memset(64)
    tree = flushed(session)
    assert tree["<memcpy HtoD>"]["bytes"] == 5120
    assert tree["<memcpy HtoD>"]["count"] == 2
    assert tree["<memset>"]["bytes"] == 64


def test_copies_can_be_left_out(fake_driver: FakeDriver, start: Start) -> None:
    session = start(copies=False)
    fake_driver.memcpy(1, 4096)
    fake_driver.launch("k")
    assert list(flushed(session)) == ["k"]


def test_kernels_keep_their_spread_and_launch(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    function = fake_driver.function("spread", 100)
    fake_driver.calls.fake_function_resources(function, 96, 1024, 0)
    fake_driver.calls.fake_launch_many(function, 3, None)
    assert Cupti.flush(30.0)
    row, least, most, *_, attributes = root_of(session)["proton"]["kernels"][0]
    assert (row, least, most) == (1, 100, 100)
    assert attributes["registers"] == 96
    assert attributes["static_shared_bytes"] == 1024
    assert attributes["block"] == [32, 1, 1]


def test_threads_belong_to_what_they_do(fake_driver: FakeDriver, start: Start) -> None:
    session = start()

    def work() -> None:
        with _native.Scope("worker"):
            fake_driver.launch("own")

    def follow() -> None:
        fake_driver.launch("followed")

    with _native.Scope("main"):
        run_thread(work)
        run_thread(follow)
        fake_driver.launch("mine")
    kernels = [path for path, metrics in flushed(session).items() if "count" in metrics]
    assert sorted(kernels) == ["main/followed", "main/mine", "worker/own"]


def test_python_context_names_the_frames_of_the_launch(
    fake_driver: FakeDriver, start: Start
) -> None:
    session = start(context="python")

    def caller() -> None:
        fake_driver.launch("k")

    caller()
    run_thread(caller)
    paths = [path for path, metrics in flushed(session).items() if "count" in metrics]
    assert len(paths) == 2
    for path in paths:
        assert "test_native_cupti.py:" in path
        assert "@caller/" in path
        assert path.endswith("@launch/k")


def test_a_thread_without_scopes_runs_in_the_state_of_the_lead_in_python_context_too(
    fake_driver: FakeDriver, start: Start
) -> None:
    session = start(context="python")
    session.uses_launch_metadata = True

    def bare() -> None:
        fake_driver.launch("bare")

    def with_metadata() -> None:
        _native.enter_op("renamed", {})
        fake_driver.launch("k")
        _native.exit_op()

    def own() -> None:
        with _native.Scope("own"):
            fake_driver.launch("own")

    for state in ("warmup", "steady"):
        _native.enter_state(state)
        run_thread(bare)
        run_thread(with_metadata)
        run_thread(own)
        _native.exit_state()
    run_thread(bare)
    ends = [
        "/".join(path.split("/")[-2:]).rpartition("@")[2]
        for path, metrics in flushed(session).items()
        if "count" in metrics
    ]
    assert sorted(ends) == sorted(
        [
            "warmup/bare",
            "warmup/renamed",
            "launch/own",
            "steady/bare",
            "steady/renamed",
            "launch/bare",
        ]
    )


def test_launch_metadata_renames_and_measures(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    session.uses_launch_metadata = True
    plain = start()
    _native.enter_op("renamed", {"flops": 7.0})
    fake_driver.launch("k")
    _native.exit_op()
    fake_driver.launch("k")
    tree = flushed(session)
    assert tree["renamed"]["count"] == 1
    assert tree["renamed"]["flops"] == 7.0
    assert tree["k"]["count"] == 1
    assert tree_of(plain)["k"]["count"] == 2


def test_states_label_kernels(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    _native.enter_state("autotune")
    fake_driver.launch("k")
    _native.exit_state()
    assert "autotune/k" in flushed(session)


def test_graph_replays_stand_below_their_capture(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    stream = fake_driver.stream()
    with _native.Scope("capture"):
        fake_driver.calls.fake_capture_begin(stream)
        fake_driver.launch("k", 3, stream)
        executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    with _native.Scope("replay"):
        for _ in range(4):
            fake_driver.replay(executable)
    metrics = flushed(session)["replay/<captured_at>/capture/k"]
    assert (metrics["count"], metrics["time (ns)"]) == (4, 12)


def test_metadata_of_captured_launches_counts_for_every_replay(
    fake_driver: FakeDriver, start: Start
) -> None:
    session = start()
    session.uses_launch_metadata = True
    stream = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream)
    _native.enter_op("matmul_8", {"flops": 2.0})
    fake_driver.launch("k", 3, stream)
    _native.exit_op()
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    for _ in range(5):
        fake_driver.replay(executable)
    metrics = flushed(session)["<captured_at>/matmul_8"]
    assert (metrics["count"], metrics["flops"]) == (5, 10.0)


def test_graph_level_books_one_event_a_replay(fake_driver: FakeDriver, start: Start) -> None:
    session = start(graphs="graph")
    graph = fake_driver.calls.fake_graph_create()
    for _ in range(10):
        fake_driver.calls.fake_graph_add_kernel(graph, fake_driver.function("k", 5))
    executable = fake_driver.instantiate(graph)
    with _native.Scope("run"):
        fake_driver.replay(executable)
    assert Cupti.flush(30.0)
    assert session.event_count == 1
    assert flushed(session)[f"run/{fake_driver.graph_name(executable)}"]["time (ns)"] == 50


def test_a_value_of_graphs_that_does_not_exist_is_refused(
    fake_driver: FakeDriver, start: Start
) -> None:
    with pytest.raises(UsageError, match="choose one of 'graph', 'node'"):
        start(graphs="kernel")


def test_a_session_that_is_paused_books_nothing(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    session.deactivate()
    fake_driver.launch("unseen")
    session.activate()
    fake_driver.launch("seen")
    assert list(flushed(session)) == ["seen"]
    assert session.losses == {}


def test_a_holder_of_cupti_is_named(fake_driver: FakeDriver, start: Start) -> None:
    fake_driver.hold("Kineto")
    with pytest.raises(BackendUnavailable, match="another tool holds CUPTI: Kineto") as caught:
        start()
    assert getattr(caught.value, "code", None) == 39
    fake_driver.hold(None)


def test_losses_are_counted(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    fake_driver.option("drop_next", 3)
    for _ in range(5):
        fake_driver.launch("k")
    assert flushed(session)["k"]["count"] == 2
    assert session.losses == {"dropped_event": 3}


def test_a_flush_that_takes_too_long_says_so(fake_driver: FakeDriver, start: Start) -> None:
    start()
    fake_driver.launch("k")
    fake_driver.option("flush_delay_ns", 300_000_000)
    assert not Cupti.flush(0.05)
    fake_driver.option("flush_delay_ns", 0)
    assert Cupti.flush(30.0)


def test_flushing_does_not_hold_the_interpreter(fake_driver: FakeDriver, start: Start) -> None:
    start()
    fake_driver.option("flush_delay_ns", 200_000_000)
    ticks = 0
    is_done = threading.Event()

    def flush() -> None:
        Cupti.flush(30.0)
        is_done.set()

    thread = threading.Thread(target=flush)
    thread.start()
    while not is_done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 10


def test_devices_are_described(fake_driver: FakeDriver, start: Start) -> None:
    fake_driver.option("device_count", 2)
    devices = Cupti.devices()
    assert [each["name"] for each in devices] == ["Fake GPU", "Fake GPU"]
    assert devices[0]["num_sms"] == 132
    assert devices[0]["arch"] == "90"


def test_a_child_of_a_fork_leaves_cupti_alone(fake_driver: FakeDriver, start: Start) -> None:
    session = start()
    fake_driver.launch("k")
    child = os.fork()
    if child == 0:
        with _native.Scope("child"):
            pass
        Cupti.flush(1.0)
        os._exit(int(fake_driver.counter("violations") != 0))
    assert os.waitpid(child, 0)[1] == 0
    assert flushed(session)["k"]["count"] == 1


def test_samples_are_counted_beside_timed_kernels(fake_driver: FakeDriver, start: Start) -> None:
    fake_driver.sample("k", 16, "long_scoreboard", 5, 3)
    before = Cupti.stats()["samples"]
    session = start(sampling={"period_exponent": 10, "drain_ns": 1_000_000})
    for _ in range(10):
        fake_driver.launch("k")
    assert flushed(session)["k"]["count"] == 10
    stats = Cupti.stats()
    assert stats["samples"] - before == 50
    assert stats["sampled_contexts"] == 1
    Cupti.stop(session)
    assert Cupti.stats()["sampled_contexts"] == 0
    assert fake_driver.violations == []


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"period": 3}, "unknown number of sampling 'period'"),
        ({"period_exponent": 4}, "give one from 5 to 31"),
        ({"drain_ns": -1}, "below 0"),
        ({"window_ns": 5}, "both or none"),
        ({"window_ns": 5, "every_ns": 4}, "the window not longer"),
    ],
)
def test_bad_numbers_of_sampling_are_refused(
    start: Start, numbers: dict[str, int], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        start(sampling=numbers)


def test_a_gpu_that_cannot_be_sampled_is_told_before_the_start(
    fake_driver: FakeDriver, start: Start
) -> None:
    assert Cupti.check_sampling() is None
    assert Cupti.probe_sampling() is None
    fake_driver.option("is_mig", 1)
    assert "MIG" in (Cupti.probe_sampling() or "")
    fake_driver.launch("k")
    assert Cupti.has_contexts()
    with pytest.raises(BackendUnavailable, match="MIG_DEVICE_NOT_SUPPORTED") as refused:
        start(sampling={})
    assert getattr(refused.value, "code", None) == 43


def test_cubins_can_be_given_for_their_lines(fake_driver: FakeDriver, start: Start) -> None:
    before = Cupti.stats()["cubins"]
    Cupti.add_cubin(b"of a module that was loaded earlier")
    Cupti.add_cubin(b"of a module that was loaded earlier", "and its text")
    assert Cupti.stats()["cubins"] == before + 1
    with pytest.raises(BackendUnavailable, match="cuptiGetCubinCrc"):
        Cupti.add_cubin(b"")
