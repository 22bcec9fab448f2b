"""Timing events through ctypes, on the fake driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proton.backends.cupti.cuda_events import CudaEvents, Place
from tests.native.fake_cuda.driver import FakeDriver


@pytest.fixture
def events(fake_driver: FakeDriver) -> Iterator[CudaEvents]:
    fake_driver.launch("k")  # makes a context current
    opened = CudaEvents(fake_driver.environment["PROTON_CUDA_LIBRARY"], limit=4)
    yield opened
    opened.close()
    made, destroyed = map(fake_driver.counter, ("cuEventCreate", "cuEventDestroy_v2"))
    assert made == destroyed


def here(events: CudaEvents, stream: int = 0) -> Place:
    place = events.place(stream)
    assert place is not None
    assert place.device == 0
    return place


def recorded(events: CudaEvents, place: Place) -> int:
    event = events.record(place)
    assert event is not None
    return event


def test_the_time_between_two_events(events: CudaEvents) -> None:
    place = here(events)
    first, last = recorded(events, place), recorded(events, place)
    assert events.is_done(last)
    elapsed_ns = events.elapsed_ns(first, last)
    assert elapsed_ns is not None
    assert 0 <= elapsed_ns < 10**9
    events.give_back(place.context, first, last)


def test_events_are_used_again_and_have_a_limit(
    events: CudaEvents, fake_driver: FakeDriver
) -> None:
    place = here(events)
    taken = [recorded(events, place) for _ in range(4)]
    assert events.record(place) is None
    events.give_back(place.context, *taken)
    for _ in range(100):
        events.give_back(place.context, recorded(events, place))
    assert fake_driver.counter("cuEventCreate") == 4


def test_work_under_way_is_not_done(events: CudaEvents, fake_driver: FakeDriver) -> None:
    place = here(events)
    event = recorded(events, place)
    fake_driver.option("hold", 1)
    with events.beside_captures():
        assert events.is_done(event) is False
    events.give_back(place.context, event)


def test_a_refusal_is_no_event(events: CudaEvents, fake_driver: FakeDriver) -> None:
    place = here(events)
    fake_driver.fail("cuEventRecord", 709, times=1)
    assert events.record(place) is None
    fake_driver.fail("cuEventQuery", 719, times=1)
    event = recorded(events, place)
    assert events.is_done(event) is None
    fake_driver.fail("cuEventElapsedTime", 400, times=1)
    assert events.elapsed_ns(event, event) is None
    events.give_back(place.context, event)


def test_capture_is_seen(events: CudaEvents, fake_driver: FakeDriver) -> None:
    stream = fake_driver.stream()
    assert not events.is_capturing(stream)
    fake_driver.calls.fake_capture_begin(stream)
    assert events.is_capturing(stream)
    fake_driver.calls.fake_capture_end(stream)
