"""Data of pages, read back without the code that wrote it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from collections.abc import Callable
from typing import Any

from proton.render.page.pack import to_json

_LETTERS = {"f64": "d", "f32": "f", "u32": "I", "i32": "i", "u16": "H", "u8": "B"}
_DATA = re.compile(r'<script type="application/octet-stream" id="proton-data">([^<]*)</script>')

ReadColumn = Callable[[str], list[Any]]


def unpack(data: bytes) -> tuple[dict[str, Any], ReadColumn]:
    """The JSON of a container, and what reads a column of it by its id."""
    (size,) = struct.unpack_from("<I", data)
    head: dict[str, Any] = json.loads(data[4 : 4 + size])
    base = (4 + size + 7) // 8 * 8

    def read(name: str) -> list[Any]:
        dtype, offset, length = head["columns"][name]
        return list(struct.unpack_from(f"<{length}{_LETTERS[dtype]}", data, base + offset))

    return head, read


def plain(part: object) -> Any:
    """A part of a page as the page gets it: plain objects, lists and numbers."""
    return json.loads(to_json(part))


def data_of(page: str) -> bytes:
    """The container in a page."""
    (text,) = _DATA.findall(page)
    return gzip.decompress(base64.b64decode(text))
