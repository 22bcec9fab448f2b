"""Values that replayed graphs read on the fake driver, by phase: each in that of its replay."""

from __future__ import annotations

import time
from typing import Any

import pytest

import proton
from proton.runtime.phase_files import PhaseFiles
from proton.runtime.sessions import open_sessions
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.waiting import wait_for

pytest.importorskip("torch")

from tests.support.device_tensors import launch_with, metrics_of, on_gpu

pytestmark = pytest.mark.usefixtures("tmp_cwd")

PHASES = 10
REPLAYS = 50  # of a phase


class Replayed:
    """A graph with a kernel whose launch metadata, and a scope whose metric, are on the GPU."""

    def __init__(self, driver: FakeDriver, stream: list[int]) -> None:
        self.driver = driver
        self.flops, self.tokens = on_gpu(4.0), on_gpu(3)
        stream[0] = driver.stream()
        driver.calls.fake_capture_begin(stream[0])
        with proton.scope("layer", {"tokens": self.tokens}):
            launch_with(driver, "foo", {"flops": self.flops, "bytes": 2}, stream[0])
        self.executable = driver.instantiate(driver.calls.fake_capture_end(stream[0]))

    def run(self, count: int = REPLAYS) -> None:
        for _ in range(count):
            self.driver.replay(self.executable)


def sums_of(found: dict[str, dict[str, Any]]) -> tuple[float, float, float, float]:
    """What a phase has of `flops`, `tokens`, `bytes` and kernels."""
    kernel, scope = found.get("<captured_at>/layer/foo", {}), found.get("<captured_at>/layer", {})
    return (
        kernel.get("flops", 0),
        scope.get("tokens", 0),
        kernel.get("bytes", 0),
        kernel.get("count", 0),
    )


FULL = (4.0 * REPLAYS, 3 * REPLAYS, 2 * REPLAYS, REPLAYS)


@pytest.mark.parametrize("mode", ["periodic_flushing", None])
@pytest.mark.parametrize("pause_s", [0.02, 0.001, 0])
def test_each_part_has_the_values_of_its_own_replays(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int], mode: str | None, pause_s: float
) -> None:
    session = proton.start("run", backend="cupti", hook="triton", mode=mode)
    graph = Replayed(fake_driver, stream)
    for phase in range(PHASES):
        graph.run()
        if phase + 1 < PHASES:
            proton.data.advance_phase(session)
            time.sleep(pause_s)
    proton.finalize()
    parts = [profile_of(f"run.part_{phase}.hatchet") for phase in range(PHASES)]
    assert [sums_of(metrics_of(part)) for part in parts] == [FULL] * PHASES
    assert parts[-1].losses == {}


def test_whole_graphs_bring_their_values_to_the_phase_of_the_replay(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    session = proton.start("run", backend="cupti", mode="graphs=graph")
    graph = Replayed(fake_driver, stream)
    for name in "abc":
        with proton.scope(name):
            graph.run(5)
        proton.data.advance_phase(session)
    proton.finalize()
    for phase, name in enumerate("abc"):
        found = metrics_of(profile_of(f"run.part_{phase}.hatchet"))
        assert found[f"{name}/<captured_at>/layer"] == {"tokens": 15}


def test_a_phase_is_complete_with_the_values_of_its_replays(
    fake_driver: FakeDriver, stream: list[int]
) -> None:
    session = proton.start("run", backend="cupti", hook="triton")
    graph = Replayed(fake_driver, stream)
    graph.run()
    before = fake_driver.counter("cuCtxSynchronize")
    proton.data.advance_phase(session)
    graph.run(3)
    wait_for(lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete")
    assert fake_driver.counter("cuCtxSynchronize") == before  # nothing waits for the GPU
    assert sums_of(phase_of(session, 0)) == FULL
    proton.deactivate(session, flushing=True)
    assert sums_of(phase_of(session, 0)) == FULL
    assert sums_of(phase_of(session, 1)) == (12.0, 9, 6, 3)
    proton.finalize()


def test_a_phase_waits_for_values_that_are_read_outside_graphs(
    fake_driver: FakeDriver, stream: list[int]
) -> None:
    session = proton.start("run", backend="cupti")
    value = on_gpu(2)
    fake_driver.launch("k")
    fake_driver.option("hold", 1)
    with proton.scope("a", {"x": value}):
        pass
    proton.data.advance_phase(session)
    flushes = fake_driver.counter("cuptiActivityFlushAll")

    def has_flushed_again() -> bool:
        assert not proton.data.is_phase_complete(session, 0)
        return fake_driver.counter("cuptiActivityFlushAll") >= flushes + 3

    wait_for(has_flushed_again, "CUPTI to be asked for records")
    fake_driver.calls.fake_complete()
    wait_for(lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete")
    assert phase_of(session, 0)["a"] == {"x": 2}
    fake_driver.option("hold", 0)
    proton.finalize()


# of five replays: a kernel and two values each; in a trace also the calls, with the captured one
@pytest.mark.parametrize(("data", "late"), [("tree", 5 + 10), ("trace", 5 + 10 + 6)])
def test_a_value_that_comes_after_its_phase_was_cleared_is_lost_once(
    fake_driver: FakeDriver, stream: list[int], data: str, late: int
) -> None:
    session = proton.start("run", backend="cupti", hook="triton", data=data)
    graph = Replayed(fake_driver, stream)
    fake_driver.option("hold", 1)
    graph.run(5)
    proton.data.advance_phase(session)
    proton.data.clear(session, 0)
    graph.run(2)
    fake_driver.option("hold", 0)
    fake_driver.calls.fake_complete()
    proton.deactivate(session, flushing=True)
    (recording,) = open_sessions()
    assert recording.native.losses == {"late_event": late}
    if data == "tree":  # kernels are booked late, values are not
        assert sums_of(phase_of(session, 1)) == (8.0, 6, 14, 7)
    proton.finalize()


def test_what_comes_while_a_phase_is_written_is_counted(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    """A value that was booked after the file was written, and before the phase was dropped, was
    lost and counted nowhere."""
    session = proton.start("run", backend="cupti", hook="triton", mode="periodic_flushing")
    graph = Replayed(fake_driver, stream)
    fake_driver.option("hold", 1)
    graph.run(5)
    proton.data.advance_phase(session)
    (recording,) = open_sessions()
    write = PhaseFiles.write

    def write_and_let_records_come(files: PhaseFiles, *given: Any) -> None:
        write(files, *given)
        fake_driver.option("hold", 0)
        fake_driver.calls.fake_complete()
        recording.backends["cupti"].flush(10.0)

    with recording.keeping, pytest.MonkeyPatch.context() as patch:
        patch.setattr(PhaseFiles, "write", write_and_let_records_come)
        recording.complete_below = 1  # as if it had waited for half a minute
        assert recording.write_complete_phases()
    assert recording.native.losses == {"late_event": 15}
    proton.finalize()
    assert sums_of(metrics_of(profile_of("run.part_0.hatchet"))) == (0, 0, 0, 0)
    assert sums_of(metrics_of(profile_of("run.part_1.hatchet"))) == (0, 0, 10, 5)


def phase_of(session: int | None, phase: int) -> dict[str, dict[str, Any]]:
    """The metrics of a phase in memory, by path."""

    class Content:
        root = (proton.data.get(session, phase) or [None])[0]

    return metrics_of(Content)
