"""Work of several devices of one process."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.several_devices import (
    DeviceTotal,
    LaneDevice,
    SpanRows,
    device_marks,
    device_totals,
    lane_devices,
    of_device,
)
from proton.model.device import Device
from proton.model.ranks import Rank
from proton.model.trace import Lane, LaneKind, Trace
from tests.support.profiles import profile_of

DEVICES = (Device("CUDA", "2", "90"), Device("CUDA", "10", "90"))


def ran(device: str, time_ns: int) -> dict[str, int | str]:
    return {"time (ns)": time_ns, "count": 1, "device_id": device, "device_type": "CUDA"}


SEVERAL = profile_of(
    [
        (0, "ROOT", {}),
        (1, "k", ran("10", 5)),
        (1, "k", ran("2", 7)),
        (1, "other", ran("2", 1)),
    ]
)


def lanes(*names: str) -> Trace:
    return Trace(lanes=[Lane(name, name, LaneKind.DEVICE) for name in names])


def test_totals_are_by_number_and_only_where_there_are_several() -> None:
    assert device_totals(SEVERAL) == [DeviceTotal("GPU 2", 8, 2), DeviceTotal("GPU 10", 5, 1)]
    one = profile_of([(0, "ROOT", {}), (1, "k", ran("2", 5)), (1, "j", ran("2", 5))])
    assert device_totals(one) == []
    assert device_totals(replace(SEVERAL, ranks=(Rank(0), Rank(1)))) == []


def test_only_rows_that_would_look_alike_are_marked() -> None:
    assert device_marks(SEVERAL.tree) == ["", "(GPU 10)", "(GPU 2)", ""]
    assert device_marks(profile_of([(0, "ROOT", {}), (1, "k", ran("2", 5))]).tree) is None


def test_lanes_are_of_devices_where_there_are_several() -> None:
    second, tenth = (LaneDevice("CUDA", each) for each in ("2", "10"))
    trace = lanes("GPU 10 Stream 7", "rank 3 GPU 2 Stream 7", "Interpreter Stream 0", "stream 7")
    assert lane_devices(trace, DEVICES) == [tenth, second, LaneDevice("CPU", "0"), None]
    older = lanes("GPU Stream 7", "GPU 10 Stream 7")  # the first device has no number
    assert lane_devices(older, DEVICES) == [second, tenth]
    assert lane_devices(lanes("GPU Stream 7", "GPU Stream 8"), DEVICES) == [None, None]


def test_spans_have_the_row_of_their_device() -> None:
    trace = lanes("GPU 2 Stream 7", "GPU 10 Stream 7")
    rows = SpanRows(trace, SEVERAL.tree, DEVICES)
    assert rows.is_by_lane
    assert [rows.find(("k",), lane) for lane in (0, 1)] == [2, 1]
    assert [rows.find(("other",), lane) for lane in (0, 1)] == [3, 3]
    assert rows.find(("gone",), 0) is None
    assert not SpanRows(lanes("GPU Stream 7"), SEVERAL.tree, DEVICES).is_by_lane


def test_a_recorded_kernel_is_of_the_row_of_its_device() -> None:
    assert [of_device(SEVERAL.tree, 1, device) for device in (10, 2, 5, None)] == [1, 2, 1, 1]
    assert of_device(SEVERAL.tree, 0, 2) == 0
