"""The page that `proton.show` puts into a notebook: it works in a frame, and cannot leave it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import proton
from tests.support.browser import Opened
from tests.web.conftest import DATA

_NOTEBOOK = "<!doctype html><title>notebook</title><p>cell</p>{}"


@pytest.fixture
def notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: object
) -> Callable[..., Path]:
    """`notebook("gpt.hatchet")`: a page with what `proton.show` displays in it."""
    shown: list[dict[str, str]] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(display)["display"] = lambda bundle, raw: shown.append(bundle)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)

    def write(*names: str) -> Path:
        proton.show(*(DATA / name for name in names), height=600)
        path = tmp_path / "notebook.html"
        path.write_text(_NOTEBOOK.format(shown[-1]["text/html"]))
        return path

    return write


def test_all_views_work_in_the_frame(
    notebook: Callable[..., Path], open_page: Callable[..., Opened]
) -> None:
    opened = open_page(notebook("gpt.hatchet"), wait="iframe")
    frame = opened.page.frame_locator("iframe")
    tabs = frame.locator("[role=tab]")
    tabs.first.wait_for()
    for at in range(tabs.count()):
        tabs.nth(at).click()
        assert frame.locator("#view .problem").count() == 0
    tabs.first.click()
    frame.locator("text=flash_fwd").first.click()
    assert frame.locator(".details h2").inner_text() == "flash_fwd"
    frame.locator("[aria-label='light or dark']").click()
    assert frame.locator("html").get_attribute("data-theme") == "dark"


def test_the_frame_has_an_origin_of_its_own(
    notebook: Callable[..., Path], open_page: Callable[..., Opened]
) -> None:
    opened = open_page(notebook("gpt.hatchet"), wait="iframe")
    opened.page.frame_locator("iframe").locator("[role=tab]").first.wait_for()
    inner = opened.page.frames[1]
    assert inner.evaluate("origin") == "null"
    reached = inner.evaluate(
        "() => { try { return parent.document.title } catch (error) { return error.name } }"
    )
    assert reached == "SecurityError"
