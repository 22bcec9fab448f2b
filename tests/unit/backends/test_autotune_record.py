"""The record of an autotuning run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from proton.backends.common.autotune_record import Trial, Trials, describe, make_record


def config(**kwargs: Any) -> Any:
    return SimpleNamespace(kwargs=kwargs, num_warps=4, num_stages=3)


def record(*trials: Trial, **changes: Any) -> dict[str, Any]:
    def kernel() -> None: ...

    autotuner = SimpleNamespace(arg_names=["x", "n"], base_fn=kernel, keys=["n", "missing"])
    return make_record(autotuner, trials, [object(), 7], {}, is_interpreted=False, **changes)


def test_the_fastest_trial_wins() -> None:
    made = record(Trial(config(B=1), 30), Trial(config(B=2), 20), Trial(config(B=4), None, "x"))
    assert made["winner"] == 1
    assert [each["time_ns"] for each in made["configs"]] == [30, 20, None]


def test_there_is_no_winner_where_none_ran() -> None:
    made = record(Trial(config(), None, "OutOfResources: shared memory"))
    assert made["winner"] is None
    assert made["configs"][0]["error"] == "OutOfResources: shared memory"


def test_the_key_has_the_values_that_were_given() -> None:
    assert record(Trial(config(), 1))["key"] == [7]


def test_what_a_kernel_needs_stands_beside_its_time() -> None:
    made = record(Trial(config(), 1, resources={"registers": 32, "spills": 0}))
    assert made["configs"][0]["registers"] == 32
    assert made["interpreted"] is False


def test_values_that_json_does_not_know_become_text() -> None:
    made = record(Trial(config(B=object), 1))
    assert made["configs"][0]["kwargs"] == {"B": "<class 'object'>"}


def test_an_error_is_one_line() -> None:
    assert describe(ValueError("no")) == "ValueError: no"


def test_trials_start_empty() -> None:
    assert Trials().current == []
