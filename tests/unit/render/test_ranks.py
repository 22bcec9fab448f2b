"""Tests of what views say of ranks."""

from __future__ import annotations

from dataclasses import replace

from proton.analysis.prepare import prepare
from proton.model.ranks import CPU_TIME_BY_RANK_NS, TIME_BY_RANK_NS, Rank
from proton.render.text.head import rank_lines
from proton.render.text.style import Style
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions, rank_words
from tests.support.profiles import profile_of

MERGED = replace(
    profile_of(
        [
            (0, "ROOT", {}),
            (1, "step", {}),
            (2, "k", {"time (ns)": 50_000_000, TIME_BY_RANK_NS: (10_000_000, 40_000_000)}),
            (2, "l", {"time (ns)": 30_000_000, TIME_BY_RANK_NS: (30_000_000, 0)}),
        ]
    ),
    ranks=(Rank(0, host="n0", time_ns=40_000_000), Rank(7, host="n1", time_ns=40_000_000)),
)


def test_a_line_tells_how_many_ranks_and_how_they_spread() -> None:
    assert rank_lines(MERGED) == [
        "2 ranks, values are summed over them; time of a rank: 40.0 ms to 40.0 ms, median 40.0 ms, "
        "slowest: rank 0 on n0"
    ]
    assert rank_lines(replace(MERGED, ranks=())) == []
    assert rank_words(replace(MERGED, ranks=())) == []


def test_the_tree_shows_the_spread_of_every_context() -> None:
    lines = view_lines(prepare(MERGED), ViewOptions(), Style())
    table = [line.split() for line in lines[3:]]
    assert table[0][::2][:4] == ["time", "rank_min", "rank_median", "rank_max"]
    assert table[1][:6] == ["80.000", "40.000", "40.000", "40.000", "0", "ROOT"]
    assert table[3][:5] == ["50.000", "10.000", "25.000", "40.000", "7"]


def test_columns_of_ranks_give_way_to_names_where_room_is_short() -> None:
    for width, spare in ((120, []), (90, ["rank_median"]), (80, ["rank_median", "rank_min"])):
        lines = view_lines(prepare(MERGED), ViewOptions(), Style(width=width))
        assert max(map(len, lines)) <= width
        titles = next(line for line in lines if line.startswith("time ms"))
        shown = [word for word in ("rank_min", "rank_median", "rank_max") if word in titles]
        assert shown == [
            word for word in ("rank_min", "rank_median", "rank_max") if word not in spare
        ]
        note = f"no room for {' and '.join(spare)}; -m shows what you name"
        assert (note in lines) is bool(spare)
    asked = ViewOptions(metrics=["time/ms", "rank_min/ms", "rank_median/ms", "rank_max/ms"])
    assert "rank_median" in "".join(view_lines(prepare(MERGED), asked, Style(width=60)))


def test_times_of_scopes_are_shown_in_a_unit_that_reads_well() -> None:
    rows = [(0, "ROOT", {}), (1, "s", {CPU_TIME_BY_RANK_NS: (1_500_000_000, 900_000_000)})]
    profile = replace(profile_of(rows), ranks=(Rank(0), Rank(1)))
    assert rank_words(profile)[0] == "rank_min/ms"


def test_a_difference_shows_no_ranks_unless_asked() -> None:
    plain = prepare(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]))
    lines = view_lines(prepare(MERGED), ViewOptions(), Style(), plain)
    assert not any("rank_min" in line for line in lines)
