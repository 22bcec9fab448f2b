"""Typed access to the fields of an object from a file; all of them are optional."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proton.errors import FormatError
from proton.files.checks import is_integer, is_plain, is_text, short


class Fields:
    """An object from outside, called `place` in messages; a missing field is empty or None."""

    def __init__(self, source: str, place: str, fields: Mapping[str, Any]) -> None:
        self._source = source
        self._place = place
        self._fields = fields

    def wrong(self, key: str, wanted: str) -> FormatError:
        """The error for a field that is not what was `wanted`."""
        value = self._fields.get(key)
        return FormatError(
            f"{self._source}: {self._place}.{key} must be {wanted}, not {short(value)}"
        )

    def text(self, key: str) -> str:
        """A text, or ""."""
        value = self._fields.get(key)
        if value is None:
            return ""
        if not is_text(value):
            raise self.wrong(key, "text")
        return str(value)

    def integer(self, key: str) -> int | None:
        """An integer, or None."""
        value = self._fields.get(key)
        if value is not None and not is_integer(value):
            raise self.wrong(key, "an integer")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.listed(key, "a list of texts")
        if not all(map(is_text, values)):
            raise self.wrong(key, "a list of texts")
        return tuple(values)

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of integers."""
        values = self.listed(key, "a list of integers")
        if not all(map(is_integer, values)):
            raise self.wrong(key, "a list of integers")
        return tuple(values)

    def records(self, key: str) -> tuple[dict[str, Any], ...]:
        """A list of objects that hold only plain values."""
        values = self.listed(key, "a list of objects")
        if not all(type(value) is dict and is_plain(value) for value in values):
            raise self.wrong(key, "a list of objects")
        return tuple(values)

    def mapping(self, key: str) -> dict[str, Any]:
        """An object with texts as keys."""
        value = self._fields.get(key)
        if value is None:
            return {}
        if type(value) is not dict or not all(map(is_text, value)):
            raise self.wrong(key, "an object")
        return value

    def listed(self, key: str, wanted: str) -> list[Any]:
        """A list of anything; `wanted` says in a message what it should hold."""
        value = self._fields.get(key)
        if value is None:
            return []
        if type(value) is not list:
            raise self.wrong(key, wanted)
        return value
