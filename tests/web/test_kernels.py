"""The table of kernels in a browser: order, selection, search, long tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
from tests.support.model_steps import write_steps

Open = Callable[..., Opened]
MISSING = "\u2013"
NAMES = ".kernels-view tbody td:first-child"


def heads(opened: Opened) -> list[str]:
    return [title.rstrip("▾▴") for title in opened.texts(".kernels-view th")]


def sort(opened: Opened, title: str) -> None:
    column = f".kernels-view th:nth-child({1 + heads(opened).index(title)}) button"
    opened.page.click(column)


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    return write_steps(tmp_path / "gpt2.hatchet")


def test_every_column_that_was_recorded_is_there(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels")
    assert heads(opened) == [
        *("kernel", "time", "share", "n", "p50", "p99", "FLOP/s", "B/s", "of peak"),
        *("bound by", "could save", "avg", "min", "max"),
        *("grid", "block", "registers", "shared", "occupancy"),
    ]


def test_columns_of_which_nothing_is_known_are_left_out(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet", hash="view=kernels")
    assert {"p50", "of peak", "grid"}.isdisjoint(heads(opened))


def test_a_click_on_a_column_sorts_and_a_second_turns_it_around(
    open_report: Open, steps: Path
) -> None:
    opened = open_report(steps, hash="view=kernels")
    assert opened.texts(NAMES)[0] == "flash_bwd"
    sort(opened, "of peak")
    first, *_, last = opened.texts(NAMES)
    assert first == "gelu_kernel"
    assert last == "layer_norm_bwd"
    assert "zoom.kernels=-peak" in opened.hash()
    sort(opened, "of peak")
    assert opened.texts(NAMES)[0] == "layer_norm_bwd"
    sort(opened, "kernel")
    assert opened.texts(NAMES)[0] == "adamw_kernel"


def test_what_is_missing_stands_last_either_way(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels")
    for _ in range(2):
        sort(opened, "FLOP/s")
        rows = opened.texts(".kernels-view tbody tr td:nth-child(7)")
        assert rows[-1] == MISSING
        assert rows[0] != MISSING


def test_a_row_selects_in_all_views_and_arrows_go_on(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels")
    opened.page.click("text=flash_fwd")
    assert opened.texts(".details h2") == ["flash_fwd"]
    opened.page.keyboard.press("ArrowDown")
    assert opened.texts(".details h2") == ["adamw_kernel"]
    assert opened.texts(".kernels-view tr[aria-selected=true] td:first-child") == ["adamw_kernel"]


def test_a_search_leaves_what_fits(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels&search=flash")
    assert opened.texts(NAMES) == ["flash_bwd", "flash_fwd"]
    assert opened.texts(".kernels-view .toolbar")[0].startswith("2 of 10 kernels")


def test_a_long_table_draws_only_rows_that_are_seen(open_report: Open, tmp_path: Path) -> None:
    path = tmp_path / "many.hatchet"
    children = [
        {
            "frame": {"name": f"kernel_{at:05}"},
            "metrics": {"time (ns)": 20_000 - at, "count": 1},
            "children": [],
        }
        for at in range(10_000)
    ]
    root = {"frame": {"name": "ROOT"}, "metrics": {"time (ns)": 0, "count": 0}}
    path.write_text(json.dumps([{**root, "children": children}, {}]))
    opened = open_report(path, hash="view=kernels")
    rows = opened.page.locator(".kernels-view tbody tr[aria-rowindex]")
    assert rows.count() < 100
    opened.page.evaluate("document.querySelector('.kernels-view .table').scrollTop = 1e9")
    opened.page.wait_for_selector("text=kernel_09999")
    assert rows.count() < 100


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_the_page_never_scrolls_to_the_side(
    size: tuple[int, int], open_report: Open, steps: Path
) -> None:
    assert not open_report(steps, hash="view=kernels", size=size).is_cut()


def test_its_picture_for_the_documentation_is_small(
    open_report: Open, steps: Path, picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report(steps, hash="view=kernels", size=(1280, 560))
    opened.page.click("text=layer_norm_bwd")
    picture(opened, "kernels")
