"""Launches that CUPTI gives no record of, on the fake driver: counted, and warned of once."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import pytest

import proton
from proton.backends.cupti import other_tools as holders
from tests.native.fake_cuda.driver import FakeDriver

pytestmark = pytest.mark.usefixtures("tmp_cwd")

KERNELS = 10  # CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
INVALID_VALUE = 1
LOSS = "unrecorded_launch"


def switch_off(driver: FakeDriver) -> None:
    """What torch.profiler's stop does to the process."""
    assert driver.calls.cuptiActivityDisable(ctypes.c_uint32(KERNELS)) == 0


def launch(driver: FakeDriver, count: int, name: str = "k") -> None:
    for _ in range(count):
        driver.launch(name, 10)


def test_launches_without_a_record_are_a_loss_with_a_warning_that_names_who_it_may_be(
    fake_driver: FakeDriver, profile_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holders, "suspects", lambda: ["torch.profiler, which is recording"])
    session = proton.start("run", backend="cupti")
    launch(fake_driver, 5)
    switch_off(fake_driver)
    with proton.scope("later"):
        launch(fake_driver, 7)
    proton.deactivate(session, flushing=True)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 5
    assert profile.losses == {LOSS: 7}
    (warning,) = profile.header["warnings"]
    assert "which may be torch.profiler, which is recording, has taken" in warning
    assert "proton.activate() after it has stopped" in warning


def test_a_session_that_lost_everything_says_why(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    switch_off(fake_driver)
    launch(fake_driver, 7)
    with pytest.warns(proton.errors.ProtonWarning, match=f"7 {LOSS}.*another tool"):
        proton.finalize(session)


def test_a_pause_and_an_activation_bring_records_back(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    launch(fake_driver, 2)
    proton.deactivate(session)
    switch_off(fake_driver)
    proton.activate(session)
    launch(fake_driver, 3)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 5
    assert (profile.losses, profile.header["warnings"]) == ({}, [])


def test_work_that_the_gpu_could_not_finish_is_not_another_tools_fault(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti")
    launch(fake_driver, 2)
    switch_off(fake_driver)
    launch(fake_driver, 3)
    fake_driver.fail("cuCtxSynchronize", 719)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.losses == {LOSS: 3}
    assert [text for text in profile.header["warnings"] if "another tool" in text] == []
    assert any("cuCtxSynchronize failed" in text for text in profile.header["warnings"])


def test_a_phase_whose_launches_got_no_record_is_complete_after_a_flush(
    fake_driver: FakeDriver,
) -> None:
    session = proton.start("run", backend="cupti")
    launch(fake_driver, 1)
    switch_off(fake_driver)
    launch(fake_driver, 3)
    proton.data.advance_phase(session)
    proton.deactivate(session, flushing=True)
    assert proton.data.is_phase_complete(session, 0)
    proton.finalize(session)


def eager(driver: FakeDriver) -> None:
    launch(driver, 20)
    driver.memcpy(1, 64)


def graphs(driver: FakeDriver) -> None:
    stream = driver.stream()
    driver.calls.fake_capture_begin(stream)
    driver.launch("captured", 10, stream)
    graph = driver.instantiate(driver.calls.fake_capture_end(stream))
    for _ in range(3):
        driver.replay(graph, stream)
    driver.replay(driver.instantiate(driver.calls.fake_graph_create()))  # an empty one
    driver.calls.fake_capture_begin(stream)
    driver.launch("never_run", 10, stream)
    driver.calls.fake_capture_end(stream)


def failures(driver: FakeDriver) -> None:
    driver.fail("cuLaunchKernel", INVALID_VALUE, times=4)
    launch(driver, 6)


def contexts(driver: FakeDriver) -> None:
    def work() -> None:
        context = driver.calls.fake_context_create(0)
        launch(driver, 5, "elsewhere")
        assert driver.calls.fake_context_destroy(context) == 0

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def pauses(driver: FakeDriver) -> None:
    for _ in range(5):
        launch(driver, 2)
        proton.deactivate()
        launch(driver, 2, "unseen")
        proton.activate()


def second_session(driver: FakeDriver) -> None:
    other = proton.start("other", backend="cupti", context="python")
    launch(driver, 3)
    proton.deactivate(other)
    launch(driver, 3)
    proton.finalize(other)


SHAPES = [eager, graphs, failures, contexts, pauses, second_session]


@pytest.mark.parametrize("data", ["tree", "trace"])
@pytest.mark.parametrize("mode", ["", "graphs=graph", "periodic_flushing"])
def test_sessions_of_all_shapes_count_none(data: str, mode: str, fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data=data, mode=mode)
    assert session is not None
    native = proton.runtime.sessions.find(session).native
    shapes: list[Callable[[FakeDriver], None]] = [*SHAPES, *reversed(SHAPES)]
    for shape in shapes:
        with proton.scope(shape.__name__):
            shape(fake_driver)
        proton.data.advance_phase(session)
    proton.deactivate(session, flushing=True)
    losses, warnings = native.losses, native.warnings
    proton.finalize(session)
    assert losses == {}
    assert [text for text in warnings if LOSS in text] == []
    assert fake_driver.violations == []


def test_dropped_records_are_not_counted_twice(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.option("drop_next", 3)
    launch(fake_driver, 5)
    proton.finalize(session)
    assert profile_of("run.hatchet").losses == {"dropped_event": 3}
