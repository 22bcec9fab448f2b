"""Tests of the signs of life."""

from __future__ import annotations

import io
import time

import pytest

from proton.cli import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SILENT_S", 0.0)
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")


def test_nothing_is_said_where_nobody_looks() -> None:
    out = io.StringIO()
    assert list(progress.track(iter("ab"), "merging", 2, out)) == ["a", "b"]
    with progress.busy("reading", out):
        pass
    assert out.getvalue() == ""


def test_a_bar_grows_within_the_width_and_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out = Terminal()
    assert list(progress.track(iter("ab"), "merging", 2, out)) == ["a", "b"]
    shown = [text for text in out.getvalue().split("\r") if text.strip()]
    assert shown[0] == "merging [          "
    assert shown[1].startswith("merging [##########")
    assert out.getvalue().endswith("\r")
    assert max(map(len, shown)) == 19


def test_work_that_cannot_be_counted_says_how_long_it_has_taken() -> None:
    out = Terminal()
    limit = time.monotonic() + 10
    with progress.busy("reading", out):
        while "reading ... " not in out.getvalue():
            assert time.monotonic() < limit
    assert out.getvalue().endswith("\r")


def test_where_no_thread_can_start_the_text_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr("threading.Thread.start", refuse)
    out = Terminal()
    with progress.busy("writing", out):
        assert out.getvalue() == "\rwriting ..."
    assert out.getvalue().endswith("\r")


def test_a_closed_or_missing_stream_shows_nothing() -> None:
    closed = io.StringIO()
    closed.close()
    assert not progress.is_shown(None)
    assert not progress.is_shown(closed)
    assert progress.is_shown(Terminal())


def test_work_that_goes_on_with_something_else_says_so() -> None:
    out = Terminal()
    limit = time.monotonic() + 10
    with progress.busy("reading", out) as tell:
        tell("packing")
        while "packing ... " not in out.getvalue():
            assert time.monotonic() < limit
    with progress.busy("reading", io.StringIO()) as tell:
        tell("nobody looks")
