"""Tests of `proton compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proton.cli import main
from proton.cli.compare import compare, lines_of, open_side, parse_percent, to_object
from proton.errors import FormatError, UsageError
from proton.files.write import write_profile
from proton.model.profile import TraceProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from proton.render.text.style import Style
from tests.support.profiles import profile_of


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def record(folder: str, *times_ns: int, runs: int = 10, **others: int) -> str:
    """A folder with a recording for each time, in which kernel `k` took so long in all its runs."""
    Path(folder).mkdir()
    for at, time_ns in enumerate(times_ns):
        rows: list[Any] = [(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns, "count": runs})]
        rows += [(1, name, {"time (ns)": ns, "count": runs}) for name, ns in others.items()]
        write_profile(profile_of(rows), f"{folder}/{at}.hatchet")
    return folder


@pytest.fixture
def before() -> str:
    return record("before", 1_000_000, 1_002_000, 998_000)


@pytest.mark.parametrize(
    ("times", "words", "status"),
    [
        ((1_001_000, 999_000, 1_000_500), ["--fail-over", "3%"], 0),
        ((1_060_000, 1_062_000, 1_058_000), ["--fail-over", "3%"], 1),
        ((1_060_000, 1_062_000, 1_058_000), ["--fail-over", "5.9"], 0),  # inside the interval
        ((1_060_000, 1_200_000, 950_000), ["--fail-over", "3%"], 0),  # by chance
        ((900_000, 902_000, 898_000), ["--fail-over", "0%"], 0),
        ((1_060_000, 1_062_000, 1_058_000), [], 0),
    ],
)
def test_the_status_says_whether_something_became_slower_beyond_the_threshold(
    before: str, times: tuple[int, ...], words: list[str], status: int
) -> None:
    assert main(["compare", before, record("after", *times), *words]) == status


def test_the_number_of_steps_does_not_matter(before: str) -> None:
    after = record("after", 2_000_000, 2_004_000, 1_996_000, runs=20)
    assert main(["compare", before, after, "--fail-over", "1%"]) == 0


def test_the_table_shows_kernels_with_intervals_and_what_is_new_or_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = record("old", 1_000_000, 1_002_000, 998_000, gone=10)
    new = record("new", 1_060_000, 1_062_000, 1_058_000, fresh=10)
    assert main(["compare", old, new, "--fail-over", "3%"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "old -> new"
    titles = printed[2].split("  ")
    assert titles[0] == "kernel, mean of a run"
    assert printed[3].startswith("all kernels, total ")
    assert printed[4].split()[:7] == ["k", "100", "us", "106", "us", "+6.0", "%"]
    assert printed[4].endswith("slower")
    assert "new: fresh" in printed
    assert "gone: gone" in printed
    assert printed[-1].startswith("regression beyond 3 %: all kernels +6.0 % ± ")
    assert ", k +6.0 % ± " in printed[-1]


def test_scripts_get_json(before: str, capsys: pytest.CaptureFixture[str]) -> None:
    after = record("after", 1_060_000, 1_062_000, 1_058_000)
    assert main(["compare", before, after, "--json", "--fail-over=3%"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["verdict"]) == ("proton-compare/1", "regression")
    assert (found["fail_over"], found["regressions"]) == (0.03, ["all kernels", "k"])
    assert found["total"]["verdict"] == "slower"
    assert found["kernels"][0]["basis"] == "phases"


def test_a_kernel_that_hardly_counts_fails_no_gate() -> None:
    old = record("old", 1_000_000, 1_000_000, 1_000_000, small=1_000)
    new = record("new", 1_000_000, 1_000_000, 1_000_000, small=5_000)
    assert compare(old, new, 0.03).regressions == []


def test_too_little_is_said_and_what_to_do() -> None:
    old = record("old", 1_000_000)
    new = record("new", 1_100_000)
    outcome = compare(f"{old}/0.hatchet", f"{new}/0.hatchet", None)
    assert outcome.verdict == "not enough"
    assert "give a folder with three or more recordings" in lines_of(outcome, Style())[-1]
    same = compare(f"{old}/0.hatchet", f"{old}/0.hatchet", None)
    assert lines_of(same, Style())[-1] == "all kernels: same"
    assert to_object(same)["fail_over"] is None


def test_a_folder_gives_its_recordings_together_and_one_by_one(before: str) -> None:
    whole, repeats = open_side(before)
    assert (whole.tree.root.total("time (ns)"), len(repeats)) == (3_000_000, 3)
    single, none = open_side(f"{before}/1.hatchet")
    assert (single.tree.root.total("time (ns)"), none) == (1_002_000, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "compare needs two profiles and got 0; as in: proton compare before"),
        (["before"], "got 1"),
        (["before", "gone"], "gone: no such file"),
        (["before", "host"], "no kernel was timed in them"),
        (["before", "mixed"], "mixed: holds trees and traces"),
        (["before", "before", "--fail-over", "much"], "'much' is no percentage"),
        (["before", "before", "--fail-over=-3%"], "'-3%' is no percentage"),
        (["before", "before", "--fail-over"], "--fail-over needs a percentage; as in: 3%"),
    ],
)
def test_what_cannot_be_compared_is_status_2(
    words: list[str], said: str, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("host").mkdir()
    write_profile(profile_of([(0, "ROOT", {}), (1, "s", {})]), "host/a.hatchet")
    record("mixed", 5)
    lane = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)
    trace = Trace([lane], [Span("s", SpanKind.SCOPE, 0, 1.0, 2.0)])
    write_profile(TraceProfile("t", trace=trace), "mixed/t.chrome_trace")
    if words == ["before", "host"]:
        words = ["host", "host"]
    assert main(["compare", *words]) == 2
    assert said in capsys.readouterr().err


def test_percentages_are_read() -> None:
    assert (parse_percent("3%"), parse_percent("2.5")) == (0.03, 0.025)
    with pytest.raises(UsageError):
        parse_percent("nan%")


def test_profiles_without_kernels_have_nothing_to_compare() -> None:
    write_profile(profile_of([(0, "ROOT", {}), (1, "s", {})]), "a.hatchet")
    with pytest.raises(FormatError, match="no kernel was timed"):
        compare("a.hatchet", "a.hatchet", None)


def test_a_regression_is_shown_before_kernels_that_merely_ran_more_often() -> None:
    steady = {f"steady_{at}": 1_000_000 for at in range(30)}
    often = dict.fromkeys(steady, 5_000_000)
    old = record("old", 10_000, 10_010, 9_990, **steady)
    new = record("new", 60_000, 60_010, 59_990, runs=50, **often)
    outcome = compare(old, new, None)
    shown = lines_of(outcome, Style())
    assert shown[4].split()[0] == "k"
    assert shown[4].endswith("slower")
    assert "and 11 more kernels: 11 more runs" in shown
    assert to_object(outcome)["kernels"] == outcome.part.kernels


def test_no_regression_is_left_out_however_many_there_are() -> None:
    slower = {f"slower_{at}": 1_000_000 for at in range(30)}
    old = record("old", 1_000_000, 1_001_000, 999_000, **slower)
    new = record("new", 1_000_000, 1_001_000, 999_000, **dict.fromkeys(slower, 1_200_000))
    shown = lines_of(compare(old, new, None), Style())
    assert sum(line.endswith("slower") for line in shown) == 32  # with all kernels, and the verdict
    assert "and 1 more kernel: 1 same" in shown


def test_all_kernels_stand_with_the_times_of_the_files(before: str) -> None:
    after = record("after", 2_000_000, 2_004_000, 1_996_000, runs=20)
    shown = lines_of(compare(before, after, None), Style())
    assert shown[3].split()[2:8] == ["total", "3.00", "ms", "6.00", "ms", "0.0"]
    assert shown[5] == (
        "all kernels: times are those of the files, the change is at equal runs: "
        "after has 2.00 times as many"
    )


def test_all_kernels_changed_by_those_in_both_where_each_ran_in_its_own_way() -> None:
    old = record("old", 1_000_000, 1_001_000, 999_000, gone=3_000_000)
    new = record("new", 2_000_000, 2_002_000, 1_998_000, runs=20, fresh=5_000_000)
    shown = lines_of(compare(old, new, None), Style())
    assert shown[3].split()[2:8] == ["total", "12.0", "ms", "21.0", "ms", "0.0"]
    assert shown[5].endswith("the change is at equal runs of kernels in both")


def test_a_comparison_fits_the_terminal() -> None:
    long = {f"a_kernel_with_a_name_of_some_length_{at}": 1_000 for at in range(6)}
    old = record("old", 1_000_000, **long)
    new = record("new", 1_100_000)
    outcome = compare(f"{old}/0.hatchet", f"{new}/0.hatchet", None)
    assert max(map(len, lines_of(outcome, Style(width=80)))) <= 80


def test_runs_are_counted_for_each_recording(before: str) -> None:
    after = record("after", 1_000_500, 999_500)
    outcome = compare(before, after, None)
    assert [one.verdict for one in outcome.part.kernels] == ["not enough"]  # two say too little
    more = record("more", 1_000_500, 999_500, 1_001_000, 1_000_000)
    outcome = compare(before, more, None)
    assert [one.verdict for one in outcome.part.kernels] == ["same"]
    assert outcome.part.total.verdict == "same"


def test_profiles_without_kernels_are_compared_by_their_scopes() -> None:
    for name, time_ns in (("a", 10_000_000), ("b", 15_000_000)):
        rows: list[Any] = [(0, "ROOT", {}), (1, "load", {"cpu_time (ns)": time_ns})]
        write_profile(profile_of(rows), f"{name}.hatchet")
    shown = lines_of(compare("a.hatchet", "b.hatchet", None), Style(width=80))
    assert shown[2].startswith("scope, total on the host")
    assert shown[3].split() == ["all", "scopes", "10.0", "ms", "15.0", "ms", "+50.0", "%"]
    assert shown[4].split() == ["load", "10.0", "ms", "15.0", "ms", "+50.0", "%"]
    assert " ".join(shown[6:]).startswith("no kernel was timed: these are times of scopes")
    assert max(map(len, shown)) <= 80
