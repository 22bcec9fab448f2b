"""Tests of opening a browser, and of not opening one where nobody would see it."""

from __future__ import annotations

import sys
import webbrowser

import pytest

from proton.render.server import browser


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A machine without a screen; what was opened on it."""
    found: list[str] = []
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")

    def note(url: str) -> bool:
        found.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    return found


def test_without_a_screen_nothing_is_opened(opened: list[str]) -> None:
    assert not browser.open_in_browser("http://127.0.0.1/")
    assert opened == []


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"])
def test_with_a_screen_the_browser_opens(
    name: str, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, ":0")
    assert browser.open_in_browser("http://127.0.0.1/")
    assert opened == ["http://127.0.0.1/"]


def test_a_mac_reached_over_ssh_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert browser.has_browser()
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    assert not browser.has_browser()


def test_a_browser_that_fails_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(url: str) -> bool:
        raise webbrowser.Error("no browser")

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", fail)
    assert not browser.open_in_browser("http://127.0.0.1/")
