"""The table of kernels that a profile gives in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.model.device import INTERPRETED, Device
from proton.profile_table import table_of
from proton.render.text.kernel_list import SORTS, kernel_list
from tests.support.profiles import Row, profile_of

DATA = Path(__file__).parents[2] / "data"
ROWS: list[Row] = [
    (0, "ROOT", {}),
    (1, "long", {"time (ns)": 9000, "count": 1}),
    (1, "often", {"time (ns)": 1000, "count": 5}),
]


def names(lines: list[str]) -> list[str]:
    start = next(at for at, line in enumerate(lines) if line.startswith("name"))
    return [line.split()[0] for line in lines[start + 1 :]]


def test_the_largest_comes_first_by_whatever_is_asked_for() -> None:
    profile = profile_of(ROWS)
    assert names(kernel_list(profile)) == ["long", "often"]
    assert names(kernel_list(profile, "self_cuda_time_total")) == ["long", "often"]
    assert names(kernel_list(profile, "count")) == ["often", "long"]


def test_what_is_left_out_is_counted() -> None:
    assert kernel_list(profile_of(ROWS), most=1)[-1] == "1 more"


@pytest.mark.parametrize(("row_limit", "shown"), [(None, 2), (-1, 2), (2, 2), (1, 1)])
def test_all_rows_can_be_asked_for_as_of_torch(row_limit: int | None, shown: int) -> None:
    lines = table_of(profile_of(ROWS), row_limit=row_limit).splitlines()
    assert sum(line.split()[:1] in (["long"], ["often"]) for line in lines) == shown


def test_no_rows_leave_the_number_of_them() -> None:
    assert table_of(profile_of(ROWS), row_limit=0).splitlines()[-1] == "2 more"


@pytest.mark.parametrize("row_limit", [-3, "a", 1.5, True])
def test_what_is_no_number_of_rows_is_refused(row_limit: Any) -> None:
    with pytest.raises(UsageError, match="is no number of rows; give 0 or more"):
        table_of(profile_of(ROWS), row_limit=row_limit)


def test_times_of_the_interpreter_say_so() -> None:
    profile = profile_of(ROWS, devices=[Device("CPU", "0", arch=INTERPRETED)])
    (titles,) = [line for line in kernel_list(profile) if line.startswith("name")]
    assert "time (interpreted) ns" in titles


@pytest.mark.parametrize("sort_by", SORTS)
def test_every_order_can_be_asked_for(sort_by: str) -> None:
    assert len(kernel_list(profile_of(ROWS), sort_by)) == 5


def test_an_unknown_order_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="unknown sort_by 'size'; choose one of 'avg_time'"):
        kernel_list(profile_of(ROWS), "size")


def test_a_profile_without_kernels_says_so() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "x", {"n": 1})]
    assert kernel_list(profile_of(rows))[-1] == "no kernel ran"


def test_a_profile_has_its_table() -> None:
    profile = open_profile(DATA / "h200/kernels.hatchet")
    text = profile.table(sort_by="p99_time", row_limit=3)
    assert text == table_of(profile, "p99_time", 3)
    lines = text.splitlines()
    assert lines[1].startswith("autotuning took 1 147 ms (99.6 %)")
    assert lines[4].startswith("sm80_xmma")
    assert lines[5].startswith("matmul_4096x4096x4096")
    assert "64.7" in lines[5]
    assert lines[-1] == "21 more"


def test_nothing_recorded_is_an_error() -> None:
    with pytest.raises(FormatError, match="nothing was recorded"):
        open_profile(DATA / "root_only.hatchet").table()
