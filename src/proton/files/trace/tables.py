"""What spans of a chrome trace have besides, as columns of the `proton` key, both ways.

Launch attributes, and what launches are called: on the events themselves they would be half of the
file, and other viewers show little of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_text, read_attributes, short
from proton.model.metric import EMPTY, Metrics, MetricValue
from proton.model.span_table import Look
from proton.model.trace import SpanKind

TABLES_KEY = "spans"
# Spans that have a row, by the word of their category.
WITH_ROW = {SpanKind.KERNEL, SpanKind.COPY, SpanKind.GRAPH, SpanKind.LAUNCH}
_CATEGORIES = {kind.value for kind in WITH_ROW}


class Row(NamedTuple):
    """What the tables say of a span; only launches have a name there."""

    attributes: Metrics = EMPTY
    name: str | None = None


class SpanTables:
    """Collects the rows of spans, in the order of the file, for writing."""

    def __init__(self) -> None:
        self._attributes: dict[tuple[tuple[str, MetricValue], ...], int] = {(): 0}
        self._attributes_of: list[int] = []
        self._known: dict[int, int] = {}  # by id: looks last as long as this
        self._names: dict[str, int] = {}
        self._names_of: list[int] = []

    def add(self, look: Look) -> None:
        """Note the next span, whose kind is one of `WITH_ROW`."""
        attributes = look.attributes
        if (number := self._known.get(id(attributes))) is None:
            content = tuple(attributes.items())
            number = self._attributes.setdefault(content, len(self._attributes))
            self._known[id(attributes)] = number
        self._attributes_of.append(number)
        if look.kind is SpanKind.LAUNCH:
            self._names_of.append(self._names.setdefault(look.name, len(self._names)))

    def to_object(self) -> dict[str, Any]:
        """The tables as they stand in a file; nothing where no span has a row."""
        if not self._attributes_of:
            return {}
        tables = {
            "attributes": [dict(content) for content in self._attributes if content],
            "attributes_of": self._attributes_of,
            "names": list(self._names),
            "names_of": self._names_of,
        }
        return {TABLES_KEY: tables}


def has_row(event: Any) -> bool:
    """Whether an event of a file of ours is a span with a row."""
    if type(event) is not dict or event.get("ph") != "X":
        return False
    category = event.get("cat")
    return type(category) is str and category in _CATEGORIES


class ReadTables(NamedTuple):
    """The tables of a file: what numbers of attributes and names stand for, and those of spans."""

    attributes: Sequence[Metrics]
    names: Sequence[str]
    attributes_of: Sequence[int]  # by span with a row
    names_of: Sequence[int]  # by launch


def read_rows(value: Any, events: Sequence[Any], source: str) -> Iterator[Row] | None:
    """A row for each event for which `has_row` holds; None where the events are others by now.

    Raises:
        FormatError: The tables are not as the format says.
    """
    tables = read_tables(value, source)
    launches = [event["cat"] == SpanKind.LAUNCH.value for event in events if has_row(event)]
    if len(launches) != len(tables.attributes_of) or sum(launches) != len(tables.names_of):
        return None
    name_of = iter(tables.names_of)
    return (
        Row(tables.attributes[number], tables.names[next(name_of)] if is_launch else None)
        for number, is_launch in zip(tables.attributes_of, launches, strict=True)
    )


def read_tables(value: Any, source: str) -> ReadTables:
    """The tables in a file.

    Raises:
        FormatError: They are not as the format says.
    """
    if type(value) is not dict:
        raise _fault(source, "must be an object", value)
    sets, names = value.get("attributes"), value.get("names")
    if type(sets) is not list or not all(type(one) is dict for one in sets):
        raise _fault(source, "must have attributes that are a list of objects", sets)
    if type(names) is not list or not all(map(is_text, names)):
        raise _fault(source, "must have names that are a list of texts", names)
    attributes_of = _column(value, "attributes_of", len(sets) + 1, source)
    names_of = _column(value, "names_of", len(names), source)
    return ReadTables([EMPTY, *map(read_attributes, sets)], names, attributes_of, names_of)


def _column(value: dict[str, Any], key: str, size: int, source: str) -> list[int]:
    numbers = value.get(key)
    if type(numbers) is not list or not all(map(is_integer, numbers)):
        raise _fault(source, f"must have {key} that is a list of numbers", numbers)
    if numbers and not 0 <= min(numbers) <= max(numbers) < size:
        raise _fault(source, f"must have {key} below {size}", max(numbers))
    return numbers


def _fault(source: str, what: str, value: object) -> FormatError:
    return FormatError(f"{source}: proton.{TABLES_KEY} {what}, not {short(value)}")
