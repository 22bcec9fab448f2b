from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.errors import FormatError, UsageError
from proton.model.device import Device
from proton.model.frame import FrameKind
from proton.model.metric import MetricKind
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.render.text.style import Style
from proton.render.text.view import TRACE_NOTE, view_lines
from proton.render.text.view_content import ViewOptions
from tests.support.profiles import tree_in

MakeProfile = Callable[..., TreeProfile]
KERNEL = {"device_id": "0", "device_type": "CUDA"}
ROWS = [
    (0, "ROOT", {"time (ns)": 0, "count": 0}),
    (1, "fwd", {"cpu_time (ns)": 9000}),
    (2, "matmul", {**KERNEL, "time (ns)": 60_000, "count": 2, "flops16": 1e9}),
    (2, "add", {**KERNEL, "time (ns)": 10_000, "count": 1}),
    (1, "bwd", {}),
    (2, "matmul", {**KERNEL, "time (ns)": 30_000, "count": 1}),
]


def show(profile: TreeProfile, against: TreeProfile | None = None, **options: Any) -> list[str]:
    """The lines below the head."""
    lines = view_lines(profile, ViewOptions(**options), Style(), against)
    return lines[lines.index("") + 1 :]


def test_by_default_time_is_shown_in_a_unit_that_reads_well(make_profile: MakeProfile) -> None:
    assert show(make_profile(ROWS))[:2] == ["time us", "100.000 ROOT"]


def test_by_default_nothing_is_hidden(make_profile: MakeProfile) -> None:
    assert len(show(make_profile(ROWS))) == 1 + len(ROWS)


def test_times_of_scopes_are_shown_in_a_unit_that_reads_well(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "a", {"cpu_time (ns)": 353_242_715})]
    assert show(make_profile(rows))[::2] == ["cpu_time ms", "└─ 353.243 a"]


def test_without_time_the_first_metric_is_shown(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {"time (ns)": 0}), (1, "a", {"cycles": 7})])
    assert show(profile)[:2] == ["cycles", "7 ROOT"]


def test_without_metrics_the_names_are_shown_and_it_is_said(make_profile: MakeProfile) -> None:
    lines = show(make_profile([(0, "ROOT", {}), (1, "a", {})]))
    assert lines == ["ROOT", "└─ a", "", "no metrics were recorded in these contexts"]


def test_times_of_the_interpreter_say_so(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS, devices=[Device("CPU", "0", "interpreter")])
    assert show(profile, metrics=["time/us", "time/%"])[0] == "time (interpreted) us  time %"


def test_a_pattern_that_is_found_further_on_in_a_name_is_told_so(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), include="mul")
    assert lines[0] == ("nothing to show: -i matches names from their start; -i '.*mul' finds more")
    assert show(make_profile(ROWS), include="gone")[0] == "nothing to show"


def test_a_filter_that_hides_something_says_how_much(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), include=".*add")
    assert lines[-1] == "hidden by -i '.*add': 3 of 6 contexts, 90.0 % of time"


def test_a_filter_that_hides_nothing_says_nothing(make_profile: MakeProfile) -> None:
    assert show(make_profile(ROWS), include="ROOT")[-1].endswith("matmul")


def test_depth_hides_contexts_but_no_time(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), depth=2)
    assert lines[-1] == "hidden by -d 2: 3 of 6 contexts"


def test_filters_do_not_change_values(make_profile: MakeProfile) -> None:
    assert show(make_profile(ROWS), exclude="fwd")[1] == "100.000 ROOT"


def test_a_threshold_is_of_the_first_metric(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), metrics=["time/us", "count"], threshold=30.0)
    assert not any("add" in line for line in lines)
    assert lines[-1] == "hidden by -t 30: 1 of 6 contexts, 10.0 % of time"


def test_a_threshold_that_hides_all_leaves_the_head_and_a_line(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), threshold=1e12)
    assert lines[0] == "nothing to show"
    assert lines[-1] == "hidden by -t 1e+12: 6 of 6 contexts, 100.0 % of time"


def test_a_sorted_list_has_one_row_a_name(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), metrics=["time/us", "count"], is_sorted=True)
    assert lines == ["time us  count  name", " 90.000      3  matmul", " 10.000      1  add"]


def test_shares_in_a_filtered_list_are_of_the_whole(make_profile: MakeProfile) -> None:
    lines = show(make_profile(ROWS), metrics=["time/%"], is_sorted=True, exclude="fwd")
    assert lines[1] == "  30.0  matmul"
    assert lines[-1] == "hidden by -e 'fwd': 70.0 % of time"


def test_a_list_by_cpu_time_lists_scopes(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS, kinds={"cpu_time (ns)": MetricKind.EXCLUSIVE})
    assert show(profile, metrics=["cpu_time/us"], is_sorted=True) == [
        "cpu_time us  name",
        "      9.000  fwd",
    ]


def test_the_difference_is_the_file_minus_the_other(make_profile: MakeProfile) -> None:
    before = make_profile([*ROWS[:3], (1, "old", {**KERNEL, "time (ns)": 1000, "count": 1})])
    lines = show(make_profile(ROWS), before, metrics=["time/us"])
    assert lines == [
        "time us",
        "+39.000 ROOT",
        "├─ +10.000 fwd",
        "│  ├─ +0.000 matmul",
        "│  └─ +10.000 add (new)",
        "├─ +30.000 bwd (new)",
        "│  └─ +30.000 matmul",
        "└─ -1.000 old (gone)",
    ]


def test_a_threshold_keeps_large_losses_too(make_profile: MakeProfile) -> None:
    small = make_profile([ROWS[0]])
    lines = show(small, make_profile(ROWS), metrics=["time/us"], threshold=60)
    assert lines[1:4] == ["-100.000 ROOT", "└─ -70.000 fwd (gone)", "   └─ -60.000 matmul"]


def test_a_metric_that_the_other_file_lacks_is_named_with_that_file(
    make_profile: MakeProfile,
) -> None:
    other = replace(
        make_profile([(0, "ROOT", {}), (1, "k", {"time (ns)": 1})]), source="old.hatchet"
    )
    options = ViewOptions(metrics=["flops16"])
    with pytest.raises(UsageError, match=r"^old\.hatchet: unknown metric 'flops16'"):
        view_lines(make_profile(ROWS), options, Style(), other)


def test_a_sorted_difference_puts_the_largest_change_on_top(make_profile: MakeProfile) -> None:
    before = make_profile([*ROWS[:3], (1, "old", {**KERNEL, "time (ns)": 99_000, "count": 1})])
    lines = show(make_profile(ROWS), before, metrics=["time/us"], is_sorted=True)
    assert lines[1:] == ["-99.000  old (gone)", "+30.000  matmul", "+10.000  add (new)"]


def test_unknown_peaks_are_explained(make_profile: MakeProfile) -> None:
    profile = make_profile(ROWS, devices=[Device("CUDA", "0", "999")])
    assert show(profile, metrics=["util"])[-1] == (
        "n/a: the peak rates of this device are not known"
    )


def test_autotuning_is_mentioned_and_listed_when_asked_for(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), autotune=[{"kernel": "matmul", "configs": []}])
    assert show(profile)[-1] == "autotuned 1 time; --autotune lists the tries"
    assert "autotune matmul" in show(profile, autotune=True)


def test_asking_for_autotuning_that_was_not_recorded_says_so(make_profile: MakeProfile) -> None:
    assert show(make_profile(ROWS), autotune=True)[-1] == "no autotuning was recorded"


def test_full_names_are_not_cut_to_the_width(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "n" * 300, {"x": 1})])
    lines = view_lines(profile, ViewOptions(full=True), Style(width=80))
    assert lines[-1].endswith("n" * 300)


def test_colours_come_with_a_legend(make_profile: MakeProfile) -> None:
    lines = view_lines(make_profile(ROWS), ViewOptions(), Style(color=True))
    assert lines[-1].startswith("share of total time")


def test_a_rate_is_coloured_by_the_share_of_time(make_profile: MakeProfile) -> None:
    options = ViewOptions(metrics=["tflop16/s"])
    lines = view_lines(make_profile(ROWS), options, Style(color=True))
    assert lines[-1].startswith("share of total time")


def test_levels_that_are_not_indented_are_explained(make_profile: MakeProfile) -> None:
    profile = make_profile([(depth, f"f{depth}", {"x": 1}) for depth in range(100)])
    lines = view_lines(profile, ViewOptions(), Style(width=80))
    assert lines[-1] == "⋯N is a context at depth N, below the 18 drawn levels"


def test_an_empty_profile_says_that_nothing_was_recorded(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {"count": 0})])
    with pytest.raises(FormatError, match=r"^run\.hatchet: nothing was recorded"):
        prepare(profile)


def test_a_trace_is_shown_as_a_tree_and_it_is_said() -> None:
    lanes = [Lane("s", "stream", LaneKind.DEVICE)]
    spans = [Span("k", SpanKind.KERNEL, 0, 0.0, 2000.0, ("step", "k"))] * 2
    profile = prepare(TraceProfile("run.chrome_trace", trace=Trace(lanes, spans)))
    lines = view_lines(profile, ViewOptions(), Style())
    assert TRACE_NOTE in lines
    assert lines[-1] == "   └─ 4000 k"


def test_the_cost_of_launch_metadata_is_not_shown(make_profile: MakeProfile) -> None:
    rows = [*ROWS, (2, "__proton_launch_metadata", {}), (3, "meta", {"time (ns)": 5})]
    profile = prepare(make_profile(rows))
    assert show(profile)[1] == "100.000 ROOT"
    assert not any("meta" in line for line in show(profile))


SAMPLED = [
    (0, "ROOT", {"time (ns)": 0, "num_samples": 0}),
    (1, "big", {**KERNEL, "time (ns)": 900}),
    (2, "a.py:1@big", {"num_samples": 30, "stalled_wait": 30}),
    (1, "small", {**KERNEL, "time (ns)": 100}),
    (2, "a.py:9@small", {"num_samples": 10, "stalled_wait": 10}),
]


@pytest.fixture
def sampled(make_profile: MakeProfile) -> TreeProfile:
    profile = make_profile(SAMPLED)
    tree = tree_in(profile)
    frames = [
        frame._replace(kind=FrameKind.SAMPLE, file="a.py", line=number)
        if ".py" in frame.name
        else frame
        for number, frame in enumerate(tree.frames)
    ]
    return replace(profile, tree=replace(tree, frames=frames))


def test_by_default_samples_are_shown_beside_time(sampled: TreeProfile) -> None:
    lines = show(sampled)
    assert lines[0].split() == ["time", "ns", "num_samples"]
    assert lines[1].split() == ["1000", "40", "ROOT"]
    assert "a.py:2" in lines[3]
    assert "wait 100 %" in lines[3]


def test_metrics_that_are_asked_for_are_shown_as_ever(sampled: TreeProfile) -> None:
    assert show(sampled, metrics=["num_samples"])[3] == "│  └─ 30 a.py:1@big"


def test_lines_stay_with_their_kernels_under_a_threshold_of_time(sampled: TreeProfile) -> None:
    lines = show(sampled, threshold=500)
    assert any("a.py:2" in line for line in lines)
    assert not any("─ small" in line or "a.py:4" in line for line in lines)


def test_a_list_has_kernels_with_the_samples_of_their_lines(sampled: TreeProfile) -> None:
    lines = show(sampled, is_sorted=True)
    assert [line.split() for line in lines[1:3]] == [["900", "30", "big"], ["100", "10", "small"]]


def test_the_difference_to_a_profile_without_samples_is_that_of_time(
    sampled: TreeProfile, make_profile: MakeProfile
) -> None:
    assert show(sampled, make_profile(ROWS))[0] == "time ns"
    assert show(sampled, sampled)[0].split()[:3] == ["time", "ns", "num_samples"]
