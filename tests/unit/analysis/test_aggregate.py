from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proton.analysis.aggregate import add_metrics, merge_by_name, sum_metrics, tree_of_trace
from proton.analysis.measurements import whole_of
from proton.analysis.select import everything
from proton.model.frame import FrameKind
from proton.model.metric import CPU_TIME_NS, MetricKind, Metrics, MetricValue
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace

MakeProfile = Callable[..., TreeProfile]
ROWS = [
    (0, "ROOT", {"time (ns)": 0}),
    (1, "fwd", {"cpu_time (ns)": 9}),
    (2, "matmul", {"time (ns)": 5, "device_id": "0"}),
    (2, "add", {"time (ns)": 1, "device_id": "0"}),
    (1, "matmul", {"time (ns)": 7, "device_id": "1"}),
]
LANES = (
    Lane("0", "CPU Thread 0", LaneKind.HOST),
    Lane("s", "GPU Stream 7", LaneKind.DEVICE),
    Lane("w", "warp 0", LaneKind.WARP),
)


def inclusive(metric: str) -> MetricKind:
    return MetricKind.PROPERTY if metric == "device_id" else MetricKind.INCLUSIVE


def test_equal_names_are_merged_wherever_they_stand(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS)
    assert isinstance(profile, TreeProfile)
    flat = merge_by_name(profile, "time (ns)", everything(profile.tree), inclusive).tree
    assert [frame.name for frame in flat.frames] == ["ROOT", "matmul", "add"]
    assert flat.own[1]["time (ns)"] == 12
    assert list(flat.parents) == [-1, 0, 0]


def test_what_is_left_out_is_added_to_the_root(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS)
    mask = bytearray([1, 1, 1, 0, 0])
    flat = merge_by_name(profile, "time (ns)", mask, inclusive).tree
    assert flat.own[0]["time (ns)"] == 8
    assert flat.own[1]["time (ns)"] == 5


def test_contexts_that_did_not_measure_the_metric_are_not_listed(
    make_profile: MakeProfile,
) -> None:
    profile = make_profile(ROWS)
    assert isinstance(profile, TreeProfile)
    flat = merge_by_name(profile, "cpu_time (ns)", everything(profile.tree), inclusive).tree
    assert [frame.name for frame in flat.frames] == ["ROOT", "fwd"]


def test_a_recursive_scope_is_listed_once_with_its_outermost_times(
    make_profile: MakeProfile,
) -> None:
    profile = make_profile(
        [
            (0, "ROOT", {}),
            (1, "fib", {"cpu_time (ns)": 10}),
            (2, "fib", {"cpu_time (ns)": 8}),
            (3, "leaf", {"cpu_time (ns)": 3}),
            (1, "fib", {"cpu_time (ns)": 5}),
        ]
    )
    profile = replace(profile, tree=replace(profile.tree, entries={1: 2, 2: 7, 3: 1, 4: 3}))
    flat = merge_by_name(profile, CPU_TIME_NS, everything(profile.tree), inclusive).tree
    assert [frame.name for frame in flat.frames] == ["ROOT", "fib", "leaf"]
    assert [own.get(CPU_TIME_NS) for own in flat.own] == [15, 15, 3]
    assert flat.entries == {1: 5, 2: 1}
    assert whole_of(flat, CPU_TIME_NS) == 15


def test_a_spans_metric_that_is_called_as_a_backends_is_kept_apart() -> None:
    lanes = (Lane("0", "CPU Thread 0", LaneKind.HOST),)
    given = {"count": 3, "time (ns)": 5}
    span = Span("a", SpanKind.METRIC, 0, 0.0, 10.0, ("a",), given)
    tree = tree_of_trace(TraceProfile("t", trace=Trace(lanes, (span,)))).tree
    assert tree.own[1] == {"user count": 3, "user time (ns)": 5, "cpu_time (ns)": 10}


def test_properties_take_the_last_value_when_merged() -> None:
    sums: dict[str, MetricValue] = {"device_id": "0", "x": 1}
    add_metrics(sums, {"device_id": "1", "x": 2}, inclusive)
    assert sums == {"device_id": "1", "x": 3}


def test_lists_are_added_element_for_element_when_merged() -> None:
    sums: dict[str, MetricValue] = {"x": (1, 2)}
    add_metrics(sums, {"x": (3, 4)}, inclusive)
    assert sums == {"x": (4, 6)}


def span(name: str, kind: SpanKind, lane: int, duration_ns: float, *path: str) -> Span:
    return Span(name, kind, lane, 0.0, duration_ns, path)


def test_spans_of_one_path_become_one_context() -> None:
    spans = [
        span("step", SpanKind.SCOPE, 0, 500, "step"),
        span("add", SpanKind.KERNEL, 1, 100, "step", "add"),
        span("add", SpanKind.KERNEL, 1, 150, "step", "add"),
    ]
    tree = tree_of_trace(TraceProfile("t", trace=Trace(LANES, spans))).tree
    assert [frame.name for frame in tree.frames] == ["ROOT", "step", "add"]
    assert tree.own[1] == {"cpu_time (ns)": 500}
    assert tree.own[2] == {"time (ns)": 250, "count": 2}
    assert tree.frames[2].kind is FrameKind.KERNEL


def test_rows_of_a_trace_stand_in_depth_first_order() -> None:
    spans = [
        span("x", SpanKind.KERNEL, 1, 1, "a", "x"),
        span("y", SpanKind.KERNEL, 1, 1, "b", "y"),
        span("z", SpanKind.KERNEL, 1, 1, "a", "z"),
    ]
    tree = tree_of_trace(TraceProfile("t", trace=Trace(LANES, spans))).tree
    assert [frame.name for frame in tree.frames] == ["ROOT", "a", "x", "z", "b", "y"]
    assert list(tree.parents) == [-1, 0, 1, 1, 0, 4]


def test_time_of_warps_is_not_time_of_the_host() -> None:
    spans = [span("load", SpanKind.SCOPE, 2, 40, "add", "load")]
    profile = tree_of_trace(TraceProfile("t", trace=Trace(LANES, spans)))
    assert isinstance(profile, TreeProfile)
    assert profile.tree.own[2] == {"warp_time (ns)": 40}
    assert profile.metric_kinds["warp_time (ns)"] is MetricKind.EXCLUSIVE


def test_a_span_without_a_path_stands_below_the_root() -> None:
    tree = tree_of_trace(
        TraceProfile("t", trace=Trace(LANES, [span("k", SpanKind.KERNEL, 1, 3)]))
    ).tree
    assert [frame.name for frame in tree.frames] == ["ROOT", "k"]


def test_a_path_of_ten_thousand_names_becomes_a_tree() -> None:
    path = tuple(f"f{depth}" for depth in range(10_000))
    spans = [Span("k", SpanKind.KERNEL, 1, 0.0, 1.0, path)] * 2
    tree = tree_of_trace(TraceProfile("t", trace=Trace(LANES, spans))).tree
    assert len(tree) == 10_001


def test_all_ctas_of_a_kernel_are_one_context() -> None:
    lanes = [Lane("a", "GPU SM 0", LaneKind.SM), Lane("b", "k warp 0", LaneKind.WARP)]
    spans = [
        Span("CTA 0", SpanKind.CTA, 0, 0.0, 5.0, ("k", "CTA 0")),
        Span("CTA 1", SpanKind.CTA, 0, 5.0, 7.0, ("k", "CTA 1")),
        Span("load", SpanKind.SCOPE, 1, 0.0, 2.0, ("k", "load")),
    ]
    tree = tree_of_trace(TraceProfile("f", trace=Trace(lanes, spans))).tree
    assert [frame.name for frame in tree.frames] == ["ROOT", "k", "load"]
    assert tree.own[1] == {"cta_time (ns)": 12}
    assert tree.own[2] == {"warp_time (ns)": 2}


def test_sums_of_many_are_those_of_one_after_the_other() -> None:
    measured: list[Metrics] = [
        {"time (ns)": 1, "device": "0", "lr": 0.1, "list": (1, 2)},
        {"time (ns)": 2.5, "device": "1", "mixed": 3},
        {"lr": 0.2, "list": (3, 4), "mixed": "label"},
    ]

    def kinds(name: str) -> MetricKind:
        return MetricKind.PROPERTY if name == "lr" else MetricKind.INCLUSIVE

    one_by_one: dict[str, MetricValue] = {}
    for own in measured:
        add_metrics(one_by_one, own, kinds)
    assert sum_metrics(measured, kinds) == one_by_one
    assert one_by_one["list"] == (4, 6)
