"""Work by module, operator, kernel and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.analysis.folding.work_groups import (
    BY,
    By,
    Work,
    group_entries,
    group_rows,
    sum_of,
    work_entry,
    work_places,
)
from proton.analysis.measurements import whole_of
from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS, Metrics
from tests.support.profiles import tree_of_kinds

DATA = Path(__file__).parents[2] / "data"
LINE = "/home/user/model.py:5@forward"


def cpu(time_ns: int) -> Metrics:
    return {CPU_TIME_NS: time_ns, "calls": 3}


def gpu(time_ns: int) -> Metrics:
    return {TIME_NS: time_ns, COUNT: 2}


STEP = tree_of_kinds(
    [
        (0, "r", "ROOT", {TIME_NS: 0, COUNT: 0}),
        (1, "p", LINE, {}),
        (2, "m", "net.a", {}),
        (3, "o", "aten::mul", cpu(10)),
        (4, "k", "mul_kernel", gpu(5)),
        (4, "b", "<backward>", {}),
        (5, "p", "/home/user/model.py:9@backward", {}),
        (6, "m", "net.other", {}),
        (7, "o", "MulBackward0", cpu(40)),
        (8, "o", "aten::mul", cpu(25)),
        (9, "k", "mul_kernel", gpu(7)),
        (3, "b", "<recompute>", {}),
        (4, "m", "net.a.inner", {}),
        (5, "o", "aten::add", cpu(4)),
        (6, "k", "add_kernel", gpu(3)),
        (1, "p", "/usr/lib/python3/site-packages/torch/x.py:1@f", {}),
        (2, "k", "outside", gpu(1)),
    ]
)


def table(by: By) -> dict[str, tuple[float, float, float]]:
    return {row.name: row.time_ns for row in group_rows(work_places(STEP), by)}


def test_backward_work_counts_at_the_operator_of_its_forward_path() -> None:
    assert table("op") == {"aten::mul": (5, 7, 0), "aten::add": (0, 0, 3), "": (1, 0, 0)}


def test_backward_work_counts_at_the_module_and_line_of_its_forward_path() -> None:
    assert table("module") == {"net.a": (5, 7, 0), "net.a.inner": (0, 0, 3), "": (1, 0, 0)}
    assert table("line") == {LINE: (5, 7, 3), "": (1, 0, 0)}


def test_a_kernel_is_told_apart_by_what_it_was_launched_for() -> None:
    found = {"mul_kernel": (5, 7, 0), "add_kernel": (0, 0, 3), "outside": (1, 0, 0)}
    assert table("kernel") == found


def test_calls_of_backward_work_are_no_calls_of_the_forward_operator() -> None:
    rows = {row.name: row.work for row in group_rows(work_places(STEP), "op")}
    assert rows["aten::mul"] == Work(time_ns=12, count=4, cpu_ns=50, calls=3)


def test_backward_work_without_a_forward_operator_counts_at_its_node() -> None:
    blamed = tree_of_kinds(
        [
            (0, "r", "ROOT", {}),
            (1, "m", "net", {}),
            (2, "b", "<backward>", {}),
            (3, "o", "MulBackward0", {}),
            (4, "k", "mul_kernel", gpu(7)),
        ]
    )
    (row,) = group_rows(work_places(blamed), "op")
    assert (row.name, row.time_ns) == ("MulBackward0", (0, 7, 0))


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("name", ["training.hatchet", "training_cpu.hatchet", "gpt.hatchet"])
def test_sums_of_every_table_are_those_of_the_profile(name: str, by: By) -> None:
    tree = prepare(open_profile(str(DATA / name))).tree
    rows = group_rows(work_places(tree), by)
    whole = sum_of(row.work for row in rows)
    assert whole.time_ns == (whole_of(tree, TIME_NS) or 0)
    assert whole.count == (whole_of(tree, COUNT) or 0)
    assert sum(sum(row.time_ns) for row in rows) == whole.time_ns
    if by != "kernel" and name.startswith("training"):
        assert whole.cpu_ns == whole_of(tree, CPU_TIME_NS)
        assert sum(sum(row.cpu_ns) for row in rows) == whole.cpu_ns


def test_time_of_a_scope_between_operators_counts_outside_of_operators() -> None:
    step = tree_of_kinds(
        [
            (0, "r", "ROOT", {}),
            (1, "s", "step", {CPU_TIME_NS: 500}),
            (2, "m", "net", {}),
            (3, "o", "aten::mul", cpu(100)),
            (4, "b", "<backward>", {}),
            (5, "o", "MulBackward0", cpu(200)),
        ]
    )
    rows = {row.name: row.cpu_ns for row in group_rows(work_places(step), "op")}
    assert rows == {"": (200, 0, 0), "aten::mul": (100, 200, 0)}
    assert sum(map(sum, rows.values())) == whole_of(step, CPU_TIME_NS)


def test_only_rows_that_are_kept_count() -> None:
    mask = bytearray(len(STEP))
    mask[4] = 1
    assert sum_of(work_places(STEP, mask).values()) == Work(time_ns=5, count=2)


def test_rows_as_objects_have_shares_of_gpu_time_and_the_times_of_each_pass() -> None:
    entries = group_entries(group_rows(work_places(STEP), "op"))
    mul = next(each for each in entries if each["time_ns"] == 12)
    assert mul["share"] == 12 / 16
    assert (mul["forward_ns"], mul["backward_ns"], mul["recompute_ns"]) == (5, 7, 0)
    assert sum(float(str(each["share"])) for each in entries) == 1


def test_work_as_an_object_has_times_and_counts() -> None:
    assert work_entry(Work(time_ns=5, count=2, cpu_ns=10, calls=3)) == {
        "time_ns": 5,
        "kernels": 2,
        "cpu_ns": 10,
        "calls": 3,
    }
