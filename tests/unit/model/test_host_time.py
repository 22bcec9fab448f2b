"""Times of the host that lie in each other, and backward work that lies in no forward operator."""

from __future__ import annotations

import pytest

from proton.analysis.measurements import whole_of
from proton.model.host_time import (
    has_operators,
    holders,
    outermost,
    self_times,
    shown_times_ns,
    with_self_times,
)
from proton.model.metric import CPU_TIME_NS, Metrics
from tests.support.profiles import tree_of_kinds


def cpu(time_ns: int) -> Metrics:
    return {CPU_TIME_NS: time_ns, "calls": 1}


TREE = tree_of_kinds(
    [
        (0, "r", "ROOT", {}),
        (1, "m", "Net", {}),
        (2, "o", "aten::linear", cpu(100)),
        (3, "o", "aten::addmm", cpu(70)),
        (4, "b", "<backward>", {}),
        (5, "o", "AddmmBackward0", cpu(150)),
        (6, "o", "aten::mm", cpu(90)),
        (6, "b", "<recompute>", {}),
        (7, "o", "aten::gelu", cpu(20)),
        (2, "b", "<recompute>", {}),
        (3, "o", "aten::linear", cpu(60)),
    ]
)


def test_backward_work_is_in_no_forward_operator_but_what_a_node_recomputes_is_in_the_node() -> (
    None
):
    assert holders(TREE) == [-1, -1, -1, 2, -1, -1, 5, 5, 5, -1, -1]


def test_own_time_of_an_operator_is_without_the_operators_inside() -> None:
    found = self_times(TREE)
    assert found == [None, None, 30, 70, None, 40, 90, None, 20, None, 60]


def test_own_times_add_up_to_the_whole_and_each_moment_counts_once() -> None:
    assert whole_of(TREE, CPU_TIME_NS) == 310
    assert sum(filter(None, self_times(TREE))) == 310


def test_modules_show_the_time_of_the_operators_inside_backward_too() -> None:
    assert shown_times_ns(TREE) == [310, 310, 100, 70, 150, 150, 90, 20, 20, 60, 60]


@pytest.mark.parametrize("by_name", [False, True])
def test_outermost_operators_are_those_of_forward_backward_and_recomputation(by_name: bool) -> None:
    kept = [row for row, is_ in enumerate(outermost(TREE, CPU_TIME_NS, by_name=by_name)) if is_]
    assert kept == ([2, 3, 5, 6, 8, 10] if by_name else [2, 5, 10])


def test_a_timed_scope_holds_the_backward_work_below_it() -> None:
    step = tree_of_kinds(
        [
            (0, "r", "ROOT", {}),
            (1, "s", "step", {CPU_TIME_NS: 500}),
            (2, "m", "Net", {}),
            (3, "o", "aten::mul", cpu(100)),
            (4, "b", "<backward>", {}),
            (5, "o", "MulBackward0", cpu(200)),
        ]
    )
    assert whole_of(step, CPU_TIME_NS) == 500
    assert self_times(step) == [None, 200, None, 100, None, 200]
    assert shown_times_ns(step) == [500, 500, 300, 100, 200, 200]


def test_own_time_is_never_below_zero() -> None:
    threads = tree_of_kinds(
        [(0, "r", "ROOT", {}), (1, "s", "step", {CPU_TIME_NS: 5}), (2, "o", "aten::mul", cpu(9))]
    )
    assert self_times(threads) == [None, 0, 9]


def test_a_tree_of_own_times_adds_up_row_by_row() -> None:
    own = with_self_times(TREE)
    assert own.own_numbers(CPU_TIME_NS)[2:4] == [30, 70]
    assert own.own[2]["calls"] == 1
    assert own.frames == TREE.frames


def test_operators_are_told_from_scopes_of_their_name() -> None:
    assert has_operators(TREE)
    assert not has_operators(tree_of_kinds([(0, "r", "ROOT", {}), (1, "s", "aten::mm", cpu(3))]))
