"""Tests of finding, numbering and merging the files of ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.errors import FormatError, ProtonError, UsageError
from proton.files.detect import open_profile
from proton.files.rank_files import LOST_RANKS, claimed_rank, find_files, merge_files
from proton.files.write import write_profile
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import profile_of, tree_in


def write(name: str, time_ns: int = 5, rank: int | None = None) -> str:
    profile = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns})])
    write_profile(replace(profile, header=replace(profile.header, rank=rank)), name)
    return name


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_folder_gives_its_profiles_in_order_without_an_earlier_result() -> None:
    for name in ("run.rank_10.hatchet", "run.rank_9.hatchet"):
        write(name)
    write_profile(merge_files([write("../a.hatchet"), write("../b.hatchet")], ""), "all.hatchet")
    write("set.part_0.hatchet")
    write("set.part_1.hatchet")
    Path("notes.txt").write_text("no profile")
    assert find_files(["."], "all.hatchet") == [
        "run.rank_9.hatchet",
        "run.rank_10.hatchet",
        "set.part_0.hatchet",
    ]


def test_a_profile_of_the_folder_is_not_taken_for_an_earlier_result() -> None:
    write("run.rank_0.hatchet")
    Path("torn.hatchet").write_text("[")
    for output in ("run.rank_0.hatchet", "torn.hatchet"):
        with pytest.raises(UsageError, match=f"^{output}: is a profile of this folder"):
            find_files(["."], output)


def test_a_folder_that_cannot_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    Path("closed").mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FormatError, match=r"^closed: cannot be read: Permission denied$"):
        find_files(["closed"])


def test_a_folder_without_profiles_and_a_file_named_twice_are_refused() -> None:
    Path("empty").mkdir()
    with pytest.raises(FormatError, match=r"empty: no profile in this folder; they end in"):
        find_files(["empty"])
    with pytest.raises(UsageError, match=r"\./a: is named twice"):
        find_files(["a", "./a"])


@pytest.mark.parametrize(
    ("name", "rank"),
    [("run.rank_3.hatchet", 3), ("Rank12.hatchet", 12), ("frank_3.hatchet", None), ("a", None)],
)
def test_a_name_may_say_the_rank(name: str, rank: int | None) -> None:
    assert claimed_rank(Profile("x"), name) == rank


def test_files_that_say_nothing_are_numbered_as_given() -> None:
    merged = merge_files([write("b.hatchet", 7), write("a.hatchet")], "all")
    assert [(rank.rank, rank.time_ns) for rank in merged.ranks] == [(0, 7), (1, 5)]


def test_a_merged_profile_reads_back_with_its_ranks() -> None:
    merged = merge_files([write("a.hatchet", rank=1), write("b.hatchet", rank=0)], "all.hatchet")
    write_profile(merged, "all.hatchet_msgpack")
    again = open_profile("all.hatchet_msgpack")
    assert (tree_in(again), again.ranks) == (tree_in(merged), merged.ranks)
    assert [rank.source for rank in again.ranks] == ["b.hatchet", "a.hatchet"]


def test_missing_ranks_are_said() -> None:
    merged = merge_files([write("a.hatchet", rank=0), write("b.hatchet", rank=3)], "all")
    assert merged.warnings == ("2 of 4 ranks are missing: 1, 2",)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.rank_1.hatchet", "b.rank_1.hatchet"], "rank 1, but so is a.rank_1.hatchet"),
        (["a.rank_1.hatchet", "c.hatchet"], "c.hatchet: does not say its rank, but a.rank_1"),
        (["c.hatchet", "t.chrome_trace"], "t.chrome_trace: a trace, but c.hatchet is a tree"),
        (["c.hatchet", "cut.hatchet"], r"cut.hatchet: .*; nothing was written: --skip-broken"),
        (["c.hatchet", "gone.hatchet"], "gone.hatchet: no such file; nothing was written"),
    ],
)
def test_what_does_not_match_is_one_line(names: list[str], said: str) -> None:
    for name in ("a.rank_1.hatchet", "b.rank_1.hatchet", "c.hatchet"):
        write(name)
    Path("cut.hatchet").write_bytes(Path("c.hatchet").read_bytes()[:-20])
    lane = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)
    trace = Trace([lane], [Span("s", SpanKind.SCOPE, 0, 1.0, 2.0)])
    write_profile(TraceProfile("t", trace=trace), "t.chrome_trace")
    with pytest.raises(ProtonError, match=said) as raised:
        merge_files(names, "all")
    assert "\n" not in str(raised.value)


def test_files_that_are_numbered_as_given_may_be_of_several_programs() -> None:
    for name in ("a", "b"):
        profile = profile_of([(0, "ROOT", {}), (1, name, {"time (ns)": 5})])
        header = replace(profile.header, command=("python", f"{name}.py"))
        write_profile(replace(profile, header=header), f"{name}.hatchet")
    paths = ["a.hatchet", "b.hatchet"]
    with pytest.raises(UsageError, match=r"b\.hatchet: of another program"):
        merge_files(paths, "all")
    said = ("b.hatchet: of another program: 'b.py', but a.hatchet is of 'a.py'",)
    assert merge_files(paths, "all", by_order=True).warnings == said
    assert merge_files(paths, "all", allow_strangers=True).warnings == said


def test_broken_files_can_be_left_out_and_are_counted() -> None:
    write("a.hatchet")
    Path("cut.hatchet").write_text("[{")
    merged = merge_files(["cut.hatchet", "a.hatchet"], "all", skip_broken=True)
    assert merged.losses == {LOST_RANKS: 1}
    assert merged.warnings[0].startswith("left out: cut.hatchet: ")
    with pytest.raises(FormatError, match="none of 1 files can be read"):
        merge_files(["cut.hatchet"], "all", skip_broken=True)


def test_ranks_of_two_runs_can_be_numbered_as_given() -> None:
    both = merge_files([write("a.hatchet", rank=0), write("b.hatchet", rank=1)], "x")
    write_profile(both, "both.hatchet")
    merged = merge_files(["a.hatchet", "both.hatchet"], "all", by_order=True)
    assert [rank.rank for rank in merged.ranks] == [0, 1, 2]
