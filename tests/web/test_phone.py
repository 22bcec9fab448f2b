"""Pages on a phone: everything can be reached, and a selection leaves the view in sight."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.browser import Opened

Open = Callable[..., Opened]
PHONE = (390, 844)
PROFILES = {
    "kernels": ("h200/kernels.hatchet",),
    "trace": ("h200/gpt2.pftrace",),
    "samples": ("sampled.hatchet",),
    "two": ("gpt.hatchet", "gpt.hatchet_msgpack"),
}


def is_inside(opened: Opened, selector: str) -> bool:
    """Whether all that fits is inside the window from left to right."""
    boxes = [one.bounding_box() for one in opened.page.locator(selector).all()]
    assert boxes
    return all(box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] for box in boxes)


@pytest.mark.parametrize("names", PROFILES.values(), ids=PROFILES)
def test_all_of_the_header_is_in_reach(names: tuple[str, ...], open_report: Open) -> None:
    opened = open_report(*names, size=PHONE)
    assert is_inside(opened, "header button, header select, header input, header h1:not(.unseen)")
    assert not opened.is_cut()


@pytest.mark.parametrize("view", ["summary", "kernels", "timeline", "flame"])
def test_the_pane_is_a_sheet_below_the_view(view: str, open_report: Open) -> None:
    opened = open_report("h200/gpt2.pftrace", hash=f"view={view}&sel=node:3", size=PHONE)
    opened.page.wait_for_selector(".details:not(.arriving) h2")
    shown, pane = (opened.page.locator(one).bounding_box() for one in ("#view", ".details"))
    assert shown
    assert pane
    assert shown["width"] == pane["width"] == PHONE[0]
    assert shown["height"] > 350
    assert pane["height"] > 200
    assert shown["y"] + shown["height"] <= pane["y"] + 1


def test_the_chosen_tab_is_in_sight(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "gpt.hatchet_msgpack", size=PHONE)
    assert is_inside(opened, "[role=tab][aria-selected=true]")
    opened.page.keyboard.press("1")
    assert is_inside(opened, "[role=tab][aria-selected=true]")


def test_the_switch_of_the_diff_is_whole(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "h200/kernels.hatchet", size=PHONE)
    assert is_inside(opened, ".diff-view .choice button")


def test_the_lanes_of_a_timeline_have_most_of_the_width(open_report: Open) -> None:
    opened = open_report("h200/gpt2.pftrace", hash="view=timeline", size=PHONE)
    lanes = opened.page.locator(".timeline-canvas canvas").bounding_box()
    overview = opened.page.locator(".timeline-map canvas").bounding_box()
    assert lanes is not None
    assert overview is not None
    assert lanes["width"] > 0.6 * PHONE[0]
    assert (lanes["x"], lanes["width"]) == (overview["x"], overview["width"])
    assert is_inside(opened, ".timeline-gutter button")
    assert "96.6 % busy" in opened.texts(".timeline-lane")[-1].replace("\u00a0", " ")
