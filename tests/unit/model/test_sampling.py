from __future__ import annotations

from proton.model.sampling import NO_LINE, Sampling
from tests.support.sampling import SAMPLING


def test_a_stack_goes_from_the_innermost_line_to_the_user_s() -> None:
    assert list(SAMPLING.stack(2)) == [2, 1]


def test_no_line_has_no_stack() -> None:
    assert list(SAMPLING.stack(NO_LINE)) == []


def test_an_empty_sampling_knows_nothing_and_says_so_with_none() -> None:
    empty = Sampling()
    assert (empty.samples, empty.period_cycles, empty.dropped) == (None, None, None)
    assert (empty.kernels, empty.lines, dict(empty.files)) == ((), (), {})
