"""Tests of the ranks in files."""

from __future__ import annotations

from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.ranks import ranks_object, read_ranks
from proton.model.ranks import Rank


def test_ranks_read_back_as_they_were() -> None:
    ranks = (Rank(0), Rank(3, "a.hatchet", "n1", 17, "NVIDIA H200", 5.5, 2, 1))
    assert read_ranks(ranks_object(ranks), "x") == ranks
    assert read_ranks(None, "x") == ()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "proton.ranks must be a list"),
        ([3], r"proton.ranks\[0\] must be an object, not 3"),
        ([{}], r"proton.ranks\[0\].rank must be an integer"),
        ([{"rank": 0, "time_ns": "x"}], r"proton.ranks\[0\].time_ns must be a number, not 'x'"),
    ],
)
def test_what_is_no_rank_is_refused(found: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read_ranks(found, "x")
