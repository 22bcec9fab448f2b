from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proton.analysis.tuning_runs import tuning_runs
from proton.render.text.autotune_table import autotune_lines
from proton.render.text.style import BOLD, Style
from tests.support.profiles import profile_of

RECORD: dict[str, Any] = {
    "kernel": "matmul",
    "key": [64, "fp16"],
    "path": ["fwd", "mlp"],
    "interpreted": True,
    "winner": 1,
    "configs": [
        {"config": "BLOCK: 64", "time_ns": 2_500_000},
        {"config": "BLOCK: 128", "time_ns": 1_500_000},
        {"config": "BLOCK: 256", "time_ns": None, "error": "out of memory"},
    ],
}


def tuned(record: dict[str, Any], style: Style) -> list[str]:
    profile = replace(profile_of([(0, "ROOT", {})]), autotune=[record])
    return autotune_lines(tuning_runs(profile), style)


def test_configurations_stand_by_time_with_the_winner_marked_in_its_row() -> None:
    assert tuned(RECORD, Style()) == [
        "",
        "autotune matmul [64, fp16] in fwd / mlp (interpreted)",
        "  3 tried, 1 failed",
        "        us  BLOCK  over best",
        "  1500.000    128  <- winner",
        "  2500.000     64    +66.7 %",
        "         -    256  failed: out of memory",
    ]


def test_what_is_equal_in_all_is_said_once() -> None:
    configs = [
        {
            "config": f"BLOCK: {block}, num_warps: {warps}, num_ctas: 1, maxnreg: None",
            "time_ns": 1000 * block,
            "registers": 32 + block,
            "spills": 0,
            "shared_bytes": 512,
        }
        for block, warps in ((64, 4), (16, 8))
    ]
    lines = tuned({"kernel": "k", "configs": configs, "winner": 1}, Style(width=80))
    assert lines[2:] == [
        "  2 tried; in all: num_ctas: 1, maxnreg: None, spills: 0, shared: 512",
        "      us  BLOCK  warps  regs  over best",
        "  16.000     16      8    48  <- winner",
        "  64.000     64      4    96   +300.0 %",
    ]


def test_the_only_configuration_is_shown_whole() -> None:
    config = {"config": "BLOCK: 64", "time_ns": 1000, "registers": 32, "shared_bytes": 512}
    lines = tuned({"kernel": "k", "configs": [config], "winner": 0}, Style())
    assert lines[-2:] == [
        "    ns  BLOCK  regs  shared  over best",
        "  1000     64    32     512  <- winner",
    ]


def test_what_is_too_wide_for_a_table_is_wrapped_not_cut() -> None:
    configs = [
        {"config": f"BLOCK_M: {block}, BLOCK_K: {block}, a_long_name: {block}", "time_ns": block}
        for block in (64, 32)
    ]
    lines = tuned({"kernel": "k", "configs": configs, "winner": 1}, Style(width=30))
    assert lines[3:] == [
        "  ns",
        "  32  <- winner",
        "      BLOCK_M: 32, BLOCK_K:",
        "        32, a_long_name: 32",
        "  64  +100.0 %",
        "      BLOCK_M: 64, BLOCK_K:",
        "        64, a_long_name: 64",
    ]


def test_a_long_reason_of_a_failure_stands_below_its_row() -> None:
    configs = [
        {"config": "B: 1", "time_ns": 5},
        {"config": "B: 2", "error": "out of resource: " * 3},
    ]
    lines = tuned({"kernel": "k", "configs": configs, "winner": 0}, Style(width=40))
    assert lines[-3:] == [
        "   -  2",
        "      failed: out of resource: out of",
        "        resource: out of resource:",
    ]


def test_the_winner_stands_out() -> None:
    lines = tuned(RECORD, Style(color=True))
    assert lines[4].startswith(BOLD)
    assert "winner" in lines[4]


@pytest.mark.parametrize(
    "record",
    [{}, {"configs": "abc"}, {"configs": [1, None]}, {"configs": [{"time_ns": "x"}], "key": 7}],
)
def test_a_record_that_is_not_as_it_should_be_does_not_fail(record: dict[str, Any]) -> None:
    assert tuned(record, Style(width=40))[1].startswith("autotune ?")


def test_a_configuration_that_is_no_list_of_settings_is_one_text() -> None:
    configs = [{"config": f"variant {name}", "time_ns": 5} for name in "ab"]
    lines = tuned({"kernel": "k", "configs": configs}, Style())
    assert lines[3:] == [
        "  ns  configuration  over best",
        "   5      variant a",
        "   5      variant b",
    ]
