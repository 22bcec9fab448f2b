from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from proton.analysis.derive import default_word, derivable_words, derive, rates_of
from proton.analysis.measurements import Cell
from proton.errors import UsageError
from proton.model.device import Device, peak_flops
from proton.model.metric import MetricKind
from proton.model.profile import TreeProfile

MakeProfile = Callable[..., TreeProfile]

KERNEL = {"time (ns)": 2_000_000, "count": 4, "device_id": "0", "device_type": "CUDA"}
ROWS = [
    (0, "ROOT", {"time (ns)": 0, "count": 0}),
    (1, "fwd", {"cpu_time (ns)": 8000}),
    (2, "matmul", {**KERNEL, "flops16": 4e11, "bytes": 1_000_000}),
    (2, "idle", {}),
    (1, "bwd", {}),
    (2, "copy", {**KERNEL, "time (ns)": 6_000_000, "count": 1}),
]


def values(profile: TreeProfile, word: str) -> Sequence[Cell]:
    return derive(profile, [word])[0].values


@pytest.fixture
def profile(make_profile: MakeProfile) -> TreeProfile:
    return make_profile(ROWS, kinds={"cpu_time (ns)": MetricKind.EXCLUSIVE})


@pytest.mark.parametrize(
    ("unit", "root"), [("s", 0.008), ("ms", 8.0), ("us", 8000.0), ("ns", 8_000_000)]
)
def test_time_is_shown_in_every_unit(profile: TreeProfile, unit: str, root: float) -> None:
    assert values(profile, f"time/{unit}")[0] == pytest.approx(root)


def test_a_context_without_time_has_none(profile: TreeProfile) -> None:
    assert values(profile, "time/ms")[3] is None


def test_nanoseconds_as_measured_stay_whole(profile: TreeProfile) -> None:
    found = values(profile, "time/ns")
    assert found == [8_000_000, 2_000_000, 2_000_000, None, 6_000_000, 6_000_000]
    assert isinstance(found[0], int)


def test_the_average_divides_by_the_count_below(profile: TreeProfile) -> None:
    assert values(profile, "avg_time/us") == [1600, 500, 500, None, 6000, 6000]


def test_cpu_time_is_that_of_the_scope_alone(profile: TreeProfile) -> None:
    assert values(profile, "cpu_time/us") == [None, 8.0, None, None, None, None]


def test_the_average_of_cpu_time_divides_by_the_kernels_below(profile: TreeProfile) -> None:
    assert values(profile, "avg_cpu_time/us")[1] == 2.0


def test_a_rate_divides_what_is_below_by_the_time_below(profile: TreeProfile) -> None:
    assert values(profile, "tflop16/s") == [50.0, 200.0, 200.0, None, None, None]


@pytest.mark.parametrize(("word", "rate"), [("byte/s", 5e8), ("gbyte/s", 0.5), ("tbyte/s", 0.0005)])
def test_bytes_have_a_rate_in_every_scale(profile: TreeProfile, word: str, rate: float) -> None:
    assert values(profile, word)[2] == pytest.approx(rate)


def test_flops_without_a_width_are_those_of_all_widths(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {**KERNEL, "flops16": 1e9, "flops8": 3e9})]
    assert values(make_profile(rows), "gflop/s")[1] == pytest.approx(2000.0)


def test_kernels_with_and_without_a_width_are_both_counted(make_profile: MakeProfile) -> None:
    rows = [
        (0, "ROOT", {"flops": 0}),
        (1, "plain", {**KERNEL, "flops": 1e9}),
        (1, "wide", {**KERNEL, "flops32": 3e9}),
    ]
    assert values(make_profile(rows), "gflop/s") == pytest.approx([1000.0, 500.0, 1500.0])


def test_metrics_that_differ_in_case_alone_are_told_apart(make_profile: MakeProfile) -> None:
    own = {**KERNEL, "load_bytes[x]": 1, "load_bytes[X]": 3}
    rows = [(0, "ROOT", {}), (1, "k", own), (1, "other", {**KERNEL, "load_bytes[X]": 1})]
    profile = make_profile(rows)
    words = ["load_bytes[X]", "load_bytes[x]", "load_bytes[X]/%", "LOAD_BYTES[x]"]
    columns = derive(profile, words)
    assert [column.values[1] for column in columns] == [3, 1, 75.0, 1]
    assert [column.title for column in columns[:3]] == [
        "load_bytes[X]",
        "load_bytes[x]",
        "load_bytes[X]",
    ]


def test_flops_without_a_width_are_taken_as_given(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {**KERNEL, "flops": 1e9, "flops8": 3e9})]
    assert values(make_profile(rows), "gflop/s")[1] == pytest.approx(500.0)


def test_a_rate_is_missing_where_no_time_was_measured(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"bytes": 64}), (1, "k", KERNEL)])
    assert values(profile, "byte/s")[1] is None


def test_a_share_is_of_the_root(profile: TreeProfile) -> None:
    assert values(profile, "time/%") == [100.0, 25.0, 25.0, None, 75.0, 75.0]


def test_a_share_of_host_time_is_of_the_outermost_scopes(make_profile: MakeProfile) -> None:
    rows = [
        (0, "ROOT", {}),
        (1, "a", {"cpu_time (ns)": 6}),
        (2, "a", {"cpu_time (ns)": 4}),  # recursion
        (3, "b", {"cpu_time (ns)": 3}),
        (1, "c", {}),
        (2, "b", {"cpu_time (ns)": 4}),
    ]
    assert values(make_profile(rows), "cpu_time/%") == [None, 60.0, 40.0, 30.0, None, 40.0]


def test_an_average_of_host_time_is_of_the_calls_of_an_operator_and_never_of_its_kernels(
    make_profile: MakeProfile,
) -> None:
    called = {"cpu_time (ns)": 12, "calls": 4}
    rows = [(0, "ROOT", {}), (1, "a", called), (2, "k", {"count": 3}), (1, "b", {"count": 2})]
    profile = make_profile(rows)
    assert values(profile, "avg_cpu_time/ns") == [None, 3.0, None, None]
    assert values(profile, "calls") == [None, 4, None, None]
    assert values(profile, "count") == [5, 3, 3, 2]


def test_own_time_of_the_host_is_without_scopes_inside(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "a", {"cpu_time (ns)": 12}), (2, "b", {"cpu_time (ns)": 5})]
    (column,) = derive(make_profile(rows), ["self_cpu_time/ns"])
    assert (list(column.values), column.total) == ([None, 7, 5], 12)


def test_an_average_of_host_time_is_of_the_entries_of_a_scope(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "a", {"cpu_time (ns)": 6}), (2, "k", {"count": 3})]
    profile = make_profile(rows)
    assert values(profile, "avg_cpu_time/ns") == [None, 2.0, None]  # nobody counted entries
    counted = replace(profile, tree=replace(profile.tree, entries={1: 2}))
    assert values(counted, "avg_cpu_time/ns") == [None, 3.0, None]
    without_kernels = make_profile(rows[:2])
    entered = replace(without_kernels, tree=replace(without_kernels.tree, entries={1: 4}))
    assert "avg_cpu_time/ms" in derivable_words(entered)
    assert "avg_cpu_time/ms" not in derivable_words(without_kernels)


def test_a_users_count_is_found_where_no_kernel_ran(make_profile: MakeProfile) -> None:
    users = (1, "a", {"user count": 3})
    assert values(make_profile([(0, "ROOT", {}), users]), "count") == [3, 3]
    kernels = (1, "k", {"count": 5})
    assert values(make_profile([(0, "ROOT", {}), users, kernels]), "count") == [5, None, 5]


def test_a_share_of_a_property_is_refused(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"x": 1})], kinds={"x": MetricKind.PROPERTY})
    with pytest.raises(UsageError, match="'x' does not add up"):
        derive(profile, ["x/%"])


def test_util_is_the_least_time_over_the_time_taken(profile: TreeProfile) -> None:
    peak = peak_flops(profile.devices[0], 16)
    assert peak is not None
    assert values(profile, "util")[2] == pytest.approx(4e11 / peak / 2e-3)


def test_util_of_a_scope_counts_all_time_below_it(profile: TreeProfile) -> None:
    root, _, kernel, *_ = values(profile, "util")
    assert isinstance(kernel, float)
    assert root == pytest.approx(kernel / 4)


def test_util_is_missing_where_no_work_was_declared(profile: TreeProfile) -> None:
    assert values(profile, "util")[5] is None


def test_util_is_not_known_where_the_peak_is_not(make_profile: MakeProfile) -> None:
    interpreter = Device("CPU", "0", "interpreter")
    profile = make_profile(ROWS, devices=[interpreter])
    found = values(profile, "util")
    assert found[0] == found[2] == "n/a"
    assert found[5] is None


def test_headroom_is_the_time_above_the_least(profile: TreeProfile) -> None:
    util = values(profile, "util")[2]
    assert isinstance(util, float)
    assert values(profile, "headroom/ms")[2] == pytest.approx(2.0 * (1 - util))


def test_the_bound_names_the_limit(profile: TreeProfile) -> None:
    assert values(profile, "bound")[2] == "compute"


def test_intensity_is_flops_per_byte(profile: TreeProfile) -> None:
    assert values(profile, "intensity")[2] == 400_000.0


def test_any_metric_in_a_unit_of_time_can_be_converted(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"wait (us)": 1500})])
    assert values(profile, "wait/ms")[1] == 1.5


def test_a_metric_that_is_no_time_has_no_unit_of_time(profile: TreeProfile) -> None:
    with pytest.raises(UsageError, match="'bytes' is not measured in time"):
        derive(profile, ["bytes/us"])


def test_a_user_metric_with_a_slash_in_its_name_is_found(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"tokens/req": 7})])
    assert values(profile, "tokens/req")[1] == 7


def test_an_unknown_metric_is_refused_with_the_choices(profile: TreeProfile) -> None:
    with pytest.raises(UsageError, match=r"unknown metric 'tim' .*'time', 'count'"):
        derive(profile, ["tim"])


def test_an_unknown_unit_is_refused_with_the_choices(profile: TreeProfile) -> None:
    with pytest.raises(UsageError, match=r"unknown unit 'min' .*'%', 's', 'ms'"):
        derive(profile, ["time/min"])


def test_a_derived_metric_without_its_source_says_what_it_needs(profile: TreeProfile) -> None:
    with pytest.raises(UsageError, match="'tflop8/s' needs 'flops8', which was not recorded"):
        derive(profile, ["tflop8/s"])


@pytest.mark.parametrize("word", ["util", "bound", "flops_util", "bytes_util"])
def test_a_roofline_metric_needs_flops_or_bytes(make_profile: MakeProfile, word: str) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "k", KERNEL)])
    with pytest.raises(UsageError, match="needs 'bytes' or 'flops8'"):
        derive(profile, [word])


def test_the_default_is_time(profile: TreeProfile) -> None:
    assert default_word(profile) == "time (ns)"


def test_the_default_without_time_is_the_first_metric(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "a", {"device_id": "0", "cycles": 1})])
    assert default_word(profile) == "cycles"


def test_there_is_no_default_without_metrics(make_profile: MakeProfile) -> None:
    assert default_word(make_profile([(0, "ROOT", {}), (1, "a", {})])) is None


def test_every_derivable_metric_can_be_derived(profile: TreeProfile) -> None:
    words = derivable_words(profile)
    assert {"time/ms", "avg_cpu_time/ns", "tflop16/s", "util", "bytes/%"} <= set(words)
    assert len(derive(profile, words)) == len(words)


@pytest.mark.parametrize("word", ["time/ms", "byte/s", "util", "headroom/ms"])
def test_a_time_in_a_unit_we_do_not_know_is_refused(make_profile: MakeProfile, word: str) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "k", {"time (fortnights)": 1, "bytes": 1})])
    with pytest.raises(UsageError, match="not measured in time"):
        derive(profile, [word])


def test_a_time_in_a_unit_that_is_none_derives_nothing(make_profile: MakeProfile) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"time (odd)": 5, "bytes": 8, "count": 1})]
    words = derivable_words(make_profile(rows))
    assert not [word for word in words if word.startswith(("time/ms", "avg_", "byte/s", "util"))]


def test_rates_have_the_names_of_digests_and_pages(profile: TreeProfile) -> None:
    rates = rates_of(profile)
    assert list(rates) == ["flop_per_s", "byte_per_s", "share_of_peak", "bound", "headroom_ns"]
    assert rates["byte_per_s"][2] == pytest.approx(1_000_000 / 2e-3)
    assert rates["share_of_peak"] == values(profile, "util")
    assert rates["bound"][2] == "compute"


def test_rates_that_are_not_known_are_none(make_profile: MakeProfile) -> None:
    rates = rates_of(make_profile(ROWS, devices=[Device("CPU", "0", "interpreter")]))
    assert rates["share_of_peak"][2] is None
    assert rates["flop_per_s"][2] == pytest.approx(4e11 / 2e-3)
