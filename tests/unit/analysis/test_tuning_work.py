"""Autotuning is told from the program, measured, and left out without moving a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.measurements import whole_of
from proton.analysis.prepare import prepare
from proton.analysis.tuning_work import (
    TUNING_SCOPE,
    TuningCost,
    drop_tuning,
    is_tuning,
    tuning_ranges,
    without_tuning,
)
from proton.analysis.union_quantiles import quantiles_of
from proton.backends.common.autotune_record import SCOPE_NAME
from proton.files.detect import open_profile
from proton.model.metric import COUNT, TIME_NS
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import Row, profile_of

DATA = Path(__file__).parents[2] / "data"
ROWS: list[Row] = [
    (0, "ROOT", {TIME_NS: 0, COUNT: 0}),
    (1, "step", {}),
    (2, "<autotune>", {}),
    (3, "k", {TIME_NS: 900, COUNT: 9}),
    (3, "<autotune>", {}),
    (4, "fill", {TIME_NS: 60, COUNT: 6}),
    (2, "k", {TIME_NS: 40, COUNT: 1}),
]


def test_it_is_the_scope_that_sessions_write() -> None:
    assert TUNING_SCOPE == SCOPE_NAME


@pytest.mark.parametrize(
    ("name", "is_it"),
    [
        ("<autotune>", True),
        ("/env/site-packages/triton/runtime/autotuner.py:181@_bench", True),
        ("/env/triton/runtime/autotuner.py:240@run", False),
        ("/env/torch/_inductor/runtime/triton_heuristics.py:9@benchmark_all_configs", True),
        ("/env/torch/_inductor/runtime/triton_heuristics.py:9@autotune_to_one_config", True),
        ("/env/torch/_inductor/runtime/triton_heuristics.py:9@run", False),
        ("/home/me/autotune.py:3@benchmark", False),
        ("autotune", False),
    ],
)
def test_frames_that_only_choose_a_configuration_are_known(name: str, is_it: bool) -> None:
    assert is_tuning(name) is is_it


def test_it_is_taken_out_in_place_and_its_cost_is_told() -> None:
    whole = profile_of(ROWS)
    program, cost = without_tuning(whole)
    assert cost == TuningCost(960, 0.96, 15)
    assert tuning_ranges(whole.tree) == [(2, 6)]
    assert whole_of(program.tree, TIME_NS) == 40
    assert program.tree.frames == whole.tree.frames
    assert program.tree.totals(TIME_NS)[2:6] == [None] * 4


def test_rows_can_go_too() -> None:
    program, cost = drop_tuning(profile_of(ROWS))
    assert [frame.name for frame in program.tree.frames] == ["ROOT", "step", "k"]
    assert cost is not None


def test_a_profile_of_nothing_else_keeps_it() -> None:
    rows = [*ROWS[:6]]
    for leave_out in (without_tuning, drop_tuning):
        program, cost = leave_out(profile_of(rows))
        assert cost is None
        assert whole_of(program.tree, TIME_NS) == 960


def test_a_profile_without_it_is_the_same_object() -> None:
    profile = prepare(open_profile(DATA / "gpt.hatchet"))
    assert without_tuning(profile) == (profile, None)


def test_spans_of_it_are_out_of_the_quantiles_of_a_trace() -> None:
    lanes = [Lane("s", "GPU 0 Stream 7", LaneKind.DEVICE)]
    path = ("step", "<autotune>", "k")
    spans = [
        Span("k", SpanKind.KERNEL, 0, 0, 900, path),
        Span("call", SpanKind.OTHER, 0, 0, 1, ("step", "call")),
        Span("k", SpanKind.KERNEL, 0, 900, 40, ("step", "k")),
    ]
    trace = Trace(lanes, spans, [Flow(1, 0), Flow(1, 2)])
    program = without_tuning(replace(profile_of(ROWS), trace=trace)).profile
    assert quantiles_of(program)["k"].p50.value == 40
    assert program.trace is not None
    assert program.trace.flows == [Flow(0, 1)]


def test_the_recorded_matrix_product_reaches_what_it_reached_after_tuning() -> None:
    program, cost = without_tuning(prepare(open_profile(DATA / "h200/kernels.hatchet")))
    assert cost is not None
    assert cost.time_ns == pytest.approx(1_146.8e6, rel=1e-3)
    assert cost.share == pytest.approx(0.996, abs=5e-4)
    assert quantiles_of(program)["matmul_4096x4096x4096"].p99.value < 230e3  # ~410 with the tries
