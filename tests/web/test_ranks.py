"""The ranks view: the spread of a merged profile, as the terminal has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.spread import times_by_kernel
from proton.cli import main
from proton.files.detect import open_profile
from proton.model.ranks import TIME_BY_RANK_NS, spread_of
from tests.support.browser import Opened
from tests.support.profiles import tree_in
from tests.web.conftest import DATA

Open = Callable[..., Opened]
HASH = "view=ranks"
RANKS = 12
SLOW = 5  # this rank is slower everywhere
SLOW_FLASH = 7  # and this one in one kernel, by much


def scaled(node: dict[str, Any], rank: int) -> None:
    metrics = node["metrics"]
    if metrics.get("time (ns)"):
        factor = 1.3 if rank == SLOW else 1 + rank / 1000
        if rank == SLOW_FLASH and node["frame"]["name"] == "flash_fwd":
            factor = 2.0
        metrics["time (ns)"] = int(metrics["time (ns)"] * factor)
    for child in node["children"]:
        scaled(child, rank)


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    files = []
    for rank in range(RANKS):
        document = json.loads((DATA / "gpt.hatchet").read_text())
        document[0]["proton"] |= {"rank": rank, "host": f"node-{rank // 8}"}
        scaled(document[0], rank)
        files.append(tmp_path / f"rank{rank}.hatchet")
        files[-1].write_text(json.dumps(document))
    out = tmp_path / "merged.hatchet"
    assert main(["merge", *map(str, files), "-o", str(out)]) == 0
    return out


def table(opened: Opened) -> list[list[str]]:
    rows = opened.page.locator(".ranks-view tbody tr:not(.space)")
    return [
        ["".join(text.split()) for text in row.locator("td").all_inner_texts()]
        for row in rows.all()
    ]


def test_kernels_have_the_spread_that_the_analysis_finds(
    merged: Path, open_report: Open, picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report(merged, hash=HASH)
    tree = tree_in(open_profile(merged))
    spreads = {
        name: spread_of(times) for name, times in times_by_kernel(tree, TIME_BY_RANK_NS).items()
    }
    rows = {row[0]: row[1:] for row in table(opened)}
    assert set(rows) == set(spreads)
    for name, spread in spreads.items():
        shown = [float(text.removesuffix("µs")) for text in rows[name][:4]]
        wanted = [*spread[:3], spread.largest - spread.median]
        assert shown == pytest.approx([value / 1e3 for value in wanted], rel=6e-3)
        assert rows[name][4] == str(spread.slowest)
    assert table(opened)[0][0] == "flash_fwd"
    assert rows["flash_fwd"][4] == str(SLOW_FLASH)
    opened.page.click("td:has-text('flash_fwd')")
    picture(opened, "ranks")


def test_contexts_have_what_is_below_them(merged: Path, open_report: Open) -> None:
    opened = open_report(merged, hash=HASH)
    opened.page.click("text=Scopes and contexts")
    rows = table(opened)
    assert rows[0][0] == "everything"
    slowest = {row[0]: row[5] for row in rows}
    assert (slowest["everything"], slowest["optimizer"]) == (str(SLOW_FLASH), str(SLOW))
    opened.page.click("td:has-text('forward') >> nth=0")
    assert opened.texts(".details h2") == ["forward"]
    assert f"over {RANKS} ranks" in opened.page.inner_text(".details")
    assert opened.hash() == "#view=ranks&sel=node:1&zoom.ranks=contexts.rank.-excess"


def test_ranks_stand_by_number_or_the_slowest_first(merged: Path, open_report: Open) -> None:
    opened = open_report(merged, hash=HASH)
    assert opened.texts(".rank-strip small") == [str(rank) for rank in range(RANKS)]
    opened.page.click("text=Slowest first")
    assert opened.texts(".rank-strip small")[:2] == [str(SLOW_FLASH), str(SLOW)]
    opened.page.hover(".rank-strip span >> nth=0")
    assert "rank 7 on node-0" in opened.page.inner_text(".hover")


def test_ranks_without_kernels_show_their_scopes(tmp_path: Path, open_report: Open) -> None:
    files = []
    for rank in range(3):
        own = {"cpu_time (ns)": 1_000_000 * (rank + 1)}
        scope = {"frame": {"name": "load", "type": "function"}, "metrics": own, "children": []}
        root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [scope]}
        files.append(tmp_path / f"rank{rank}.hatchet")
        files[-1].write_text(json.dumps([root, {}]))
    out = tmp_path / "merged.hatchet"
    assert main(["merge", *map(str, files), "-o", str(out)]) == 0
    opened = open_report(out, hash=HASH)
    assert [row[0] for row in table(opened)] == ["load"]
    opened.page.click("th:has-text('median')")
    assert [row[0] for row in table(opened)] == ["load"]


def test_the_search_filters_the_table(merged: Path, open_report: Open) -> None:
    opened = open_report(merged, hash=f"{HASH}&search=adam")
    assert [row[0] for row in table(opened)] == ["adamw"]


def test_a_profile_of_one_process_has_no_such_view(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    assert "Ranks" not in opened.texts("[role=tab]:not(.without)")


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_nothing_is_cut_at_any_size(merged: Path, open_report: Open, size: tuple[int, int]) -> None:
    opened = open_report(merged, hash=HASH, size=size, dark=True)
    assert not opened.is_cut()
    box = opened.page.locator(".table").bounding_box()
    assert box is not None
    assert box["height"] > 150


def test_the_summary_says_that_it_is_a_sum_and_names_the_slowest(
    open_report: Open, merged: Path
) -> None:
    opened = open_report(merged)
    assert opened.texts(".figure span")[0] == f"total GPU, sum over {RANKS} ranks"
    (line,) = opened.texts(".slowest")
    assert f"slowest: rank {SLOW_FLASH}" in line
    assert "above the median rank" in line
    opened.page.click(".slowest button")
    assert opened.texts("[role=tab][aria-selected=true]") == ["Ranks"]


def test_a_red_cap_is_explained(open_report: Open, tmp_path: Path) -> None:
    files = []
    for rank in range(2):
        files.append(tmp_path / f"run.rank_{rank}.hatchet")
        files[-1].write_bytes((DATA / "gpt.hatchet").read_bytes())  # it lost three events
    merged = tmp_path / "merged.hatchet"
    assert main(["merge", *map(str, files), "-o", str(merged)]) == 0
    opened = open_report(merged, hash=HASH)
    assert opened.texts(".rank-lost") == ["red on top: all ranks lost events, 6 in all"]
