"""The table of kernels in a browser: order, selection, search, long tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Opened
from tests.support.model_steps import DEVICE, write_steps

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
        *("kernel", "time", "share", "n", "of peak", "could save", "bound by"),
        *("p50", "p99", "FLOP/s", "B/s", "avg", "min", "max"),
        *("grid", "block", "registers", "shared", "occupancy"),
    ]


def test_what_could_be_saved_is_seen_without_scrolling(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels", size=(1440, 900))
    table = opened.page.locator(".kernels-view .table").bounding_box()
    head = opened.page.locator(".kernels-view th", has_text="could save").bounding_box()
    assert table is not None
    assert head is not None
    assert head["x"] + head["width"] <= table["x"] + table["width"]


def test_columns_are_left_out_by_choice_and_the_address_keeps_it(
    open_report: Open, steps: Path
) -> None:
    opened = open_report(steps, hash="view=kernels")
    opened.page.click(".chooser summary")
    for title in ("p50", "p99"):
        opened.page.get_by_label(title, exact=True).uncheck()
    assert {"p50", "p99"}.isdisjoint(heads(opened))
    assert "zoom.kernels=-time.p50~p99" in opened.hash()
    assert opened.texts(".chooser summary") == ["Columns, 2 hidden"]
    sort(opened, "of peak")
    assert "zoom.kernels=-peak.p50~p99" in opened.hash()
    opened.page.reload()
    opened.page.wait_for_selector(".kernels-view th")
    assert "p50" not in heads(opened)
    opened.page.click(".chooser summary")
    opened.page.get_by_role("button", name="all", exact=True).click()
    assert "p50" in heads(opened)
    assert "p50" not in opened.hash()


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
        column = 1 + heads(opened).index("FLOP/s")
        rows = opened.texts(f".kernels-view tbody tr td:nth-child({column})")
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


SEEN = """() => [...document.querySelectorAll(".kernels-view tbody .label-text")].map((label) =>
  [...label.childNodes].map((piece) => piece.nodeType === 3 ? piece.data : "…").join(""))"""


@pytest.mark.parametrize("width", [900, 1440, 1920])
def test_different_kernels_have_different_labels(width: int, open_report: Open) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=kernels", size=(width, 1300))
    labels = opened.page.evaluate(SEEN)
    assert len(labels) > 40
    assert len(set(labels)) == len(labels)
    names = opened.page.locator(".kernels-view tbody td:first-child")
    ends = [
        names.nth(at).evaluate("cell => cell.scrollWidth - cell.clientWidth") for at in range(20)
    ]
    assert max(ends) <= 0  # what is cut away is cut once


def test_the_column_of_names_can_be_dragged(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels")
    head = opened.page.locator(".kernels-view th").first
    before = head.bounding_box()
    assert before is not None
    edge, middle = before["x"] + before["width"] - 3, before["y"] + before["height"] / 2
    opened.page.mouse.move(edge, middle)
    opened.page.mouse.down()
    opened.page.mouse.move(edge - 120, middle, steps=4)
    opened.page.mouse.up()
    after = head.bounding_box()
    assert after is not None
    assert after["width"] == pytest.approx(before["width"] - 120, abs=3)


def test_a_column_has_one_unit(open_report: Open) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=kernels")
    for at, title in enumerate(heads(opened), 1):
        cells = opened.texts(f".kernels-view tbody td:nth-child({at}) .num .unit")
        assert len(set(cells)) <= 1, title


def test_without_a_selection_the_view_has_all_the_room(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=kernels")
    assert opened.page.locator(".details").count() == 0
    opened.page.click("text=flash_fwd")
    assert opened.page.locator(".details").is_visible()


def test_a_trace_has_a_histogram_of_a_kernels_runs(open_report: Open) -> None:
    opened = open_report("h200/gpt2.pftrace", hash="view=kernels")
    opened.page.locator(".kernels-view tbody tr").first.click()
    runs = opened.texts(".kernels-view tbody tr:first-child td:nth-child(4)")[0]
    assert opened.texts(".histogram figcaption")[0].startswith(f"{runs} runs in the trace")
    bars = opened.page.locator(".histogram .bin")
    assert bars.count() > 10
    bars.last.click()
    assert "sel=span:" in opened.hash()


def test_a_tree_has_none(open_report: Open) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=kernels")
    opened.page.locator(".kernels-view tbody tr").first.click()
    assert opened.page.locator(".details h2").count() == 1
    assert opened.page.locator(".histogram").count() == 0


def write_flops(path: Path) -> Path:
    """A kernel that gives its flops without their width, and its bytes."""
    kernel = {"time (ns)": 100_000, "count": 1, "flops": 1e9, "bytes": 2e8}
    root: dict[str, Any] = {
        "frame": {"name": "ROOT", "type": "function"},
        "metrics": dict.fromkeys(kernel, 0),
        "children": [
            {"frame": {"name": "mm", "type": "function"}, "metrics": kernel, "children": []}
        ],
    }
    path.write_text(json.dumps([root, {"CUDA": {"0": DEVICE}}]))
    return path


@pytest.mark.parametrize("view", ["summary", "kernels", "roofline"])
def test_a_least_share_of_peak_says_so_and_why(
    view: str, open_report: Open, tmp_path: Path
) -> None:
    path = write_flops(tmp_path / "flops.hatchet")
    opened = open_report(path, hash=f"view={view}&sel=kernel:mm", size=(1920, 900))
    (cell,) = opened.page.locator("#view td .num", has_text="\u2265").all()
    assert cell.get_attribute("title") == "flops without a width: no compute roof"
    pane = " ".join(opened.texts(".details section"))
    assert "of peak: at least so much, flops without a width: no compute roof" in pane


def test_a_share_of_peak_that_is_not_known_says_why(open_report: Open) -> None:
    opened = open_report("graph.hatchet", hash="view=roofline")
    opened.page.hover(".plot circle >> nth=0", force=True)
    assert "flops without a width: no compute roof" in opened.texts(".dot-card")[0]
