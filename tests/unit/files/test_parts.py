"""Sets of `.part_N` files, by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.files.detect import find_parts, gap_warnings, part_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ["run.part_0.hatchet", "run.part_2.hatchet", "run.part_10.hatchet"]
    names += ["run.part_0.chrome_trace", "running.part_1.hatchet", "run.part_x.hatchet", "run.txt"]
    for name in names:
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("name", ["run.part_2.hatchet", "run.hatchet", "run"])
def test_a_set_is_found_by_part_and_by_base_name(folder: Path, name: str) -> None:
    names = {0: "run.part_0.hatchet", 2: "run.part_2.hatchet", 10: "run.part_10.hatchet"}
    assert find_parts(folder / name) == {phase: folder / name for phase, name in names.items()}


def test_parts_stand_in_the_order_of_their_numbers(folder: Path) -> None:
    assert list(find_parts(folder / "run.hatchet")) == [0, 2, 10]


def test_a_suffix_chooses_the_set(folder: Path) -> None:
    assert list(find_parts(folder / "run.chrome_trace")) == [0]


@pytest.mark.parametrize("name", ["other.hatchet", "run.txt", "missing/run.hatchet"])
def test_there_is_no_set_of_other_names(folder: Path, name: str) -> None:
    assert find_parts(folder / name) == {}


def test_a_name_with_dots_is_no_suffix(tmp_path: Path) -> None:
    (tmp_path / "v1.5.part_0.hatchet").touch()
    assert list(find_parts(tmp_path / "v1.5")) == [0]


def test_a_set_without_a_gap_needs_no_warning() -> None:
    assert gap_warnings([0, 1, 2]) == ()


def test_missing_parts_are_named() -> None:
    assert gap_warnings([1, 3]) == ("2 of 4 parts are missing: phase 0, 2",)


def test_many_missing_parts_are_counted() -> None:
    assert gap_warnings([0, 100]) == (
        "99 of 101 parts are missing: phase 1, 2, 3, 4, 5, 6, 7, 8, ...",
    )


def test_a_part_with_an_enormous_number_costs_nothing() -> None:
    (warning,) = gap_warnings([0, 10**17])
    assert warning.startswith("99999999999999999 of 100000000000000001 parts are missing: phase 1,")


def test_the_name_of_a_part_has_a_stem_and_a_phase() -> None:
    assert part_name(Path("a/run.part_12.hatchet")) == ("run", 12)
    with pytest.raises(ValueError, match="not named like a part"):
        part_name(Path("run.hatchet"))
