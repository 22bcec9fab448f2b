"""Times of several clocks as times of one."""

from __future__ import annotations

from proton.files.encoding.protobuf import bytes_field, number_field
from proton.files.perfetto.events import SequenceClocks, TraceClocks
from proton.files.perfetto.fields import Clock, Snapshot


def snapshot(*clocks: dict[int, int], primary: int | None = None) -> bytes:
    message = b"".join(
        bytes_field(Snapshot.CLOCKS, b"".join(number_field(k, v) for k, v in clock.items()))
        for clock in clocks
    )
    return message + (b"" if primary is None else number_field(Snapshot.PRIMARY_CLOCK, primary))


def test_a_clock_is_moved_to_the_primary_one() -> None:
    clocks, sequence = TraceClocks(), SequenceClocks()
    unix, host = {Clock.ID: 1, Clock.TIMESTAMP: 900}, {Clock.ID: 3, Clock.TIMESTAMP: 100}
    clocks.take(snapshot(unix, host, primary=1), sequence)
    assert clocks.time_ns(150, 3, sequence) == 950
    assert clocks.time_ns(950, None, sequence) == 950
    assert clocks.unix_offset_ns() == 0


def test_without_a_primary_one_it_is_the_time_since_boot() -> None:
    clocks, sequence = TraceClocks(), SequenceClocks()
    assert clocks.unix_offset_ns() is None
    clocks.take(
        snapshot({Clock.ID: 6, Clock.TIMESTAMP: 100}, {Clock.ID: 1, Clock.TIMESTAMP: 900}), sequence
    )
    assert clocks.time_ns(900, 1, sequence) == 100
    assert clocks.unix_offset_ns() == 800


def test_an_incremental_clock_counts_from_event_to_event() -> None:
    clocks, sequence = TraceClocks(), SequenceClocks()
    own = {Clock.ID: 64, Clock.TIMESTAMP: 5, Clock.IS_INCREMENTAL: 1, Clock.MULTIPLIER: 1000}
    clocks.take(snapshot({Clock.ID: 6, Clock.TIMESTAMP: 10_000}, own), sequence)
    sequence.default = 64
    assert clocks.time_ns(2, None, sequence) == 12_000
    assert clocks.time_ns(3, None, sequence) == 15_000


def test_a_clock_that_nobody_explained_has_no_time() -> None:
    assert TraceClocks().time_ns(2, 64, SequenceClocks()) is None
