"""Autotuning runs, from recordings and from records that are not as they should be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.analysis.tuning_runs import tuning_runs
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile
from tests.support.pages import plain
from tests.support.profiles import profile_of

DATA = Path(__file__).parents[2] / "data"


def run_of(times: list[int | None], winner: int | None) -> dict[str, Any]:
    configs = [{"config": f"c{at}", "time_ns": time} for at, time in enumerate(times)]
    record = {"kernel": "k", "key": [8], "path": [], "configs": configs, "winner": winner}
    runs = [plain(run) for run in tuning_runs(bare([record]))]
    (run,) = runs
    assert isinstance(run, dict)
    return run


def bare(records: list[dict[str, Any]]) -> TreeProfile:
    return replace(profile_of([(0, "ROOT", {})]), autotune=records)


def test_the_winner_is_told_with_what_it_won_by() -> None:
    run = run_of([300, 100, 125, 150], 1)
    assert (run["winner"], run["best_ns"]) == (1, 100)
    assert (run["over_next"], run["over_median"], run["over_worst"]) == (1.25, 1.5, 3.0)
    assert [config["over_best"] for config in run["configs"]] == [3.0, 1.0, 1.25, 1.5]


def test_a_recording_has_its_runs_with_the_context_they_were_made_in() -> None:
    runs = [plain(run) for run in tuning_runs(prepare(open_profile(DATA / "gpt.hatchet")))]
    (run,) = runs
    assert (run["kernel"], run["key"]) == ("matmul", ["1024", "3072", "768"])
    profile = open_profile(DATA / "gpt.hatchet")
    assert isinstance(profile, TreeProfile)
    assert profile.tree.frames[run["row"]].name == "mlp"
    assert run["failed"] == 1
    assert run["configs"][2]["error"] == "out of shared memory"
    assert run["configs"][2]["time_ns"] is None


def test_resources_are_told_where_they_are_known() -> None:
    config = {"config": "c", "time_ns": 5, "registers": 128, "spills": 4, "shared_bytes": 98304}
    runs = [plain(run) for run in tuning_runs(bare([{"configs": [config], "winner": 0}]))]
    found = runs[0]["configs"][0]
    assert (found["registers"], found["spills"], found["shared_bytes"]) == (128, 4, 98304)
    assert (found["num_warps"], found["error"]) == (None, None)


@pytest.mark.parametrize("winner", [None, 7, -1, True, "0"])
def test_no_winner_nothing_won(winner: Any) -> None:
    run = run_of([300, 100], winner)
    assert (run["winner"], run["best_ns"], run["over_next"]) == (None, None, None)


def test_one_configuration_alone_won_over_nothing() -> None:
    assert run_of([300, None], 0)["over_next"] is None


def test_strange_records_do_no_harm() -> None:
    records: list[dict[str, Any]] = [
        {},
        {"kernel": None, "key": 5, "path": "x", "configs": [3, {"kwargs": 7, "time_ns": "slow"}]},
    ]
    runs = [plain(run) for run in tuning_runs(bare(records))]
    assert json.loads(json.dumps(runs)) == runs
    assert len(runs[1]["configs"]) == 1


def test_no_autotuning_no_part() -> None:
    assert tuning_runs(bare([])) == []
