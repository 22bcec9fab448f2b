"""Details of kernels as columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.analysis.aggregate import merge_by_name, tree_of_trace
from proton.analysis.derive import derivable_families, derive
from proton.analysis.select import everything, subtree
from proton.analysis.spread import known_words, launch_values, spread_ns
from proton.errors import MetricNotFound
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.model.tree import KernelDetail
from tests.support.profiles import profile_of

ATTRIBUTES: Metrics = {
    "grid": (4, 2, 1),
    "block": (128, 1, 1),
    "registers": 32,
    "static_shared_bytes": 8,
    "dynamic_shared_bytes": 1024,
    "occupancy": 0.75,
}
ROWS = [
    (0, "ROOT", {"time (ns)": 0}),
    (1, "a", {}),
    (2, "k", {"time (ns)": 5000, "count": 3}),
    (2, "j", {"time (ns)": 700, "count": 1}),
    (1, "k", {"time (ns)": 100, "count": 1}),
]
DETAILS = {
    2: KernelDetail(1000, 2500, 1500, 2500, ATTRIBUTES),
    4: KernelDetail(100, 100, 100, 100, {"registers": 64}),
}


@pytest.fixture
def profile() -> TreeProfile:
    bare = profile_of(ROWS)
    assert isinstance(bare, TreeProfile)
    return replace(bare, tree=replace(bare.tree, details=DETAILS))


def test_values_stand_in_their_rows_and_nowhere_else(profile: TreeProfile) -> None:
    assert isinstance(profile, TreeProfile)
    assert spread_ns(profile.tree, "max_time") == [None, None, 2500, None, 100]
    assert launch_values(profile.tree, "grid") == [None, None, "4x2x1", None, None]
    assert launch_values(profile.tree, "shared") == [None, None, 1032, None, None]
    assert launch_values(profile.tree, "occupancy") == [None, None, 0.75, None, None]


def test_columns_have_every_unit_of_time(profile: TreeProfile) -> None:
    micro, nano = derive(profile, ["p99_time/us", "min_time/ns"])
    assert list(micro.values) == [None, None, 2.5, None, 0.1]
    assert (micro.title, micro.unit, micro.is_additive) == ("p99_time", "us", False)
    assert list(nano.values) == [None, None, 1000, None, 100]


def test_launches_are_columns_too(profile: TreeProfile) -> None:
    regs, shared, block = derive(profile, ["regs", "SHARED", "block"])
    assert list(regs.values) == [None, None, 32, None, 64]
    assert shared.unit == "B"
    assert block.values[2] == "128x1x1"


def test_a_metric_of_that_name_goes_first() -> None:
    (column,) = derive(profile_of([(0, "ROOT", {}), (1, "a", {"grid": 7})]), ["grid"])
    assert column.values[1] == 7


def test_the_list_of_metrics_names_what_there_is(profile: TreeProfile) -> None:
    families = derivable_families(profile)
    assert families["spread"][:2] == ["min_time/s", "min_time/ms"]
    assert families["launch"] == ["grid", "block", "regs", "shared", "occupancy"]
    assert "spread" not in derivable_families(profile_of(ROWS))


@pytest.mark.parametrize(("word", "what"), [("min_time/us", "spread"), ("regs", "launch")])
def test_what_was_not_recorded_is_said(word: str, what: str) -> None:
    with pytest.raises(MetricNotFound, match=f"{word!r} needs the {what} of kernels"):
        derive(profile_of(ROWS), [word])


def test_rows_that_move_take_their_details_along(profile: TreeProfile) -> None:
    assert isinstance(profile, TreeProfile)
    mask = everything(profile.tree)
    mask[3] = 0
    assert subtree(profile.tree, mask).details == {2: DETAILS[2], 3: DETAILS[4]}


def test_names_that_are_merged_keep_the_extremes(profile: TreeProfile) -> None:
    assert isinstance(profile, TreeProfile)
    flat = merge_by_name(
        profile, "time (ns)", everything(profile.tree), lambda _: MetricKind.INCLUSIVE
    ).tree
    assert flat is not None
    assert [frame.name for frame in flat.frames] == ["ROOT", "k", "j"]
    assert flat.details == {1: KernelDetail(100, 2500)}
    assert known_words(flat) == ["min_time", "max_time"]


def test_a_trace_gives_the_spread_of_its_spans() -> None:
    lane = Lane("a", "GPU Stream 0", LaneKind.DEVICE)
    spans = [
        Span("k", SpanKind.KERNEL, 0, 10.0 * n, n, ("s", "k"), {}, {"registers": 8, "stream": n})
        for n in range(1, 4)
    ]
    tree = tree_of_trace(TraceProfile("t", trace=Trace([lane], spans))).tree
    assert tree.details == {2: KernelDetail(1, 3, 2, 3, {"registers": 8})}
