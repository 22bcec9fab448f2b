"""The part `steps` of a page."""

from __future__ import annotations

from dataclasses import replace

from proton.model.steps import StepSeries
from proton.model.trace import Trace
from proton.render.page.pack import Columns
from proton.render.page.steps import steps_part
from proton.render.text.head import step_lines
from tests.support.page import ReadableColumns
from tests.support.profiles import profile_of

PROFILE = profile_of([(0, "ROOT", {})])
STEPS = (StepSeries(1000, (5, 15), (10, 40), ("", "eval"), rank=2),)


def test_a_profile_without_marks_has_no_part() -> None:
    assert steps_part(PROFILE, Columns()) is None
    assert step_lines(PROFILE) == []


def test_steps_stand_since_the_first_or_on_the_axis_of_the_timeline() -> None:
    columns = ReadableColumns()
    part = steps_part(replace(PROFILE, steps=STEPS), columns)
    assert part is not None
    (series,) = part.series
    assert (series.rank, series.count, series.names) == (2, 2, ("", "eval"))
    assert list(columns.read(series.start_ns)) == [0.0, 10.0]
    assert list(columns.read(series.duration_ns)) == [10.0, 40.0]
    assert part.times.slowest == 1
    timed = replace(PROFILE, steps=STEPS, trace=Trace(base_time_ns=900))
    part = steps_part(timed, columns)
    assert part is not None
    assert list(columns.read(part.series[0].start_ns)) == [105.0, 115.0]


def test_gpu_time_of_steps_is_a_column_where_there_is_some() -> None:
    columns = ReadableColumns()
    part = steps_part(replace(PROFILE, steps=STEPS), columns)
    assert part is not None
    assert part.series[0].gpu_time_ns is None
    timed = (replace(STEPS[0], gpu_time_ns=(7, 0)),)
    part = steps_part(replace(PROFILE, steps=timed), columns)
    assert part is not None
    assert part.series[0].gpu_time_ns is not None
    assert list(columns.read(part.series[0].gpu_time_ns)) == [7.0, 0.0]


def test_the_head_says_them_in_one_line() -> None:
    assert step_lines(replace(PROFILE, steps=STEPS)) == [
        "2 steps, median 25 ns, p90 40 ns, slowest 40 ns (step 1 of rank 2)"
    ]
