"""Lines that kernels come from: joined by line, merged over phases and ranks, bounded."""

from __future__ import annotations

from dataclasses import replace

from proton.model.merge import merge_profiles
from proton.model.merge_ranks import RankMerger
from proton.model.origins import (
    MOST_LINES,
    MOST_NAMES,
    KernelOrigins,
    OriginLine,
    bounded,
    join_lines,
    merge_origins,
)
from tests.support.profiles import profile_of

RELU = OriginLine("model.py", 9, "forward", ("aten.relu",), ("relu",))
MUL = OriginLine("model.py", 10, "forward", ("aten.mul",), ("mul",))


def test_a_line_is_there_once_with_all_its_operators() -> None:
    again = replace(RELU, ops=("aten.le",), nodes=("le", "relu"), is_backward=True)
    assert join_lines([MUL, RELU, again]) == (
        OriginLine("model.py", 9, "forward", ("aten.relu", "aten.le"), ("relu", "le"), True),
        MUL,
    )


def test_names_of_a_line_are_bounded() -> None:
    many = replace(RELU, nodes=tuple(f"n{i}" for i in range(MOST_NAMES + 5)))
    (line,) = join_lines([many])
    assert len(line.nodes) == MOST_NAMES


def test_lines_beyond_the_most_are_counted() -> None:
    kept, left_out = bounded([replace(RELU, line=i + 1) for i in range(MOST_LINES + 3)])
    assert (len(kept), left_out) == (MOST_LINES, 3)


def test_kernels_of_two_wrappers_stay_apart() -> None:
    first, second = KernelOrigins("k", "a.py", 0, (RELU,)), KernelOrigins("k", "b.py", 0, (MUL,))
    assert merge_origins([(first,), (second, first)]) == (first, second)


def test_whole_origins_replace_partial_ones_in_either_order() -> None:
    whole = KernelOrigins("k", "a.py", 0, (RELU, MUL))
    partial = KernelOrigins("k", "a.py", 0, (MUL,), is_partial=True)
    assert merge_origins([(whole,), (partial,)]) == (whole,)
    assert merge_origins([(partial,), (whole,)]) == (whole,)


def test_lines_of_equal_standing_are_united() -> None:
    first, second = KernelOrigins("k", "a.py", 0, (MUL,)), KernelOrigins("k", "a.py", 0, (RELU,))
    assert merge_origins([(first,), (second,)]) == (KernelOrigins("k", "a.py", 0, (RELU, MUL)),)


def test_phases_and_ranks_bring_their_origins_together() -> None:
    one = replace(profile_of([(0, "ROOT", {})]), origins=(KernelOrigins("k", "a.py", 0, (RELU,)),))
    other = replace(profile_of([(0, "ROOT", {})]), origins=(KernelOrigins("m", "b.py", 0, (MUL,)),))
    both = (*one.origins, *other.origins)
    assert merge_profiles([one, other], "run").origins == both
    ranks = RankMerger()
    ranks.add(one, 0)
    ranks.add(other, 1)
    assert ranks.result("run").origins == both
