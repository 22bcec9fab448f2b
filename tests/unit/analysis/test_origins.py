"""Rows of compiled kernels joined with the lines they come from, and time shared out over lines."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.origins.join_rows import FoundOrigins, origins_by_name, origins_of_rows
from proton.analysis.origins.line_times import kernel_times, line_times
from proton.model.frame import Frame
from tests.support.origins import (
    ALONE,
    EQUAL,
    FUSED,
    MUL,
    RELU,
    SUM,
    WRAPPER,
    compiled_profile,
)
from tests.support.profiles import profile_of


def test_rows_find_their_origins_by_name_and_generated_file() -> None:
    assert origins_of_rows(compiled_profile()) == {
        1: FoundOrigins((RELU, MUL)),
        3: FoundOrigins((SUM,)),  # told apart by the frame above
        4: FoundOrigins((MUL,)),  # a library's kernel, by the line of the call
        5: FoundOrigins((SUM, RELU), is_united=True, is_partial=True),
    }


def test_frames_of_traces_are_known_by_their_names() -> None:
    profile = compiled_profile()
    frames = list(profile.tree.frames)
    frames[2] = Frame(f"/elsewhere{WRAPPER}:90@call")
    found = origins_of_rows(replace(profile, tree=replace(profile.tree, frames=frames)))
    assert (found[3].lines, found[4].lines) == ((SUM,), (MUL,))


def test_another_line_of_the_generated_file_is_another_call() -> None:
    profile = compiled_profile()
    frames = list(profile.tree.frames)
    frames[2] = Frame(f"{WRAPPER}:91@call")
    assert 4 not in origins_of_rows(replace(profile, tree=replace(profile.tree, frames=frames)))


def test_a_profile_without_origins_has_none() -> None:
    assert origins_of_rows(replace(compiled_profile(), origins=())) == {}
    assert kernel_times(profile_of([(0, "ROOT", {})])) == []


def test_times_are_summed_by_kernel_and_lines() -> None:
    kernels = kernel_times(compiled_profile())
    assert [(each.kernel, each.time_ns, each.is_divided) for each in kernels] == [
        (FUSED, 600, True),
        (ALONE, 500, False),
        (EQUAL, 300, False),
        (EQUAL, 100, True),
    ]


def test_lines_get_equal_shares_and_all_of_the_time() -> None:
    kernels = kernel_times(compiled_profile())
    lines = line_times(kernels)
    assert [(each.line.line, each.time_ns, each.is_divided, each.kernels) for each in lines] == [
        (13, 800, True, 2),
        (3, 350, True, 1),
        (12, 350, True, 2),
    ]
    assert sum(each.time_ns for each in lines) == sum(each.time_ns for each in kernels)


def test_a_name_has_the_lines_of_all_its_contexts() -> None:
    found = origins_by_name(compiled_profile())
    assert found[EQUAL] == FoundOrigins((SUM, RELU), is_united=True, is_partial=True)
    assert found[FUSED] == FoundOrigins((RELU, MUL))
