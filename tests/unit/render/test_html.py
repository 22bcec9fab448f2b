"""The page: the built file with the data in its place, or one line on how to build it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.errors import PageNotBuilt
from proton.render.page import html, page_data
from tests.support.pages import data_of
from tests.support.profiles import profile_of


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


def test_the_page_of_profiles_has_their_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "template", lambda: f"<body>{html.PLACE}</body>")
    profiles = [profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})])]
    assert data_of(html.page_of(profiles)) == page_data(profiles)
