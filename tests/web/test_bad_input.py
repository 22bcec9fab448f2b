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
        ("source", "The source view needs samples of instructions: record with"),
        ("diff", "The diff needs two profiles: proton report BEFORE AFTER"),
    ],
)
def test_a_view_that_the_profile_has_nothing_for_says_what_it_needs(
    view: str, line: str, open_report: Open
) -> None:
    opened = open_report("interpreter.hatchet", hash=f"view={view}")
    assert any(text.startswith(line) for text in opened.texts(".lines p"))
    assert opened.page.locator("[role=tab][aria-selected=true]").inner_text() == "Summary"
    opened.page.click("[role=tab] >> text=Flame")
    assert not any(text.startswith(line) for text in opened.texts(".lines p"))


def test_the_key_of_such_a_view_says_so_too(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet")
    opened.page.keyboard.press("4")
    assert opened.texts(".lines p")[-1].startswith("The timeline needs a trace")


def test_a_view_that_nobody_knows_is_the_first_one(open_report: Open) -> None:
    opened = open_report("interpreter.hatchet", hash="view=nonsense")
    assert opened.page.locator("[role=tab][aria-selected=true]").inner_text() == "Summary"
    assert opened.texts(".lines p") == []
