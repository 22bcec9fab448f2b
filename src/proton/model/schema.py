"""What dataclasses of the model say about their fields, and how they are written and merged.

A field's annotation carries a `Stored`: what the file calls it, what it means, which values are
refused and how two recordings of it become one. Writing is here, for both halves write; reading and
checking is `proton.files.encoding.codec`. `tools/schema.py` makes TypeScript types and tables of
`docs/reference/file-format.md` from the same fields.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

FORMAT_VERSION = 1  # of the `proton` key; readers take any smaller one

_Record = TypeVar("_Record")


class Merge(Enum):
    """How the values of one field in several parts of a recording become one."""

    SAME = "same"  # part of what the record is: parts that differ in it are not merged
    SUM = "sum"  # of those that are known
    SUM_OF_ALL = "sum of all"  # not known where one part does not know it
    LEAST = "least"
    LARGEST = "largest"
    FIRST = "first"  # of those that are known and not empty
    LAST = "last"  # the same from the end
    EQUAL = "equal"  # kept where all parts agree
    COUNTS = "counts"  # a mapping to counts, summed by key
    BY_HAND = "by hand"  # the merging function of the type does it


SAME, SUM, SUM_OF_ALL, LEAST, LARGEST, FIRST, LAST, EQUAL, COUNTS, BY_HAND = Merge


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file and a merge need to know about a field, beside its type and its default."""

    about: str = ""  # for file-format.md: the value and its unit, in Markdown
    merge: Merge = BY_HAND
    name: str = ""  # in the file, where it differs from the field's
    least: float | None = 0  # numbers below it are refused; None: no number is
    sparse: bool = False  # left out where it has its default
    flat: bool = False  # an object whose fields stand in the place of this one
    row: str = ""  # of a list: what it holds, in words for an error


class Field(NamedTuple):
    """One stored field of a dataclass or named tuple."""

    attribute: str
    name: str  # in the file
    type: Any  # the annotation without its `Stored`
    default: object  # MISSING where there is none
    stored: Stored


_known: dict[type, tuple[Field, ...]] = {}


def stored_fields(record: type) -> tuple[Field, ...]:
    """The fields of `record` that a file holds, in order; those without a `Stored` are none."""
    if record not in _known:
        _known[record] = _stored_fields(record)
    return _known[record]


def _stored_fields(record: type) -> tuple[Field, ...]:
    found = []
    for attribute, hint in get_type_hints(record, include_extras=True).items():
        for stored in get_args(hint)[1:]:
            if isinstance(stored, Stored):
                default = _defaults(record).get(attribute, MISSING)
                found.append(
                    Field(attribute, stored.name or attribute, get_args(hint)[0], default, stored)
                )
    return tuple(found)


def _defaults(record: type) -> Mapping[str, object]:
    if not is_dataclass(record):
        defaults: Mapping[str, object] = getattr(record, "_field_defaults", {})
        return defaults
    return {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(record)
    }


def inner_type(kind: Any) -> tuple[Any, bool]:
    """`X | None` -> `(X, True)`; every other type -> itself and False."""
    options = [each for each in get_args(kind) if each is not type(None)]
    if len(options) == 1 and type(None) in get_args(kind) and get_origin(kind) is not tuple:
        return options[0], True
    return kind, False


def to_object(record: object) -> dict[str, Any]:
    """`record`, a dataclass, as it stands in a file: what is not known is left out."""
    written: dict[str, Any] = {}
    for field in stored_fields(type(record)):
        value = getattr(record, field.attribute)
        if value is None or (field.stored.sparse and _is_default(value, field.default)):
            continue
        if field.stored.flat:
            written |= to_object(value)
        else:
            written[field.name] = to_plain(value)
    return written


def _is_default(value: object, default: object) -> bool:
    return value == default or (isinstance(value, (Sequence, Mapping)) and not value)


def to_plain(value: object) -> object:
    """`value` as JSON and msgpack hold it: lists for rows, text for bytes and for keys."""
    match value:
        case str() | int() | float() | None:
            return value
        case bytes():
            return b64encode(value).decode()
        case Enum():
            return value.value
        case Mapping():
            return {str(key): to_plain(part) for key, part in value.items()}
        case Sequence():
            return [to_plain(part) for part in value]
    return to_object(value)


def identity(record: object) -> tuple[object, ...]:
    """What tells `record` from others of its type, whatever was measured of it."""
    return tuple(
        tuple(value) if isinstance(value := getattr(record, field.attribute), list) else value
        for field in stored_fields(type(record))
        if field.stored.merge is SAME
    )


def merge_records(parts: Sequence[_Record], **by_hand: object) -> _Record:
    """One record of all `parts`, in their order; `by_hand` has the fields that no rule merges."""
    record = type(parts[0])
    merged = dict(by_hand)
    for field in stored_fields(record):
        if field.attribute not in by_hand:
            values = [getattr(part, field.attribute) for part in parts]
            merged[field.attribute] = _RULES[field.stored.merge](values)
    return record(**merged)


def _sum_of_all(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values)


def _first(values: Iterable[Any]) -> Any:
    """The first that is known and not empty; where there is none, the first at all."""
    values = list(values)
    full = (value for value in values if value is not None and _has_content(value))
    return next(full, values[0])


def _has_content(value: object) -> bool:
    return not isinstance(value, (Sequence, Mapping)) or bool(value)


def _counts(values: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for each in values:
        for key, count in each.items():
            counts[key] = counts.get(key, 0) + count
    return MappingProxyType(counts)


def _of_known(choose: Callable[[list[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """`choose` applied to the values that are known; None where none is."""

    def rule(values: Sequence[Any]) -> Any:
        known = [value for value in values if value is not None]
        return choose(known) if known else None

    return rule


_RULES: Mapping[Merge, Callable[[Sequence[Any]], Any]] = {
    SAME: lambda values: values[-1],
    SUM: _of_known(sum),
    SUM_OF_ALL: _sum_of_all,
    LEAST: _of_known(min),
    LARGEST: _of_known(max),
    FIRST: _first,
    LAST: lambda values: _first(reversed(values)),
    EQUAL: lambda values: values[0] if all(v == values[0] for v in values) else None,
    COUNTS: _counts,
}
