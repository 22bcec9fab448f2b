"""A page opened in a browser, and what it complained about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIMIT_MS = 10_000


@dataclass
class Opened:
    """An open page; `problems` are its errors, warnings and requests to the network."""

    page: Page
    problems: list[str] = field(default_factory=list)

    def hash(self) -> str:
        """What stands behind `#` in the address, as soon as the page has written it."""
        self.page.wait_for_selector("html[data-address=current]")
        return str(self.page.evaluate("decodeURIComponent(location.hash.replaceAll('+', ' '))"))

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that fit, without blanks around them."""
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def words(self, selector: str) -> list[str]:
        """The same as they stand in the document, where the page lays one text out in pieces."""
        return [text.strip() for text in self.page.locator(selector).all_text_contents()]

    def is_cut(self, selector: str = "body") -> bool:
        """Whether something wider than the window makes it scroll to the side."""
        return bool(
            self.page.evaluate("s => document.querySelector(s).scrollWidth > innerWidth", selector)
        )


@contextmanager
def closed_without_problems() -> Iterator[list[Opened]]:
    """A list for the pages of a test: closed at its end, which fails where one complained."""
    opened: list[Opened] = []
    yield opened
    problems = [problem for each in opened for problem in each.problems]
    for each in opened:
        each.page.context.close()
    assert not problems, f"the page complained: {problems}"


def open_file(browser: Browser, path: Path, **options: Any) -> Opened:
    """Open `path` as a file, which asks the network for nothing; else like `open_url`."""
    return open_url(browser, path.resolve().as_uri(), **options)


def open_url(
    browser: Browser,
    url: str,
    *,
    own: str = "file:",
    hash: str = "",
    size: tuple[int, int] = (1280, 800),
    dark: bool = False,
    before: str = "",
    wait: str = "[role=tab], p.problem",
) -> Opened:
    """Open a page; returns when it has drawn something.

    Args:
        browser: Where.
        url: Its address.
        own: How addresses begin that it may ask for something.
        hash: What to put behind `#`.
        size: Of the window.
        dark: Whether the reader prefers dark colours.
        before: A script that runs before the page's own.
        wait: What it has drawn by then.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        timezone_id="UTC",
    )
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    opened = Opened(page)
    page.on(
        "console",
        lambda message: (
            opened.problems.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: opened.problems.append(str(error)))
    page.on("request", lambda request: _note_request(opened, request.url, own))
    if before:
        page.add_init_script(before)
    page.goto(url + (f"#{hash}" if hash else ""))
    page.wait_for_selector(wait)
    return opened


def _note_request(opened: Opened, url: str, own: str) -> None:
    if not url.startswith((own, "data:", "blob:")):
        opened.problems.append(f"asked the network for {url}")
