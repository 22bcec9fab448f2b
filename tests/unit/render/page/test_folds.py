from __future__ import annotations

from proton.analysis.prepare import prepare
from proton.render.page.folds import folds_part, library_part
from tests.support.page import ReadableColumns
from tests.support.profiles import profile_of


def test_numbered_siblings_are_one_group() -> None:
    rows: list[tuple[int, str, dict[str, int]]] = [(0, "ROOT", {})]
    for step in range(3):
        rows += [(1, f"step_{step}", {}), (2, "k", {"time (ns)": 1})]
    columns = ReadableColumns()
    part = folds_part(prepare(profile_of(rows)), columns)
    assert part is not None
    assert columns.read(part.group) == [0, 1, 2, 1, 2, 1, 2]
    assert part.titles == {"1": "step_*"}


def test_a_profile_without_loops_has_no_such_part() -> None:
    profile = prepare(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 1})]))
    assert folds_part(profile, ReadableColumns()) is None


def test_frames_of_libraries_are_in_the_group_of_what_is_above_them() -> None:
    rows: list[tuple[int, str, dict[str, int]]] = [(0, "ROOT", {})]
    for step in range(3):
        rows += [
            (1, f"step_{step}", {}),
            (2, "site-packages/a.py:1@f", {}),
            (3, "k", {"time (ns)": 1}),
        ]
    columns = ReadableColumns()
    part = library_part(prepare(profile_of(rows)), columns)
    assert part is not None
    assert part.frames == 3
    assert columns.read(part.plain.group) == [0, 1, 1, 2, 3, 3, 4, 5, 5, 6]
    assert part.plain.titles == {}
    assert columns.read(part.folded.group) == [0, *[1, 1, 2] * 3]
    assert part.folded.titles == {"1": "step_*"}


def test_a_profile_without_frames_of_libraries_has_no_such_part() -> None:
    profile = prepare(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 1})]))
    assert library_part(profile, ReadableColumns()) is None
