"""What identifies the source files of a profile, so that a reader knows whether they changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

LARGEST_BYTES = 16 << 20  # nobody writes a larger source; a device file has no end


def identify(paths: Iterable[str]) -> dict[str, dict[str, str | int]]:
    """Path -> `sha256` and `size` of each file that is there and can be read; others are left out.

    A relative path is one of the folder that is current now.
    """
    found: dict[str, dict[str, str | int]] = {}
    for path in dict.fromkeys(paths):
        content = _read(path)
        if content is not None:
            found[path] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    return found


def _read(path: str) -> bytes | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_BYTES:
            return None
        with open(path, "rb") as file:
            return file.read(LARGEST_BYTES)
    except (OSError, ValueError):  # ValueError: a NUL in it
        return None
