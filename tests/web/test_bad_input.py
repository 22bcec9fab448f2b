"""What a page cannot show is one clear line in it; commands say theirs in tests/integration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.browser import Opened

Open = Callable[..., Opened]


@pytest.mark.parametrize(
    ("view", "line"),
    [
        ("timeline", "The timeline needs a trace, and this profile is a tree: record one with"),
        ("source", "The source view needs samples of instructions, or regions of kernels: record"),
        ("diff", "The diff needs two profiles: proton report BEFORE AFTER"),
    ],
)
def test_a_view_that_the_profile_has_nothing_for_says_what_it_needs(
    view: str, line: str, open_report: Open
) -> None:
    opened = open_report("interpreter.hatchet", hash=f"view={view}")
    (said,) = opened.texts("#view .needs")
    assert said.startswith(line)
    tab = opened.page.locator("[role=tab][aria-selected=true]")
    assert tab.get_attribute("id") == f"tab-{view}"
    assert "without" in (tab.get_attribute("class") or "")
    opened.page.click("[role=tab] >> text=Flame")
    assert opened.texts("#view .needs") == []


def test_the_key_of_such_a_view_says_so_too(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet")
    opened.page.keyboard.press("4")
    assert opened.texts("#view .needs")[0].startswith("The timeline needs a trace")


def test_every_view_has_a_tab_that_shows_its_key(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet")
    tabs = opened.page.locator("[role=tab]")
    keys = [str(tabs.nth(at).get_attribute("data-key")) for at in range(tabs.count())]
    assert keys == [*"123o456789r"]
    for at, key in enumerate(keys):
        opened.page.keyboard.press(key)
        assert tabs.nth(at).get_attribute("aria-selected") == "true"


def test_the_help_lists_a_key_once(open_report: Open) -> None:
    opened = open_report("h200/gpt2.pftrace", hash="view=timeline")
    opened.page.wait_for_selector("#view canvas")
    opened.page.keyboard.press("?")
    keys = [key for keys in opened.texts(".help kbd") for key in keys.split()]
    assert keys.count("d") == 1


def test_a_view_that_nobody_knows_is_the_first_one(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet", hash="view=nonsense")
    assert opened.page.locator("[role=tab][aria-selected=true]").inner_text() == "Summary"
    assert opened.texts(".lines p") == []
