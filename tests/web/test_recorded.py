"""Real recordings of an H200: what somebody learns from the page in half a minute."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.browser import Opened

Open = Callable[..., Opened]
Picture = Callable[[Opened, str], None]


def test_the_first_screen_of_a_training_run_says_what_is_slow_and_where(
    open_report: Open, picture: Picture
) -> None:
    opened = open_report("h200/gpt2.hatchet", size=(1180, 470))
    figures = dict(zip(opened.texts(".figure span"), opened.texts(".figure strong"), strict=True))
    assert figures["total GPU"] == "1\u202f925\u00a0ms"
    assert figures["kernel runs"] == "36\u202f520"
    assert opened.texts(".where .label") == ["backward", "forward", "optimizer"]
    assert opened.texts("header .good") == ["✓ nothing lost"]
    first = opened.page.locator("table.kernels tbody tr").first
    assert first.locator("td.name").inner_text().startswith("sm80_xmma_gemm_f32f32")
    first.click()
    assert opened.texts(".details h2")[0].startswith("sm80_xmma_gemm_f32f32")
    picture(opened, "page")


def test_autotuned_kernels_say_how_far_they_are_from_the_peak(
    open_report: Open, picture: Picture
) -> None:
    opened = open_report("h200/kernels.hatchet", size=(1240, 460))
    row = opened.page.locator("table.kernels tbody tr", has_text="matmul_4096").first
    cells = ["".join(cell.split()) for cell in row.locator("td").all_inner_texts()]
    assert "640TFLOP/s" in cells
    assert "64.7%" in cells
    row.click()
    picture(opened, "summary")


def test_a_trace_says_how_busy_the_device_was_and_why_it_waited(
    open_report: Open, picture: Picture
) -> None:
    opened = open_report("h200/gpt2.pftrace", hash="view=timeline", size=(1280, 520))
    opened.page.wait_for_selector("#view canvas")
    said = opened.page.inner_text("#view")
    assert "96.3\u00a0%" in said or "96.3 %" in said
    assert "launch latency" in said
    picture(opened, "training")


def test_the_same_in_the_dark(open_report: Open, picture: Picture) -> None:
    opened = open_report("h200/gpt2.hatchet", hash="view=flame", dark=True, size=(1280, 420))
    opened.page.wait_for_selector("#view canvas")
    picture(opened, "flame_dark")
