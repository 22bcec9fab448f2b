"""Several recordings as one."""

from __future__ import annotations

from proton.model.device import Device
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.merge import add_values, merge_profiles, merge_traces, merge_trees
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import Header, TreeProfile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import KernelDetail, Tree


def tree(*rows: tuple[str, int, Metrics]) -> Tree:
    frames = [ROOT_FRAME, *(Frame(name) for name, _, _ in rows)]
    return Tree(frames, [-1, *(row[1] for row in rows)], [{}, *(row[2] for row in rows)])


def test_metrics_of_equal_paths_are_summed() -> None:
    merged = merge_trees([tree(("a", 0, {"x": 1})), tree(("a", 0, {"x": 2.5, "y": 1}))])
    assert merged == tree(("a", 0, {"x": 3.5, "y": 1}))


def test_properties_take_the_last_value() -> None:
    kinds = {"loss": MetricKind.PROPERTY}
    merged = merge_trees([tree(("a", 0, {"loss": 2.0})), tree(("a", 0, {"loss": 1.0}))], kinds)
    assert merged.root.child("a").value("loss") == 1.0


def test_new_paths_come_behind_their_siblings_in_depth_first_order() -> None:
    first = tree(("a", 0, {}), ("k", 1, {}), ("b", 0, {}))
    second = tree(("c", 0, {}), ("a", 0, {}), ("m", 2, {}))
    merged = merge_trees([first, second])
    assert [frame.name for frame in merged.frames] == ["ROOT", "a", "k", "m", "b", "c"]
    assert list(merged.parents) == [-1, 0, 1, 1, 0, 0]


def test_frames_of_another_kind_are_another_path() -> None:
    kernel = Tree([ROOT_FRAME, Frame("a", FrameKind.KERNEL)], [-1, 0], [{}, {"x": 1}])
    assert len(merge_trees([tree(("a", 0, {"x": 1})), kernel])) == 3


def test_equal_siblings_become_one() -> None:
    assert merge_trees([tree(("a", 0, {"x": 1}), ("a", 0, {"x": 2}))]) == tree(("a", 0, {"x": 3}))


def test_the_trees_that_were_merged_stay_as_they_were() -> None:
    first = tree(("a", 0, {"x": 1}))
    merge_trees([first, first])
    assert first.own[1] == {"x": 1}


def test_lists_are_added_element_by_element() -> None:
    assert add_values((1, 2.5), (3, 4)) == (4, 6.5)


def test_what_cannot_be_added_is_replaced() -> None:
    assert add_values("0", "1") == "1"
    assert add_values((1,), (1, 2)) == (1, 2)
    assert add_values(None, 5) == 5


def test_traces_are_put_on_one_clock_and_lanes_are_shared() -> None:
    lane = Lane("[0, 7]", "GPU Stream 7", LaneKind.DEVICE)
    other = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)

    def span(lane_index: int, start_ns: float) -> Span:
        return Span("k", SpanKind.KERNEL, lane_index, start_ns, 5.0)

    first = Trace([lane], [span(0, 1.0)], [], 2000)
    second = Trace([other, lane], [span(0, 0.0), span(1, 3.0)], [Flow(0, 1)], 1000)
    merged = merge_traces([first, second])
    assert merged == Trace(
        [lane, other], [span(0, 1001.0), span(1, 0.0), span(0, 3.0)], [Flow(1, 2)], 1000
    )


def test_traces_without_a_base_time_stay_where_they_are() -> None:
    lane = Lane("k", "n", LaneKind.HOST)
    trace = Trace([lane], [Span("a", SpanKind.SCOPE, 0, 7.0, 1.0)])
    assert [span.start_ns for span in merge_traces([trace, trace]).spans] == [7.0, 7.0]


def test_phases_tell_the_losses_of_their_session_and_list_everything_else_once() -> None:
    device = Device("CUDA", "0", "90")
    first = TreeProfile(
        "p0", tree(("a", 0, {"x": 1})), devices=(device,), losses={"late": 1},
        header=Header(session="train", start_time_ns=1, end_time_ns=2), warnings=("w",),
        autotune=({"kernel": "k"},),
    )  # fmt: skip
    second = TreeProfile(
        "p1", tree(("a", 0, {"x": 1})), devices=(device,), losses={"late": 2, "lost": 1},
        header=Header(end_time_ns=9), warnings=("w", "v"), phases=(1,),
        metric_kinds={"x": MetricKind.EXCLUSIVE}, autotune=({"kernel": "k"}, {"kernel": "l"}),
    )  # fmt: skip
    merged = merge_profiles([first, second], "p")
    assert merged == TreeProfile(
        "p", tree(("a", 0, {"x": 2})), devices=(device,), losses={"late": 2, "lost": 1},
        header=Header(session="train", start_time_ns=1, end_time_ns=9), warnings=("w", "v"),
        phases=(0, 1), metric_kinds={"x": MetricKind.EXCLUSIVE},
        autotune=({"kernel": "k"}, {"kernel": "l"}),
    )  # fmt: skip


def test_a_device_whose_clock_was_off_by_more_later_is_one_device() -> None:
    given = [Device("CUDA", "0", "90", clock_residual_ns=ns) for ns in (None, 7, 5)]
    other = Device("CUDA", "1", "90")
    phases = [TreeProfile("p", tree(), devices=(device, other)) for device in given]
    assert merge_profiles(phases, "p").devices == (given[1], other)


def test_details_of_one_kernel_in_two_trees_are_one() -> None:
    frames = [ROOT_FRAME, Frame("k", FrameKind.KERNEL)]
    first = Tree(frames, [-1, 0], [{}, {"x": 1}], {1: KernelDetail(3, 9, 5, 9)})
    second = Tree(frames, [-1, 0], [{}, {"x": 1}], {1: KernelDetail(2, 4, 3, 4)})
    other = Tree([ROOT_FRAME, Frame("a")], [-1, 0], [{}, {}])
    assert merge_trees([other, first]).details == {2: KernelDetail(3, 9, 5, 9)}
    assert merge_trees([first, other, second]).details == {1: KernelDetail(2, 9)}
