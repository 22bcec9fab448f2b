"""Tables are taken along: copied as text, saved as CSV, with names and numbers in full."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened

Open = Callable[..., Opened]
SOURCES = {
    "summary": ("h200/kernels.hatchet",),
    "kernels": ("h200/gpt2.hatchet",),
    "modules": ("training.hatchet",),
    "roofline": ("h200/kernels.hatchet",),
    "autotune": ("h200/kernels.hatchet",),
    "inkernel": ("in_kernel.hatchet",),
    "diff": ("gpt.hatchet", "gpt.hatchet_msgpack"),
}


def save(opened: Opened, path: Path, at: int = 0) -> list[list[str]]:
    with opened.page.expect_download() as download:
        opened.page.locator(".export button", has_text="CSV").nth(at).click()
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".csv")
    return list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))


@pytest.mark.parametrize("view", SOURCES)
def test_every_table_has_its_buttons_and_its_file(
    view: str, open_report: Open, tmp_path: Path
) -> None:
    opened = open_report(*SOURCES[view], hash=f"view={view}")
    tables = opened.page.locator("#view table")
    assert opened.page.locator(".export").count() == tables.count() > 0
    for at in range(tables.count()):
        head, *rows = save(opened, tmp_path / "table.csv", at)
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        assert not any("…" in cell or "\u202f" in cell for row in rows for cell in row)


def test_a_file_has_whole_names_and_raw_numbers(open_report: Open, tmp_path: Path) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=kernels", size=(900, 600))
    head, *rows = save(opened, tmp_path / "kernels.csv")
    assert head[:3] == ["kernel", "time (ns)", "share (%)"]
    assert len(rows) == 49
    assert rows[0][0].endswith("_execute_kernel__5x_cublas")
    assert float(rows[0][1]) > 3e8
    assert any(row[0].startswith("void at::native::") for row in rows)


def test_copying_asks_nobody_and_gives_what_is_shown(open_report: Open) -> None:
    opened = open_report("h200/kernels.hatchet")
    opened.page.click(".export button:has-text('Copy')")
    opened.page.wait_for_selector(".export button:has-text('Copied')")
    opened.page.focus("#search")
    opened.page.keyboard.press("Control+V")
    pasted = opened.page.input_value("#search")  # one line, as fields have it
    assert pasted.startswith("top kernels\ttime\tshare\tn\t")
    assert "matmul_4096x4096x4096\t" in pasted
