"""The table of autotuning in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
from tests.support.model_steps import write_steps

Open = Callable[..., Opened]
CONFIGS = "table[aria-label=configurations]"


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    return write_steps(tmp_path / "gpt2.hatchet")


def test_the_winner_stands_on_top_and_a_sentence_says_by_how_much(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=autotune")
    (told,) = opened.texts(".told")
    assert told.startswith("BLOCK: 128, num_warps: 8 won with 52.3\u00a0µs, 17.0\u00a0% ahead")
    assert told.endswith("3 tried, 1 failed")
    assert opened.texts(f"{CONFIGS} tbody tr td:first-child") == ["#2 ★", "#1", "#3"]
    assert opened.texts(f"{CONFIGS} tr[aria-selected=true] td:first-child") == ["#2 ★"]


def test_a_configuration_that_failed_says_why(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=autotune")
    assert opened.texts(f"{CONFIGS} tr.failed .bad") == ["out of shared memory"]


def test_arguments_and_resources_are_columns_that_sort(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=autotune")
    heads = [title.rstrip("▾▴") for title in opened.texts(f"{CONFIGS} th")]
    assert heads == [
        *("tried", "BLOCK_M", "BLOCK_N", "warps", "stages", "time", "over winner"),
        *("registers", "spills", "shared"),
    ]
    opened.page.click(f"{CONFIGS} th button:text-is('BLOCK_M')")
    column = opened.texts(f"{CONFIGS} tbody tr td:nth-child(2)")
    assert column == sorted(column, key=int, reverse=True)


def test_a_run_shows_its_configurations_and_selects_its_context(
    open_report: Open, steps: Path
) -> None:
    opened = open_report(steps, hash="view=autotune")
    opened.page.click("text=attention_kernel")
    assert opened.texts(".details h2") == ["h.2"]
    assert "zoom.autotune=2." in opened.hash()
    opened.page.keyboard.press("ArrowUp")
    assert opened.texts(".details h2") == ["h.1"]


def test_a_search_finds_runs_by_kernel(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=autotune&search=attention")
    rows = opened.texts("table[aria-label='autotuning runs'] tbody tr td:first-child")
    assert len(rows) == 1
    assert rows[0].startswith("attention_kernel")


def test_without_autotuning_there_is_no_tab(open_report: Open) -> None:
    assert "Autotune" not in open_report("deep.hatchet").texts("[role=tab]:not(.without)")


def test_its_picture_for_the_documentation_is_small(
    open_report: Open, steps: Path, picture: Callable[[Opened, str], None]
) -> None:
    picture(open_report(steps, hash="view=autotune", size=(1280, 560)), "autotune")
