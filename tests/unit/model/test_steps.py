"""Series of steps, and how parts of them become one."""

from __future__ import annotations

from proton.model.steps import StepSeries, merge_steps, of_rank

FIRST = StepSeries(1000, (0, 10), (10, 20), ("a", ""))
SECOND = StepSeries(1500, (0,), (5,), left_out=3)


def test_parts_of_one_process_follow_each_other_on_one_clock() -> None:
    (merged,) = merge_steps([(FIRST,), (), (SECOND,)])
    assert merged == StepSeries(1000, (0, 10, 500), (10, 20, 5), ("a", "", ""), left_out=3)
    assert merged.count == 6


def test_names_stay_out_where_no_step_has_one() -> None:
    (merged,) = merge_steps([(SECOND,), (SECOND,)])
    assert merged.names == ()


def test_steps_of_a_part_without_gpu_work_took_no_gpu_time() -> None:
    timed = StepSeries(2000, (0,), (9,), gpu_time_ns=(7,))
    (merged,) = merge_steps([(FIRST,), (timed,), (SECOND,)])
    assert merged.gpu_time_ns == (0, 0, 7, 0)
    (merged,) = merge_steps([(FIRST,), (SECOND,)])
    assert merged.gpu_time_ns == ()


def test_ranks_stay_apart() -> None:
    ranked = [of_rank((FIRST,), 0), of_rank((SECOND,), 1)]
    assert [each.rank for each in merge_steps(ranked)] == [0, 1]
    assert of_rank(ranked[1], 7) == ranked[1]
