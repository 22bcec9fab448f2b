"""The benchmark of profilers on a GPU, as far as it needs none: processes, ratios, verdicts."""

import itertools
import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def overhead(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("overhead")


def made(overhead: Any, *processes: dict[str, list[dict[str, float]]]) -> Any:
    samples = overhead.Samples()
    samples.processes = list(processes)
    return samples


def test_ratios_are_of_times_in_one_cycle(overhead: Any) -> None:
    cycles = [{"none": 1.0, "floor": 1.1, "proton": 1.2}, {"none": 2.0, "floor": 2.0}]
    samples = made(overhead, {"triton": cycles}, {"triton": [{"none": 4.0, "proton": 5.0}]})
    assert samples.ratios("triton", "proton", "none") == [[1.2], [1.25]]
    assert samples.ratios("triton", "floor", "none") == [[1.1, 1.0]]
    assert samples.bare("triton") == [[2.0]]


def test_the_floor_alone_is_told_from_the_floor_beside_others(overhead: Any) -> None:
    together = {"torch": [{"none": 1.0, "floor": 1.5, "proton": 1.5}]}
    alone = {"torch": [{"none": 1.0, "floor": 1.25}]}
    samples = made(overhead, together, alone)
    assert samples.ratios("torch", "floor", "none", alone=True) == [[1.25]]


def test_a_bar_against_the_floor_is_held_against_the_floor_of_the_same_cycle(overhead: Any) -> None:
    # Slow and fast processes: the ratio to the floor is the same in all of them.
    processes = [
        {"graph": [{"none": t, "floor": 1.2 * t, "proton": 1.25 * t}] * 3} for t in (1, 2, 3, 5)
    ]
    results = {r.unit: r for r in overhead.results_of(made(overhead, *processes))}
    assert results["x floor"].estimate.median == pytest.approx(1.25 / 1.2)
    assert results["x floor"].is_met is False
    assert results["x none"].estimate.median == pytest.approx(1.25)
    assert results["x none"].bar is None


def test_a_tool_that_was_not_measured_leaves_no_row(overhead: Any) -> None:
    assert overhead.results_of(made(overhead, {"torch": [{"none": 1.0, "floor": 1.1}]})) == []


def test_a_process_that_dies_or_hangs_is_reported_and_not_waited_for(overhead: Any) -> None:
    assert overhead.forked(lambda value: {"found": value}, (3,), 10) == {"found": 3}
    assert "the process died" in overhead.forked(lambda: os._exit(1), (), 10)["error"]
    assert "ValueError: invalid" in overhead.forked(lambda: int("no"), (), 10)["error"]
    start = time.monotonic()
    assert "no result after 0 s" in overhead.forked(lambda: time.sleep(60), (), 0.2)["error"]
    assert time.monotonic() - start < 30


def test_rounds_stop_when_the_budget_is_spent(
    overhead: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]

    def forked(function: Any, arguments: tuple[Any, ...], limit_s: float) -> dict[str, Any]:
        now[0] += 20
        names = arguments[0]
        if "torch" in names:
            return {"error": "the process died"}
        cycle = dict.fromkeys(names, 1.0)
        failed = {"triton": "no session"} if "triton" in names else {}
        return {"samples": {"triton": [cycle]}, "failed": failed, "prepare_s": 1.0, "run_s": 2.0}

    monkeypatch.setattr(overhead, "forked", forked)
    monkeypatch.setattr(overhead.time, "monotonic", lambda: now[0])
    samples = overhead.collect(["triton"], itertools.cycle(overhead.ROUND), None, 200, "floor")
    assert 160 <= now[0] <= 200
    assert len(samples.ratios("triton", "proton", "none")) >= 4
    printed = capsys.readouterr().out
    assert "triton failed: no session" in printed
    assert "none, torch: the process died" in printed
