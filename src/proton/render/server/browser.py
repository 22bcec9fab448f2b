"""Opening a page in the browser of whoever sits at this machine."""

from __future__ import annotations

import os
import sys
import webbrowser


def has_browser() -> bool:
    """Whether there is a screen to open a browser on: not over SSH, not in a container."""
    if os.environ.get("SSH_CONNECTION") and not os.environ.get("DISPLAY"):
        return False
    if sys.platform in ("darwin", "win32") or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_in_browser(url: str) -> bool:
    """Open `url` where somebody can see it; whether that went well."""
    if not has_browser():
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
