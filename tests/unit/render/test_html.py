"""The page: the built file with the data in its place, or one line on how to build it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.errors import PageNotBuilt
from proton.render.page import html
from tests.support.pages import data_of


def test_data_goes_into_its_place() -> None:
    page = html.fill(f"<body>{html.PLACE}</body>", b"data")
    assert page.startswith("<body><script")
    assert page.endswith("</script></body>")
    assert data_of(page) == b"data"


def test_a_page_without_a_place_for_data_is_refused() -> None:
    with pytest.raises(PageNotBuilt, match="build it again"):
        html.fill("<body></body>", b"")


def test_an_installation_without_page_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(html, "files", lambda package: tmp_path)
    with pytest.raises(PageNotBuilt, match="make web") as caught:
        html.template()
    assert "\n" not in str(caught.value)
