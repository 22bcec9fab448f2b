"""Plain objects from a file -> dataclasses of the model, checked by what their fields say.

`proton.model.schema` has the fields and the other way. An error is one line that names the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_number, is_plain, is_text, short
from proton.model.schema import Field, inner_type, stored_fields

_Record = TypeVar("_Record")
Convert = Callable[[Any], Any]  # a value from a file -> one of the model, or raises `FieldError`


class FieldError(Exception):
    """What is wrong with a value; the path to it grows while the error travels outwards.

    `up` steps of that path are left out: the message then speaks of what lies around the value.
    """

    def __init__(self, what: str, path: str = "", *, up: int = 0) -> None:
        super().__init__(what)
        self.what, self.path, self.up = what, path, up

    @classmethod
    def must_be(cls, wanted: str, value: object, path: str = "") -> FieldError:
        """The error of a value that is not what was `wanted`."""
        return cls(f"must be {wanted}, not {short(value)}", path)

    def within(self, step: str) -> FieldError:
        """The same error, seen from the object around."""
        if self.up:
            self.up -= 1
        else:
            self.path = step + self.path
        return self


class Codec:
    """Reads records of some types.

    Args:
        rows: Type of a row -> what reads a whole list of them, where words of its own are wanted.
        checks: Type of a record -> what looks at a whole one, and may mend it.
        readers: Type of a record -> what reads its whole object instead of this codec.
    """

    def __init__(
        self,
        rows: Mapping[type, Callable[[Sequence[Any]], tuple[Any, ...]]] | None = None,
        checks: Mapping[type, Callable[[Any], Any]] | None = None,
        readers: Mapping[type, Convert] | None = None,
    ) -> None:
        self._rows = rows or {}
        self._checks = checks or {}
        self._readers = readers or {}
        self._plans: dict[type, tuple[tuple[Field, Convert], ...]] = {}

    def read(
        self, record: type[_Record], value: object, source: str, place: str, **known: object
    ) -> _Record:
        """The `record` in `value`, called `place` in messages; `known` are fields besides it.

        Raises:
            FormatError: Something in it is not as the format says.
        """
        try:
            return self.record(record, value, known)
        except FieldError as error:
            text = f"{source}: {error.within(place).path} {error.what}"
        raise FormatError(text)

    def record(
        self, record: type[_Record], value: Any, known: Mapping[str, object] | None = None
    ) -> _Record:
        """The same as `read`, for records within others; what it raises is a FieldError."""
        if type(value) is not dict:
            raise FieldError.must_be("an object", value)
        values = dict(known or {})
        for field, convert in self._plan(record):
            stored = value.get(field.name)
            try:
                if field.stored.flat:
                    values[field.attribute] = self.record(field.type, value)
                elif stored is not None:
                    values[field.attribute] = convert(stored)
                elif field.default is MISSING:
                    values[field.attribute] = _without_default(field, convert)
            except FieldError as error:
                raise error.within("" if field.stored.flat else f".{field.name}") from None
        made = record(**values)
        check = self._checks.get(record)
        return made if check is None else check(made) or made

    def _plan(self, record: type) -> tuple[tuple[Field, Convert], ...]:
        if record not in self._plans:
            fields = stored_fields(record)
            self._plans[record] = tuple((each, self._convert(each.type, each)) for each in fields)
        return self._plans[record]

    def _convert(self, declared: Any, field: Field) -> Convert:
        kind, may_miss = inner_type(declared)
        least = field.stored.least
        if kind is str:
            return (lambda value: _text(value) or None) if may_miss else _text
        if kind in (int, float):
            return _number(is_integer if kind is int else is_number, least)
        if kind is bool:
            return _claim
        if kind is object:
            return lambda value: value
        if kind in self._readers:
            return self._readers[kind]
        if _is_record(kind):
            return lambda value: self._object(kind, value)
        if get_origin(kind) is Mapping:
            return self._mapping(get_args(kind)[1], field)
        item, *_ = get_args(kind)
        if item in self._rows:
            return _listed("a list", self._rows[item])
        if _is_record(item):
            return _listed("a list of objects", lambda values: self._records(item, values))
        return _list_of(item, field)

    def _object(self, record: type, value: Any) -> Any:
        """A record inside another; an empty object says nothing."""
        return None if value == {} else self.record(record, value)

    def _records(self, record: type, values: Sequence[Any]) -> tuple[Any, ...]:
        made: list[Any] = []
        for number, value in enumerate(values):
            try:
                made.append(self.record(record, value))
            except FieldError as error:
                raise error.within(f"[{number}]") from None
        return tuple(made)

    def _mapping(self, kind: Any, field: Field) -> Convert:
        is_record = _is_record(kind)

        def convert(value: Any) -> Mapping[str, Any]:
            if type(value) is not dict or not all(map(is_text, value)):
                raise FieldError.must_be("an object", value)
            if kind is int:
                return MappingProxyType(_counts(value, field.stored.least))
            if issubclass(kind, Enum):
                return MappingProxyType(_named(kind, value))
            made = {}
            for key, part in value.items():
                try:
                    made[key] = self.record(kind, part) if is_record else row(part)
                except FieldError as error:
                    raise error.within(f"[{short(key)}]") from None
            return MappingProxyType(made)

        row = _row(kind, f"a list of {field.stored.row}")
        return convert


def _is_record(kind: Any) -> bool:
    return is_dataclass(kind)


def _without_default(field: Field, convert: Convert) -> Any:
    """What a field has that the file leaves out: text is empty, all else must be there."""
    if field.type is str:
        return ""
    return convert(None)


def _checked(wanted: str, is_kind: Callable[[object], bool]) -> Convert:
    def convert(value: Any) -> Any:
        if not is_kind(value):
            raise FieldError.must_be(wanted, value)
        return value

    return convert


_text = _checked("text", is_text)
_claim = _checked("true or false", lambda value: type(value) is bool)


def _number(is_kind: Callable[[object], bool], least: float | None) -> Convert:
    check = _checked("an integer" if is_kind is is_integer else "a number", is_kind)

    def convert(value: Any) -> Any:
        check(value)
        if least is not None and value < least:
            raise FieldError.must_be("zero or more", value)
        return value

    return convert


def _listed(wanted: str, read: Callable[[Sequence[Any]], tuple[Any, ...]]) -> Convert:
    def convert(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise FieldError.must_be(wanted, value)
        return read(value)

    return convert


def _list_of(kind: Any, field: Field) -> Convert:
    """What reads a list of texts, numbers, plain objects or rows."""
    item, may_miss = inner_type(kind)
    if item is str:
        return _all("a list of texts", is_text)
    if item is int and field.stored.least is None:
        return _all("a list of integers", is_integer)
    if item in (int, float):
        return _listed("a list of numbers", lambda values: _numbers(values, item, may_miss))
    if get_origin(item) is Mapping:
        return _all("a list of objects", lambda value: type(value) is dict and is_plain(value))
    wanted = f"a list of {field.stored.row}"
    row = _row(item, wanted)

    def rows(values: Sequence[Any]) -> tuple[Any, ...]:
        try:
            return tuple(map(row, values))
        except FieldError:  # its place among the others is not told: there are many
            raise FieldError.must_be(wanted, values) from None

    return _listed("a list of lists", rows)


def _all(wanted: str, is_item: Callable[[object], bool]) -> Convert:
    def convert(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or not all(map(is_item, value)):
            raise FieldError.must_be(wanted, value)
        return tuple(value)

    return convert


def _numbers(values: Sequence[Any], kind: type, may_miss: bool) -> tuple[Any, ...]:
    for number, value in enumerate(values):
        if not ((value is None and may_miss) or (is_number(value) and value >= 0)):
            wanted = "a number that is zero or more" + (" or null" if may_miss else "")
            raise FieldError.must_be(wanted, value, f"[{number}]")
    if kind is int and not all(map(is_integer, values)):
        raise FieldError.must_be("a list of counts", values)
    return tuple(values)


def _row(kind: Any, wanted: str) -> Convert:
    """What reads a named tuple of texts and numbers that are zero or more."""
    columns = [inner_type(field.type) for field in stored_fields(kind)]

    def is_column(value: object, column: type, may_miss: bool) -> bool:
        if value is None or column is str:
            return may_miss if value is None else is_text(value)
        return (is_integer(value) or (column is float and is_number(value))) and value >= 0

    def convert(value: Any) -> Any:
        if (
            type(value) is not list
            or len(value) != len(columns)
            or not all(
                is_column(part, *column) for part, column in zip(value, columns, strict=True)
            )
        ):
            raise FieldError.must_be(wanted, value)
        return kind(*value)

    return convert


def _counts(value: dict[str, Any], least: float | None) -> dict[str, int]:
    if not all(is_integer(n) and (least is None or n >= least) for n in value.values()):
        raise FieldError.must_be("an object of counts", value)
    return value


def _named(kind: type[Enum], value: dict[str, Any]) -> dict[str, Enum]:
    names = {member.value: member for member in kind}
    if not all(type(name) is str and name in names for name in value.values()):
        raise FieldError.must_be(f"an object of {', '.join(sorted(names))}", value)
    return {key: names[name] for key, name in value.items()}


def first_cyclic(parents: Sequence[int], none: int) -> int | None:
    """The first whose chain of parents comes back to it instead of ending at `none`."""
    is_sound = bytearray(len(parents))
    for number in range(len(parents)):
        path: list[int] = []
        at = number
        while at != none and not is_sound[at]:
            if len(path) > len(parents):
                return number
            path.append(at)
            at = parents[at]
        for sound in path:
            is_sound[sound] = 1
    return None
