from __future__ import annotations

from proton.model.trace import Lane, LaneKind
from proton.render.page.trace_lanes import shown_lanes


def shown(*lanes: tuple[str, LaneKind]) -> list[tuple[str, str]]:
    found = shown_lanes([Lane(name, name, kind) for name, kind in lanes])
    return [(lane.group, lane.name) for lane in found]


def test_hosts_stand_above_devices_and_graphs_above_their_stream() -> None:
    assert shown(
        ("GPU SM 3", LaneKind.SM),
        ("GPU Stream 13", LaneKind.DEVICE),
        ("GPU Stream 7", LaneKind.DEVICE),
        ("Graph: Stream 7", LaneKind.GRAPH),
        ("GPU 1 Stream 7", LaneKind.DEVICE),
        ("CPU Thread 0", LaneKind.HOST),
    ) == [
        ("Host", "CPU Thread 0"),
        ("GPU", "graphs 7"),
        ("GPU", "stream 7"),
        ("GPU", "stream 13"),
        ("GPU 1", "stream 7"),
        ("GPU SMs", "SM 3"),
    ]


def test_multiprocessors_count_in_numbers_not_in_letters() -> None:
    names = [
        name
        for _, name in shown(*((f"GPU SM {number}", LaneKind.SM) for number in (10, 9, 100, 1)))
    ]
    assert names == ["SM 1", "SM 9", "SM 10", "SM 100"]


def test_multiprocessors_of_the_first_device_come_first() -> None:
    found = shown(("GPU 1 SM 0", LaneKind.SM), ("GPU SM 0", LaneKind.SM))
    assert [group for group, _ in found] == ["GPU SMs", "GPU 1 SMs"]


def test_lanes_of_ranks_have_groups_of_their_own() -> None:
    assert shown(
        ("rank 1 GPU Stream 7", LaneKind.DEVICE),
        ("rank 0 GPU Stream 7", LaneKind.DEVICE),
        ("rank 1 CPU Thread 0", LaneKind.HOST),
    ) == [
        ("rank 1 Host", "CPU Thread 0"),
        ("rank 0 GPU", "stream 7"),
        ("rank 1 GPU", "stream 7"),
    ]


def test_warps_are_grouped_by_their_cta() -> None:
    lanes = [
        Lane(f'["matmul Core{sm} CTA{sm}", "warp {warp} (line 0)"]', "x", LaneKind.WARP)
        for sm in (10, 2)
        for warp in (1, 0)
    ]
    assert [(lane.group, lane.name) for lane in shown_lanes(lanes)] == [
        ("CTA 2 · SM 2 · matmul", "warp 0 (line 0)"),
        ("CTA 2 · SM 2 · matmul", "warp 1 (line 0)"),
        ("CTA 10 · SM 10 · matmul", "warp 0 (line 0)"),
        ("CTA 10 · SM 10 · matmul", "warp 1 (line 0)"),
    ]


def test_lanes_of_other_tools_keep_their_names() -> None:
    assert shown(("my gpu row", LaneKind.DEVICE)) == [("my gpu row", "my gpu row")]
