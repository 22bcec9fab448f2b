"""Rows of chrome traces as lanes, and lanes as rows."""

from __future__ import annotations

import pytest

from proton.files.trace.lanes import LaneNames, Row, rows_of
from proton.model.trace import Lane, LaneKind


@pytest.mark.parametrize(
    ("row", "name", "kind"),
    [
        (Row(0, 3), "CPU Thread 3", LaneKind.HOST),
        (Row(0, 100_007), "Graph: Stream 7", LaneKind.GRAPH),
        (Row(0, 200_007), "GPU Stream 7", LaneKind.DEVICE),
        (Row(0, 300_012), "GPU SM 12", LaneKind.SM),
        (Row(0, 400_000), "GPU Stream 200000", LaneKind.DEVICE),
        (Row("k Core1 CTA0", "warp 2 (line 0)"), "k Core1 CTA0 warp 2 (line 0)", LaneKind.WARP),
        (Row(311, 312), "311 312", LaneKind.HOST),
    ],
)
def test_unnamed_rows_say_what_they_are(row: Row, name: str, kind: LaneKind) -> None:
    lane = LaneNames().lane(row, has_kernels=False)
    assert (lane.name, lane.kind) == (name, kind)


def test_an_unnamed_row_with_kernels_is_a_stream() -> None:
    lane = LaneNames().lane(Row(0, 7), has_kernels=True)
    assert (lane.name, lane.kind) == ("GPU Stream 7", LaneKind.DEVICE)


def test_a_multiprocessor_of_another_device_is_known_by_its_name() -> None:
    names = LaneNames()
    names.threads[Row(0, 1_300_003)] = "GPU 1 SM 3"
    assert names.lane(Row(0, 1_300_003), has_kernels=False).kind is LaneKind.SM


def test_names_and_order_of_the_trace_are_taken() -> None:
    names = LaneNames()
    names.processes[311] = "python"
    names.threads[Row(311, 7)] = "stream 7"
    names.sorts[Row(311, 7)] = 4
    assert names.lane(Row(311, 7), has_kernels=True) == Lane(
        "[311, 7]", "python stream 7", LaneKind.DEVICE, 4
    )


def test_lanes_go_back_to_the_rows_they_came_from() -> None:
    rows = [Row(0, 1), Row("k", "warp 0"), Row(311, 7)]
    assert rows_of([LaneNames().lane(row, has_kernels=False) for row in rows]) == rows


def test_lanes_without_a_row_get_free_ones_of_their_kind() -> None:
    lanes = [
        Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
        Lane("main", "main", LaneKind.HOST),
        Lane("x", "a", LaneKind.DEVICE),
        Lane("[1]", "b", LaneKind.DEVICE),
        Lane("w", "w", LaneKind.WARP),
        Lane("m", "m", LaneKind.SM),
    ]
    rows = [Row(0, 0), Row(0, 1), Row(0, 200_000), Row(0, 200_001), Row(0, "warp 0")]
    rows.append(Row(0, 300_000))
    assert rows_of(lanes) == rows
