"""A page opened in a browser, and what it complained about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

LIMIT_MS = 10_000


@dataclass
class Opened:
    """An open page; `problems` are its errors, warnings and requests to the network."""

    page: Page
    problems: list[str] = field(default_factory=list)
    own: str = "file:"  # how addresses begin that it may ask for something
    is_fit_for_more: bool = True  # whether the next page may be opened where this one is

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

    def note_message(self, message: ConsoleMessage) -> None:
        """Keep what the page wrote to the console as an error or a warning."""
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def note_request(self, url: str) -> None:
        """Keep what the page asked others for."""
        if not url.startswith((self.own, "data:", "blob:")):
            self.problems.append(f"asked the network for {url}")


class Tabs:
    """Opens pages in one browser.

    A new tab costs a process, more than most tests do in it: the next page gets the tab of the
    last. Nothing can be left in it, as the page keeps nothing in its browser.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._spare: list[Opened] = []

    @contextmanager
    def closed_without_problems(self) -> Iterator[Callable[..., Opened]]:
        """`open_url`, whose pages close at the end, which fails where one complained."""
        pages: list[Opened] = []

        def open_one(url: str, **options: Any) -> Opened:
            pages.append(self._tab())
            open_url(pages[-1], url, **options)
            return pages[-1]

        yield open_one
        problems = [problem for each in pages for problem in each.problems]
        for each in pages:
            self._take_back(each)
        assert not problems, f"the page complained: {problems}"

    def _take_back(self, opened: Opened) -> None:
        if not opened.is_fit_for_more:
            opened.page.context.close()
            return
        opened.page.mouse.move(0, 0)  # the next page would find the pointer where it was
        opened.page.goto("about:blank")
        opened.problems.clear()
        self._spare.append(opened)

    def _tab(self) -> Opened:
        if self._spare:
            return self._spare.pop()
        page = self.browser.new_context(timezone_id="UTC").new_page()
        page.set_default_timeout(LIMIT_MS)
        opened = Opened(page)
        page.on("console", opened.note_message)
        page.on("pageerror", lambda error: opened.problems.append(str(error)))
        page.on("request", lambda request: opened.note_request(request.url))
        return opened


def open_url(
    opened: Opened,
    url: str,
    *,
    own: str = "file:",
    hash: str = "",
    size: tuple[int, int] = (1280, 800),
    dark: bool = False,
    before: str = "",
    wait: str = "[role=tab], p.problem",
) -> None:
    """Open a page; returns when it has drawn something.

    Args:
        opened: Where.
        url: Its address.
        own: How addresses begin that it may ask for something.
        hash: What to put behind `#`.
        size: Of the window.
        dark: Whether the reader prefers dark colours.
        before: A script that runs before the page's own.
        wait: What it has drawn by then.
    """
    opened.own = own
    opened.page.set_viewport_size({"width": size[0], "height": size[1]})
    opened.page.emulate_media(color_scheme="dark" if dark else "light")
    if before:
        opened.page.add_init_script(before)  # for good
        opened.is_fit_for_more = False
    opened.page.goto(url + (f"#{hash}" if hash else ""))
    opened.page.wait_for_selector(wait)
