"""Signs of life on stderr while something takes long; nothing where stderr is no terminal.

One line that is overwritten and taken away at the end: it never ends up in a log or a pipe.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

Item = TypeVar("Item")

_SILENT_S = 0.5  # what is over sooner needs no sign
_EVERY_S = 0.1
_BAR = 24


def is_shown(out: TextIO | None) -> bool:
    """Whether somebody looks at `out` who can see a line change."""
    try:
        return out is not None and out.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


class Line:
    """The line that is overwritten."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._length = 0

    def show(self, text: str) -> None:
        """`text` in place of what stood there, cut to the width of the terminal."""
        text = text[: max(shutil.get_terminal_size().columns - 1, 1)]
        self._out.write(f"\r{text:<{self._length}}")
        self._out.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Take the line away."""
        if self._length:
            self._out.write(f"\r{'':<{self._length}}\r")
            self._out.flush()
            self._length = 0


def track(
    items: Iterable[Item], text: str, total: int, out: TextIO | None = None
) -> Iterator[Item]:
    """`items`, with a bar of how many of `total` are done."""
    out = sys.stderr if out is None else out
    if not is_shown(out):
        yield from items
        return
    line = Line(out)
    shown_at = time.monotonic() + _SILENT_S
    try:
        for done, item in enumerate(items):
            if (now := time.monotonic()) >= shown_at:
                filled = _BAR * done // max(total, 1)
                line.show(f"{text} [{'#' * filled:<{_BAR}}] {done} of {total}")
                shown_at = now + _EVERY_S
            yield item
    finally:
        line.clear()


@contextmanager
def busy(text: str, out: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Say `text` and for how long it has been going on, for work that cannot be counted.

    Yields what is called with another text when the work goes on with something else.
    """
    out = sys.stderr if out is None else out
    said = [text]
    if not is_shown(out):
        yield said.append
        return
    line = Line(out)
    started = time.monotonic()
    is_over = threading.Event()

    def tell() -> None:
        wait_s = _SILENT_S
        while not is_over.wait(wait_s):
            line.show(f"{said[-1]} ... {time.monotonic() - started:.1f} s")
            wait_s = _EVERY_S

    teller = threading.Thread(target=tell, name="proton-progress", daemon=True)
    try:
        teller.start()
    except RuntimeError:  # an interpreter that is about to end starts no thread
        line.show(f"{text} ...")
    try:
        yield said.append
    finally:
        is_over.set()
        if teller.ident is not None:
            teller.join()
        line.clear()
