"""The statistics of the benchmarks: medians, intervals, interleaving, verdicts."""

import json
from pathlib import Path

import pytest

from benchmarks.stats import (
    Estimate,
    Result,
    difference,
    estimate,
    estimate_groups,
    interleave,
    ratio,
    report,
)


def test_eleven_samples_leave_out_one_at_each_end() -> None:
    assert estimate(range(11)) == Estimate(median=5, low=1, high=9, samples=11)


def test_few_samples_take_the_extremes_as_interval() -> None:
    assert estimate([3, 1, 2]) == Estimate(median=2, low=1, high=3, samples=3)


def test_samples_of_few_processes_give_no_narrow_interval() -> None:
    assert estimate_groups([[1.0] * 100, [2.0] * 100, []]) == Estimate(1.5, 1.0, 2.0, 200)


def test_the_interval_is_as_wide_as_processes_differ() -> None:
    alike = estimate_groups([[1.0, 1.1, 1.2]] * 8)
    apart = estimate_groups([[1.0 + n / 10] * 3 for n in range(8)])
    assert (alike.low, alike.median, alike.high) == (1.1, 1.1, 1.1)
    assert apart.low <= 1.2 < 1.35 == pytest.approx(apart.median)
    assert apart.high >= 1.5
    assert estimate_groups([[1.0]] * 4) == estimate_groups([[1.0]] * 4)


def test_no_samples_are_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        estimate([])


def test_rounds_run_forward_and_backward_after_the_warm_up() -> None:
    order: list[str] = []

    def run(name: str) -> float:
        order.append(name)
        return len(order)

    samples = interleave({"a": lambda: run("a"), "b": lambda: run("b")}, rounds=2, warm_up=1)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert samples == {"a": [4, 5], "b": [3, 6]}


def test_ratio_and_difference_go_pair_by_pair() -> None:
    assert ratio([2, 30], [1, 10]).median == 2.5
    assert difference([2, 30], [1, 10]).median == 10.5


@pytest.mark.parametrize(("low", "met"), [(9.0, True), (11.0, False)])
def test_a_bar_is_met_if_the_interval_reaches_it(low: float, met: bool) -> None:
    assert Result("x", "ns", Estimate(12, low, 14, 11), bar=10).is_met is met


@pytest.mark.parametrize(
    ("bar", "verdict"), [(None, "-"), (9.0, "MISSED"), (11.0, "undecided"), (12.0, "met")]
)
def test_the_median_decides_and_the_interval_says_whether_it_can(
    bar: float | None, verdict: str
) -> None:
    assert Result("x", "ns", Estimate(12, 10, 14, 11), bar=bar).verdict == verdict


def test_a_report_is_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report([Result("x", "ns", estimate([5.0]), bar=4)], tmp_path / "x.json")
    assert capsys.readouterr().out == "x: 5 [5, 5] (n=1) ns  bar 4  MISSED\n"
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["results"][0]["estimate"]["median"] == 5.0
    assert written["machine"]
