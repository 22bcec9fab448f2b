"""Tests of profiles of ranks as one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from proton.model import merge_ranks
from proton.model.merge_ranks import RankMerger, rank_of
from proton.model.metric import MetricKind
from proton.model.profile import Header, Profile, TraceProfile, TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS
from proton.model.sampling import Sampling
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import H200, Row, profile_of, tree_in


def rank_profile(time_ns: int, *extra: Row, host: str = "n0") -> Profile:
    rows: list[Row] = [(0, "ROOT", {}), (1, "step", {}), (2, "k", {"time (ns)": time_ns}), *extra]
    profile = profile_of(rows)
    return replace(profile, header=replace(profile.header, host=host), source=f"{time_ns}.hatchet")


def merged(*profiles: Profile, start: int = 0) -> Profile:
    merger = RankMerger()
    for rank, profile in enumerate(profiles, start):
        merger.add(profile, rank)
    return merger.result("all")


def test_values_are_summed_and_the_time_of_each_rank_is_kept() -> None:
    only_here: Row = (1, "other", {"time (ns)": 4})
    profile = merged(rank_profile(5), rank_profile(7, only_here, host="n1"))
    assert isinstance(profile, TreeProfile)
    assert {node.path(): dict(node.own) for node in profile.tree.nodes() if node.own} == {
        ("step", "k"): {"time (ns)": 12, TIME_BY_RANK_NS: (5, 7)},
        ("other",): {"time (ns)": 4, TIME_BY_RANK_NS: (0, 4)},
    }
    assert profile.metric_kinds[TIME_BY_RANK_NS] is MetricKind.INCLUSIVE
    assert [(rank.rank, rank.host, rank.time_ns) for rank in profile.ranks] == [
        (0, "n0", 5),
        (1, "n1", 11),
    ]


def test_ranks_stand_by_number_whatever_order_they_came_in() -> None:
    merger = RankMerger()
    merger.add(rank_profile(5), 3)
    merger.add(rank_profile(7), 1)
    profile = merger.result("all")
    assert isinstance(profile, TreeProfile)
    assert [rank.rank for rank in profile.ranks] == [1, 3]
    assert profile.tree.own[2][TIME_BY_RANK_NS] == (7, 5)


def test_merged_profiles_merge_again_with_all_their_ranks() -> None:
    both = merged(rank_profile(5), rank_profile(7))
    merger = RankMerger()
    merger.add(both, 0)
    merger.add(rank_profile(1), 2)
    profile = merger.result("all")
    assert isinstance(profile, TreeProfile)
    assert profile.tree.own[2][TIME_BY_RANK_NS] == (5, 7, 1)
    assert [rank.rank for rank in profile.ranks] == [0, 1, 2]


def test_a_list_that_is_too_long_does_not_run_into_other_ranks() -> None:
    both = merged(rank_profile(5), rank_profile(7))
    merger = RankMerger()
    merger.add(replace(both, ranks=both.ranks[:1]), 0)
    merger.add(rank_profile(1), 1)
    tree = tree_in(merger.result("all"))
    assert tree.own[2][TIME_BY_RANK_NS] == (5, 1)


def test_beyond_a_limit_small_contexts_give_their_times_to_the_one_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merge_ranks, "MOST_TIMES", 2)
    small: Row = (2, "small", {"time (ns)": 1})
    profile = merged(rank_profile(5, small), rank_profile(7))
    assert isinstance(profile, TreeProfile)
    kept = {
        n.name: n.own[TIME_BY_RANK_NS] for n in profile.tree.nodes() if TIME_BY_RANK_NS in n.own
    }
    assert kept == {"step": (1, 0), "k": (5, 7)}
    assert profile.warnings == (
        "of 2 contexts the 1 largest have their spread over ranks; "
        "the others' times are in the contexts above them",
    )


def test_lanes_of_traces_say_whose_they_are() -> None:
    lane = Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE)
    trace = Trace([lane], [Span("k", SpanKind.KERNEL, 0, 1.0, 2.0)], base_time_ns=100)
    later = replace(trace, base_time_ns=110)
    profile = merged(TraceProfile("a", trace=trace), TraceProfile("b", trace=later))
    assert isinstance(profile, TraceProfile)
    assert [(each.name, json.loads(each.key)) for each in profile.trace.lanes] == [
        ("rank 0 GPU Stream 7", [1, 200007]),
        ("rank 1 GPU Stream 7", [2, 200007]),
    ]
    assert [span.start_ns for span in profile.trace.spans] == [1.0, 11.0]


def test_losses_are_summed_and_what_ranks_say_names_them() -> None:
    def lossy(mode: str) -> Profile:
        sampling = Sampling(dropped=2, samples=5)
        return replace(
            rank_profile(1),
            losses={"dropped": 3},
            warnings=("beware",),
            sampling=sampling,
            header=Header(mode=mode, backends=("b" + mode,), pid=7, rank=0),
            autotune=({"kernel": "k"},),
        )

    other = replace(H200, name="another")
    profile = merged(lossy(""), replace(lossy("x"), devices=(other,)))
    assert profile.losses == {"dropped": 6}
    assert profile.sampling is not None
    assert (profile.sampling.samples, profile.sampling.dropped) == (10, 4)
    assert profile.warnings == (
        "beware (ranks 0, 1)",
        "device 0 is another one than on the first rank (another): shares of peak are the first "
        "one's (rank 1)",
        "recorded with another mode than the first rank: rank 1",
        "recorded with another backend than the first rank: rank 1",
    )
    assert [record["rank"] for record in profile.autotune] == [0, 1]
    assert (profile.header.pid, profile.header.rank) == (None, None)


def test_a_rank_remembers_what_its_file_said() -> None:
    rank = rank_of(rank_profile(5), 4)
    assert (rank.rank, rank.source, rank.device, rank.time_ns) == (4, "5.hatchet", "NVIDIA H200", 5)
    assert rank.kernels is None
