from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.model.profile import TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS, Rank
from proton.render.page import ranks as ranks_module
from proton.render.page.ranks import ranks_part
from tests.support.page import ReadableColumns
from tests.support.pages import plain
from tests.support.profiles import profile_of

MERGED = prepare(
    replace(
        profile_of(
            [
                (0, "ROOT", {}),
                (1, "step", {}),
                (2, "k", {"time (ns)": 90, TIME_BY_RANK_NS: (10, 40, 40)}),
                (2, "l", {"time (ns)": 30, TIME_BY_RANK_NS: (0, 1, 29)}),
                (1, "k", {"time (ns)": 60, TIME_BY_RANK_NS: (50, 5, 5)}),
            ]
        ),
        ranks=(Rank(0, host="n0", time_ns=60), Rank(4, host="n1"), Rank(7)),
    )
)


def read(profile: TreeProfile, key: str) -> dict[str, Any]:
    columns = ReadableColumns()
    part = plain(ranks_part(profile, columns))
    return {
        name: columns.read(found) if isinstance(found, str) else found
        for name, found in part[key].items()
    }


def test_contexts_have_what_is_below_them_and_the_widest_spread_comes_first() -> None:
    found = read(MERGED, "contexts")
    assert found["at"] == [4, 1, 3, 0, 2]
    assert found["excess"] == [45, 28, 28, 14, 0]
    place = found["at"].index(1)
    spread = [found[key][place] for key in ("least", "median", "largest", "slowest")]
    assert spread == [10, 41, 69, 2]
    assert found["times"][3 * place : 3 * place + 3] == [10, 41, 69]


def test_kernels_are_added_up_over_their_contexts() -> None:
    part = plain(ranks_part(MERGED, ReadableColumns()))
    found = read(MERGED, "kernels")
    names = [part["names"][at] for at in found["at"]]
    assert names == ["l", "k"]
    place = names.index("k")
    assert found["times"][3 * place : 3 * place + 3] == [60, 45, 45]
    assert (found["median"][place], found["slowest"][place]) == (45, 0)


def test_ranks_are_described_with_the_spread_of_their_times() -> None:
    part = plain(ranks_part(MERGED, ReadableColumns()))
    assert [rank["rank"] for rank in part["ranks"]] == [0, 4, 7]
    assert part["ranks"][0]["host"] == "n0"
    assert part["times"] == {"least_ns": 60, "median_ns": 60, "largest_ns": 60, "slowest": 0}


def test_times_of_single_ranks_are_kept_where_ranks_differ_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranks_module, "MOST_TIMES", 7)
    monkeypatch.setattr(ranks_module, "MOST_ENTRIES", 4)
    found = read(MERGED, "contexts")
    assert len(found["times"]) == 6
    assert len(found["at"]) == 4
    assert found["left_out"] == 1


def test_a_profile_of_one_process_has_no_such_part() -> None:
    assert ranks_part(replace(MERGED, ranks=()), ReadableColumns()) is None
    plain = prepare(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 1})]))
    assert ranks_part(replace(plain, ranks=(Rank(0),)), ReadableColumns()) is None
