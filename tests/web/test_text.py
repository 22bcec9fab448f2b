"""Names and numbers are text: a search finds them, copying keeps them, in every view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proton.cli import main
from tests.support.browser import Opened
from tests.web.conftest import DATA

Open = Callable[..., Opened]
PROFILES = {
    "kernels": ("h200/kernels.hatchet",),
    "training": ("h200/gpt2.hatchet",),
    "trace": ("h200/gpt2.pftrace",),
    "samples": ("sampled.hatchet",),
    "in-kernel": ("in_kernel.hatchet",),
    "two": ("gpt.hatchet", "h200/kernels.hatchet"),
}

# Texts that somebody takes for one: each must be found as a whole. A canvas has none.
NOT_FOUND = """() => {
  const wanted = "td, th, dt, dd, h1, h2, h3, .num, .sure, .figure strong, .figure span, .label, " +
    ".contexts button, .path button, .side strong, code, .count";
  const texts = new Set();
  for (const each of document.querySelectorAll(wanted)) {
    const box = each.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || !each.checkVisibility()) continue;
    if (each.closest(".gap-row, svg")) continue;
    const isCode = each.tagName === "CODE"; // its blanks are its own, the text is behind a button
    const all = isCode ? each.lastChild.textContent : each.textContent.replace(/\\s+/g, " ");
    const text = all.trim();
    if (text !== "") texts.add(text);
  }
  const lost = [...texts].filter((text) => {
    getSelection().removeAllRanges();
    return !window.find(text, false, false, true);
  });
  getSelection().removeAllRanges();
  return [texts.size, lost];
}"""

# What copying a row of a table gives, and what its cells say.
COPIED = """() => [...document.querySelectorAll("tbody tr:not(.space)")].slice(0, 30).map((row) => {
  const range = document.createRange();
  range.selectNodeContents(row);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const copied = getSelection().toString();
  getSelection().removeAllRanges();
  const plain = (text) => text.replace(/\\s+/g, " ").trim();
  return [copied.split("\\t").map(plain), [...row.cells].map((cell) => plain(cell.textContent))];
})"""


def check_view(opened: Opened) -> int:
    """Fail where a text of the view that is shown is not found or not copied; returns how many."""
    many, lost = opened.page.evaluate(NOT_FOUND)
    assert lost == []
    for copied, cells in opened.page.evaluate(COPIED):
        assert copied == cells
    return int(many)


@pytest.mark.parametrize("names", PROFILES.values(), ids=PROFILES)
def test_every_text_of_every_view_is_found_and_copied(
    names: tuple[str, ...], open_report: Open
) -> None:
    opened = open_report(*names, hash="view=summary")
    first = opened.page.locator("table.kernels tbody tr").first
    if first.count():
        first.click()  # and the pane on the right
        opened.page.wait_for_selector(".details h2")
    tabs = opened.page.locator("[role=tab]:not(.without)")
    assert tabs.count() >= 3
    for at in range(tabs.count()):
        tabs.nth(at).click()
        assert check_view(opened) > 3, opened.texts("[role=tab][aria-selected=true]")


def test_ranks_too(tmp_path: Path, open_report: Open) -> None:
    merged = tmp_path / "merged.hatchet"
    parts = [str(DATA / f"train.part_{part}.hatchet") for part in (0, 1, 3)]
    assert main(["merge", *parts, "-o", str(merged)]) == 0
    opened = open_report(merged, hash="view=ranks")
    assert check_view(opened) > 10


def test_what_is_seen_is_what_a_ticket_gets(open_report: Open) -> None:
    opened = open_report("h200/kernels.hatchet", hash="autotuning=counted")
    for text in ("matmul_4096x4096x4096", "35.3 %", "407 ms", "35.3", "1 151 ms"):
        found = opened.page.evaluate("text => window.find(text, false, false, true)", text)
        assert found, text
    rows = ["\t".join(copied) for copied, _ in opened.page.evaluate(COPIED)]
    assert any(row.startswith("matmul_4096x4096x4096\t407 ms\t35.3 %\t") for row in rows)


def test_a_name_that_has_no_room_is_read_aloud_whole(open_report: Open) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=kernels", size=(900, 600))
    row = opened.page.locator(".kernels-view tbody tr").first
    assert "_execute_kernel__5x_cublas" in row.locator("td").first.aria_snapshot()
    assert "…" not in row.locator("td").first.aria_snapshot()
