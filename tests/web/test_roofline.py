"""The roofline in a browser: roofs, dots, what could be saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
from tests.support.model_steps import write_steps

Open = Callable[..., Opened]


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    return write_steps(tmp_path / "gpt2.hatchet")


def labels(opened: Opened, selector: str) -> list[str]:
    return [text.strip() for text in opened.page.locator(selector).all_text_contents()]


def test_roofs_are_those_of_the_device_by_precision(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    roofs = labels(opened, ".plot .roofs text")
    assert [roof.split()[0] for roof in roofs] == ["FP8", "FP16", "TF32", "FP32", "memory"]
    assert "989\u00a0TFLOP/s" in roofs[1]
    assert opened.page.locator(".roofs .used").count() == 2  # 16 bits and the memory


def test_every_kernel_is_a_dot_and_a_row(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    assert opened.page.locator(".plot circle").count() == 10
    assert opened.page.locator(".roofline-view tbody tr").count() == 10


def test_the_row_on_top_has_the_most_to_win(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    assert opened.texts(".roofline-view tbody tr td:first-child")[0] == "flash_bwd"
    assert "could be saved at best" in opened.texts(".toolbar")[0]


def test_the_pointer_tells_what_could_be_saved(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    opened.page.hover(".plot circle >> nth=0", force=True)  # the largest is drawn first
    (card,) = opened.texts(".hover")
    assert card.startswith("flash_bwd")
    assert "could be saved: at the roof it takes" in card
    assert opened.page.locator(".plot .distance").count() == 1


def test_a_dot_selects_its_kernel(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    opened.page.click(".plot circle >> nth=0", force=True, position={"x": 40, "y": 22})
    assert opened.texts(".details h2") == ["flash_bwd"]
    assert opened.page.locator(".plot circle.chosen").count() == 1
    opened.page.keyboard.press("ArrowDown")
    assert opened.texts(".details h2")[0].startswith("nvjet")


def test_kernels_with_bytes_only_stand_on_the_edge(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline")
    assert opened.page.locator(".plot circle[stroke-dasharray]").count() == 4
    assert "bytes only" in labels(opened, ".plot .axes text")


def test_dots_that_a_search_leaves_out_fade(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline&search=flash")
    assert opened.page.locator(".plot circle[stroke-opacity='1']").count() == 2


def test_a_device_of_unknown_peaks_says_so(open_report: Open) -> None:
    opened = open_report("proton_tree.hatchet", hash="view=roofline")
    assert "its peak rates are not known" in opened.texts(".toolbar")[0]


def test_without_declared_work_there_is_no_tab(open_report: Open) -> None:
    assert "Roofline" not in open_report("deep.hatchet").texts("[role=tab]:not(.without)")


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_labels_and_table_stay_inside(
    size: tuple[int, int], open_report: Open, steps: Path
) -> None:
    opened = open_report(steps, hash="view=roofline", size=size)
    assert not opened.is_cut()
    plot = opened.page.locator(".plot").bounding_box()
    assert plot is not None
    for label in opened.page.locator(".plot text").all():
        box = label.bounding_box()
        assert box is not None
        assert box["x"] >= plot["x"] - 1
        assert box["x"] + box["width"] <= plot["x"] + plot["width"] + 1


def test_its_picture_for_the_documentation_is_small(
    open_report: Open, steps: Path, picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report(steps, hash="view=roofline", size=(1280, 760))
    opened.page.hover(".plot circle >> nth=0", force=True)
    picture(opened, "roofline")


def test_no_number_of_the_table_is_cut(open_report: Open, steps: Path) -> None:
    opened = open_report(steps, hash="view=roofline", size=(1440, 900))
    cut = "e => [...e].filter(c => c.scrollWidth > c.clientWidth + 1).map(c => c.innerText)"
    assert opened.page.locator(".table td:not(.text)").evaluate_all(cut) == []
