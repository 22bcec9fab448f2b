"""`_native.DeviceBuffer` as Python calls it; what it makes of bytes is tested in tests/native."""

import struct
import threading

import pytest

from proton._native import DeviceBuffer, DeviceClock
from proton.errors import UsageError
from proton.inkernel.ir.layout import Geometry, RecordKind
from tests.support.device_buffer import (
    RECORD_MAP,
    REGIONS,
    START_TIME,
    launch,
    nested_launch,
    record,
)


def test_regions_are_summed_over_warps_in_their_contexts() -> None:
    geometry, buffer = nested_launch()
    decoded = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, record_cycles=20)
    outer, copy, number = decoded.regions()
    assert (outer.region, outer.parent, outer.depth, outer.count) == (0, None, 0, 2)
    assert (outer.raw_cycles, outer.cycles) == (6000, 5840.0)
    assert (outer.min_cycles, outer.max_cycles, outer.warp_count) == (2920, 2920, 2)
    assert outer.time_ns == pytest.approx(5840 / 1.5)
    assert (copy.region, copy.parent, copy.depth, copy.cycles) == (1, 0, 1, 11360)
    assert (number.value_count, number.value_sum) == (2, 14)
    assert (number.value_min, number.value_max) == (7, 7)
    assert decoded.losses() == {}
    assert decoded.record_count == 12
    assert decoded.spans() == []


def test_floats_are_told_by_the_record_map() -> None:
    geometry, buffer = nested_launch()
    word = struct.unpack("<f", struct.pack("<I", 7))[0]  # the recorded bits as a float
    floats = {**RECORD_MAP, "regions": [{**each, "value_type": "f32"} for each in REGIONS]}
    decoded = DeviceBuffer.decode(buffer, geometry, floats, spans=True)
    number = decoded.regions()[2]
    assert (number.value_min, number.value_max, number.value_sum) == (word, word, 2 * word)
    assert (number.value_count, number.value_not_finite) == (2, 0)
    assert decoded.spans()[0][5] == word
    assert decoded.regions()[0].value_min is None


@pytest.mark.parametrize(
    ("turn", "cycles"),
    [
        ({"parent": 0}, 1000),
        ({"parent": 0, "cap": 2}, 410),  # others may lie between the second and the loop's end
        ({"parent": 0, "cap": 3}, 1000),
        ({"parent": 0, "every": 4}, 20),  # nothing is known of the three in between
        ({"parent": None}, 20),
        ({"parent": 1}, 20),
        ({"parent": 7}, 20),
        ({"kind": "scope", "parent": 0}, 20),
    ],
)
def test_iterations_fill_the_loop_that_the_record_map_says_they_are_in(
    turn: dict[str, object], cycles: int
) -> None:
    geometry = Geometry(1, 1, 64)
    starts, ends = RecordKind.START, RecordKind.END
    records = [(starts, 0, 0), (starts, 1, 0), (ends, 1, 10), (starts, 1, 400), (ends, 1, 410)]
    buffer = launch(geometry, [[record(*each) for each in [*records, (ends, 0, 1000)]]])
    regions = [{"kind": "loop", "parent": None}, {"kind": "iteration", **turn}]
    loop, turns = DeviceBuffer.decode(buffer, geometry, {"regions": regions}).regions()
    assert (loop.cycles, turns.count, turns.cycles) == (1000, 2, cycles)


def test_extremes_of_integers_are_integers_to_the_last_digit() -> None:
    geometry = Geometry(1, 1, 64)
    buffer = launch(geometry, [[record(RecordKind.VALUE, 0, 5), (1 << 31, 1)]])
    integers = {"regions": [{"value_type": "i64", "bits": 64}]}
    (number,) = DeviceBuffer.decode(buffer, geometry, integers).regions()
    assert (number.value_min, type(number.value_min)) == (1 - 2**63, int)


def test_a_type_of_values_that_is_none_is_refused() -> None:
    geometry, buffer = nested_launch()
    for bad in ("f16", 32):
        with pytest.raises(UsageError, match="value_type must be i32, i64, f32 or f64, not"):
            DeviceBuffer.decode(buffer, geometry, {"regions": [{"value_type": bad}]})


def test_spans_lie_on_the_clock_of_the_host_where_the_kernel_is_known() -> None:
    geometry, buffer = nested_launch()
    ran = (1_000_000, 1_066_000)
    decoded = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, kernel_ns=ran, spans=True)
    assert decoded.is_host_time
    assert decoded.spans()[:3] == [
        (2, 0, 0, 1_003_400, 1_003_400, 7),
        (0, 0, 0, 1_003_000, 1_005_000, None),
        (1, 0, 0, 1_003_200, 1_007_000, None),
    ]
    second = decoded.warps()[1]
    assert (second.slot, second.cta, second.warp, second.sm) == (1, 1, 0, 1)
    assert (second.has_times, second.start_ns, second.end_ns) == (True, 1_001_000, 1_065_000)
    assert (second.cycles, second.record_count, second.overwritten) == (96_000, 6, 0)
    assert decoded.cycles_per_ns == pytest.approx(1.5)
    assert [row[:2] for row in decoded.sms()] == [(0, 1), (1, 1)]


def test_a_record_map_may_ask_for_spans_without_what_records_cost() -> None:
    geometry, buffer = nested_launch()
    asked = {**RECORD_MAP, "time_shift": True}
    raw, shifted = (
        DeviceBuffer.decode(buffer, geometry, map_, record_cycles=20, spans=True).spans()
        for map_ in (RECORD_MAP, asked)
    )
    (_, _, _, start_ns, end_ns, _), (_, _, _, shifted_start_ns, shifted_end_ns, _) = (
        next(span for span in spans if span[0] == 0) for spans in (raw, shifted)
    )
    assert start_ns == shifted_start_ns, "the first record of its warp"
    assert end_ns - shifted_end_ns == pytest.approx(4 * 20 / 1.5, abs=2)


def test_a_launch_that_nobody_timed_is_placed_by_the_others_on_its_device() -> None:
    geometry, buffer = nested_launch()
    clock = DeviceClock()
    assert clock.offset_ns is None
    untimed = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, host_clock=clock)
    assert not untimed.is_host_time
    ran = (1_000_000, 1_066_000)
    DeviceBuffer.decode(buffer, geometry, RECORD_MAP, kernel_ns=ran, host_clock=clock)
    assert clock.offset_ns == 1_001_000 - START_TIME
    assert clock.uncertainty_ns == 2_000
    placed = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, host_clock=clock)
    assert placed.is_host_time
    assert placed.warps()[0].start_ns == 1_001_000


def test_losses_are_named_and_counted() -> None:
    geometry = Geometry(2, 2, 64)
    buffer = launch(geometry, [[record(RecordKind.END, 0, 1), record(RecordKind.MARK, 9, 2)]])
    decoded = DeviceBuffer.decode(buffer, geometry, RECORD_MAP)
    assert decoded.losses() == {"missing_warps": 3, "damaged_records": 1, "unmatched_ends": 1}
    some = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, expected_warps=1)
    assert "missing_warps" not in some.losses()


def test_drained_records_are_read_before_the_ring() -> None:
    geometry = Geometry(1, 1, 16)
    buffer = launch(geometry, [[record(RecordKind.MARK, 2, 30), record(RecordKind.END, 0, 40)]])
    written = geometry.header_offset(0) + 16
    buffer[written : written + 4] = (32).to_bytes(4, "little")
    drained = struct.pack("<4I", *record(RecordKind.START, 0, 10), *record(RecordKind.MARK, 2, 20))
    decoded = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, drained=[drained])
    assert decoded.regions()[0].raw_cycles == 30
    assert decoded.losses() == {}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_anything_with_bytes_is_a_buffer(kind: type) -> None:
    geometry, buffer = nested_launch()
    assert DeviceBuffer.decode(kind(buffer), geometry, RECORD_MAP).record_count == 12


def test_what_was_decoded_outlives_the_buffer() -> None:
    geometry, buffer = nested_launch()
    regions = DeviceBuffer.decode(buffer, geometry, RECORD_MAP).regions()
    buffer.clear()  # would fail were it still held
    assert regions[0].raw_cycles == 6000


def test_calls_that_make_no_sense_are_refused() -> None:
    geometry, buffer = nested_launch()
    with pytest.raises(UsageError, match="the buffer has 16 bytes, its geometry needs 256"):
        DeviceBuffer.decode(buffer[:16], geometry, RECORD_MAP)
    with pytest.raises(UsageError, match="region 1 is no mapping but 'copy'"):
        DeviceBuffer.decode(buffer, geometry, {"regions": [REGIONS[0], "copy"]})
    with pytest.raises(UsageError, match="a record map is a mapping with 'regions', not \\[\\]"):
        DeviceBuffer.decode(buffer, geometry, [])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot hold 64 bits of a clock; choose 32 or 48"):
        DeviceBuffer.decode(buffer, geometry, {**RECORD_MAP, "clock_bits": 64})
    with pytest.raises(UsageError, match="drained records of 1 slots; the buffer has 2"):
        DeviceBuffer.decode(buffer, geometry, RECORD_MAP, drained=[b""])
    with pytest.raises(UsageError, match="a kernel cannot run from 9 to 3 ns"):
        DeviceBuffer.decode(buffer, geometry, RECORD_MAP, kernel_ns=(9, 3))
    with pytest.raises(TypeError, match="bytes-like"):
        DeviceBuffer.decode("text", geometry, RECORD_MAP)  # type: ignore[arg-type]


def test_a_geometry_that_does_not_fit_is_named() -> None:
    class Wrong:
        cta_count, warp_count, ring_bytes = 1, -1, 64

    with pytest.raises(
        UsageError, match="geometry: warp_count must be a number of 32 bits, not -1"
    ):
        DeviceBuffer.decode(b"", Wrong(), RECORD_MAP)


def test_other_threads_run_while_a_buffer_is_decoded() -> None:
    geometry = Geometry(400, 4, 4096)
    warp = [record(RecordKind(i % 2), 0, 10 * i) for i in range(512)]
    buffer = launch(geometry, [warp] * geometry.slot_count)
    turns = 0
    is_done = threading.Event()

    def decode() -> None:
        for _ in range(5):
            DeviceBuffer.decode(buffer, geometry, RECORD_MAP)
        is_done.set()

    thread = threading.Thread(target=decode)
    thread.start()
    while not is_done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000
