"""Random profiles with impossible numbers and names: every view draws them without a complaint."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.test_viewer_fuzz import profile
from tests.support.browser import Opened


@pytest.mark.parametrize("seed", range(12))
def test_no_view_fails_on_numbers_that_cannot_be(
    seed: int, tmp_path: Path, open_page: Callable[..., Opened]
) -> None:
    from proton.render.page.html import page_of

    dice = random.Random(seed)
    count = 2 if seed % 3 == 2 else 1
    page = tmp_path / "page.html"
    page.write_text(page_of([profile(dice) for _ in range(count)]))
    opened = open_page(page)
    for tab in opened.page.locator("[role=tab]").all():
        tab.click()
        assert not [text for text in opened.texts("#view .problem") if "failed" in text]
    assert not opened.is_cut()
