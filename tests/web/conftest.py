"""Pages in a real browser: Debian's Chromium, driven by the package `playwright`.

Without browser, driver or built page these tests are skipped aloud; with PROTON_REQUIRE_WEB=1 they
fail instead. PROTON_SCREENSHOTS=1 writes the pictures of the documentation.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import Opened, Tabs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 150_000  # of a picture in the documentation
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]  # a GPU would only be emulated
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.web)


def find_browser() -> str:
    """The path of the browser; empty where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def _missing() -> str:
    """What these tests lack on this machine; empty where they can run."""
    if find_spec("playwright") is None:
        return "the package playwright is not installed (tools/requirements/test.txt)"
    if not find_browser():
        return "no Chromium is installed (apt-get install chromium)"
    from proton.errors import PageNotBuilt
    from proton.render.page.html import template

    try:
        template()
    except PageNotBuilt as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a module: as it runs an event loop, it must end with them."""
    if why := _missing():
        if os.environ.get("PROTON_REQUIRE_WEB") == "1":
            pytest.fail(f"PROTON_REQUIRE_WEB is set, but {why}")
        pytest.skip(f"PAGES ARE NOT TESTED: {why}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Tabs:
    """What opens pages in it."""
    return Tabs(browser)


@pytest.fixture
def open_page(tabs: Tabs) -> Iterator[Callable[..., Opened]]:
    """`open_page(path, hash="view=flame", size=(1280, 800), dark=False)` opens a file as a page.

    The test fails where the page has written an error or a warning to the console, unless it says
    `opened.problems.clear()`.
    """
    with tabs.closed_without_problems() as open_url:
        yield lambda path, **options: open_url(path.resolve().as_uri(), **options)


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """`report("gpt.hatchet", ...)` writes the page of recordings (of tests/data, or paths)."""

    def write(*sources: str | Path) -> Path:
        page = tmp_path / f"{Path(sources[0]).name}.html"
        if any(Path(source).is_absolute() for source in sources):
            _write_page(page, *sources)
            return page
        if sources not in _pages:
            _write_page(page, *sources)
            _pages[sources] = page.read_bytes()
        page.write_bytes(_pages[sources])
        return page

    return write


_pages: dict[tuple[str | Path, ...], bytes] = {}  # of tests/data, which never changes


def _write_page(page: Path, *sources: str | Path) -> None:
    from proton.cli import main

    assert main(["report", *(str(DATA / source) for source in sources), "-o", str(page)]) == 0


@pytest.fixture
def open_report(
    report: Callable[..., Path], open_page: Callable[..., Opened]
) -> Callable[..., Opened]:
    """`open_report("gpt.hatchet", hash="view=kernels")`: `report`, then `open_page`."""

    def open_one(*sources: str | Path, **options: Any) -> Opened:
        return open_page(report(*sources), **options)

    return open_one


@pytest.fixture
def picture() -> Callable[[Opened, str], None]:
    """`picture(opened, "summary")` writes docs/images/summary.png if PROTON_SCREENSHOTS=1."""

    def take(opened: Opened, name: str) -> None:
        content = opened.page.screenshot(animations="disabled")
        assert len(content) < MOST_BYTES, f"{name}: {len(content)} bytes"
        if os.environ.get("PROTON_SCREENSHOTS") == "1":
            IMAGES.mkdir(exist_ok=True)
            (IMAGES / f"{name}.png").write_bytes(content)

    return take
