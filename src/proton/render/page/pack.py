"""The container of a page's data: JSON with binary columns behind it, compressed, as base64.

Layout before compression: the length of the JSON in bytes (u32, little-endian), the JSON in UTF-8,
zeros up to a multiple of 8, then the columns, each beginning at a multiple of 8. The key `columns`
of the JSON maps the id of a column to `[type, offset, length]`; offsets count from the first
column, lengths are elements.
"""

from __future__ import annotations

import base64
import json
import math
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar, cast

ALIGNMENT = 8
# Our name of an element type -> its letter in the standard library's arrays.
TYPES = {"f64": "d", "f32": "f", "u32": "I", "i32": "i", "u16": "H", "u8": "B"}
# Levels of compression: large data gets one that is many times as fast for a tenth in size.
_LEVEL, _FAST_LEVEL, _LARGE = 9, 1, 1 << 20

_Record = TypeVar("_Record")
ColumnId = str  # names a column of the container


class Columns:
    """Numbers that go to a page as binary columns."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.table: dict[ColumnId, tuple[str, int, int]] = {}
        self._size = 0

    def add(self, dtype: str, values: Iterable[float]) -> ColumnId:
        """The id of a new column with these values.

        Args:
            dtype: One of `TYPES`.
            values: Numbers of that type, or an array of it (any buffer of that element size).
        """
        content = values if isinstance(values, array) else array(TYPES[dtype], values)
        if content.typecode != TYPES[dtype]:
            raise TypeError(f"a column of {dtype} needs an array of {TYPES[dtype]!r}")
        if sys.byteorder == "big":
            content = content[:]
            content.byteswap()
        return self.add_bytes(dtype, content.tobytes(), len(content))

    def add_bytes(self, dtype: str, content: bytes, length: int) -> ColumnId:
        """The id of a new column of `length` elements that are little-endian bytes already."""
        name = str(len(self.table))
        self.table[name] = (dtype, self._size, length)
        padding = -len(content) % ALIGNMENT
        self.pieces += (content, bytes(padding))
        self._size += len(content) + padding
        return name


def record_of(record: type[_Record], source: object, **more: object) -> _Record:
    """A dataclass with the fields that `source` has under the same names; `more` are the rest."""
    names = [field.name for field in fields(cast(Any, record)) if field.name not in more]
    return record(**{name: getattr(source, name) for name in names}, **more)


def pack_page(head: object, columns: Columns) -> bytes:
    """The JSON of `head`, which holds the table of `columns`, and the columns behind it."""
    text = to_json(head)
    padding = -(4 + len(text)) % ALIGNMENT
    return b"".join((len(text).to_bytes(4, "little"), text, bytes(padding), *columns.pieces))


def compress(data: bytes) -> str:
    """`data` as it stands in the page: gzip without a date, then base64."""
    level = _LEVEL if len(data) < _LARGE else _FAST_LEVEL
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def to_json(value: object) -> bytes:
    """`value` as compact JSON; infinite numbers and NaN, which it cannot hold, become null."""
    encoder = json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
    )
    try:
        text = encoder.encode(value)
    except ValueError:  # rare, so that it is looked for only then
        text = encoder.encode(_finite(value))
    return text.encode("utf-8", "replace")


def _finite(value: object) -> object:
    """`value` with None in place of what is infinite or no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return _finite(_plain(value))


def _plain(value: object) -> object:
    """Dataclasses, enumerations, mappings and sequences as objects that JSON knows."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot go into a page")
