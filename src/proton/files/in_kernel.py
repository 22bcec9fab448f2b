"""The `in_kernel` of a `proton` key: what instrumented kernels recorded, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from proton.errors import FormatError
from proton.files.checks import is_integer, is_number, short
from proton.files.fields import Fields
from proton.model.in_kernel import (
    NO_PARENT,
    AccessSite,
    Change,
    Ctas,
    FirstAddress,
    HeatMap,
    RecordedKernel,
    Region,
    Value,
)


def read_in_kernel(found: object, source: str) -> tuple[RecordedKernel, ...]:
    """The kernels in `found`; none where the file has no such key.

    Raises:
        FormatError: Something in it is not as the format says; one line that names the place.
    """
    if found is None:
        return ()
    if type(found) is not list:
        raise FormatError(f"{source}: proton.in_kernel must be a list, not {short(found)}")
    return tuple(
        _kernel(_fields(kernel, source, f"proton.in_kernel[{number}]"))
        for number, kernel in enumerate(found)
    )


class _Fields(Fields):
    """Fields that know their place, and numbers that are never negative."""

    def __init__(self, source: str, place: str, fields: Mapping[str, Any]) -> None:
        super().__init__(source, place, fields)
        self.source, self.place = source, place

    def count(self, key: str) -> int | None:
        value = self.integer(key)
        if value is not None and value < 0:
            raise self.wrong(key, "zero or more")
        return value

    def number(self, key: str, *, may_be_negative: bool = False) -> float | None:
        value = self._fields.get(key)
        if value is None:
            return None
        if not is_number(value):
            raise self.wrong(key, "a number")
        if value < 0 and not may_be_negative:
            raise self.wrong(key, "zero or more")
        return value

    def parts(self, key: str) -> list[_Fields]:
        return [
            _fields(part, self.source, f"{self.place}.{key}[{number}]")
            for number, part in enumerate(self.listed(key, "a list of objects"))
        ]

    def numbers(self, key: str, *, may_miss: bool = False) -> tuple[Any, ...]:
        """A list of numbers that are zero or more; with `may_miss` also null."""
        values = self.listed(key, "a list of numbers")
        for number, value in enumerate(values):
            if not ((value is None and may_miss) or (is_number(value) and value >= 0)):
                wanted = "a number that is zero or more" + (" or null" if may_miss else "")
                raise FormatError(
                    f"{self.source}: {self.place}.{key}[{number}] must be {wanted}, "
                    f"not {short(value)}"
                )
        return tuple(values)


def _fields(found: object, source: str, place: str) -> _Fields:
    if type(found) is not dict:
        raise FormatError(f"{source}: {place} must be an object, not {short(found)}")
    return _Fields(source, place, found)


def _kernel(fields: _Fields) -> RecordedKernel:
    regions = tuple(map(_region, fields.parts("regions")))
    _check_parents(regions, fields)
    ctas = fields.mapping("ctas")
    every = fields.count("every")
    return RecordedKernel(
        kernel=fields.text("kernel"),
        context=fields.texts("context"),
        mode=fields.text("mode"),
        device_id=fields.count("device_id"),
        every=1 if every is None else every,
        launches=fields.count("launches") or 0,
        replays=fields.count("replays") or 0,
        recorded_warps=fields.count("recorded_warps") or 0,
        clock_ghz=fields.number("clock_ghz") or None,
        record_cycles=fields.number("record_cycles") or 0.0,
        error_cycles=fields.number("error_cycles"),
        regions=regions,
        ctas=_ctas(_fields(ctas, fields.source, f"{fields.place}.ctas")) if ctas else None,
        values=tuple(map(_value, fields.parts("values"))),
        accesses=tuple(map(_site, fields.parts("accesses"))),
        heat=tuple(map(_heat, fields.parts("heat"))),
        uncovered=MappingProxyType(_counts(fields, "uncovered")),
        losses=MappingProxyType(_counts(fields, "losses")),
        changed=MappingProxyType(_changes(fields)),
    )


def _region(fields: _Fields) -> Region:
    parent = fields.integer("parent")
    return Region(
        name=fields.text("name"),
        file=fields.text("file"),
        line=fields.count("line") or 0,
        kind=fields.text("kind"),
        parent=NO_PARENT if parent is None else parent,
        count=fields.count("count") or 0,
        cycles=fields.number("cycles") or 0.0,
        **{key: fields.number(key) for key in ("ns", "p10", "p50", "p90", "min", "max")},
        every=fields.count("every") or 1,
    )


def _check_parents(regions: Sequence[Region], fields: _Fields) -> None:
    """Every parent is there, and no region lies in itself, however far up."""
    size = len(regions)
    for number, region in enumerate(regions):
        if not NO_PARENT <= region.parent < size:
            raise FormatError(
                f"{fields.source}: {fields.place}.regions[{number}].parent must be one of {size} "
                f"regions or -1, not {short(region.parent)}"
            )
    is_sound = bytearray(size)
    for number in range(size):
        path: list[int] = []
        at = number
        while at != NO_PARENT and not is_sound[at]:
            if len(path) > size:
                raise FormatError(
                    f"{fields.source}: {fields.place}.regions[{number}] lies in itself"
                )
            path.append(at)
            at = regions[at].parent
        for sound in path:
            is_sound[sound] = 1


def _ctas(fields: _Fields) -> Ctas:
    return Ctas(
        count=fields.count("count") or 0,
        sms=fields.count("sms") or 0,
        first_start_ns=fields.number("first_start_ns"),
        last_end_ns=fields.number("last_end_ns"),
        p50_ns=fields.number("p50_ns"),
        p99_ns=fields.number("p99_ns"),
        waves=fields.number("waves"),
        tail_ns=fields.number("tail_ns"),
        per_sm=fields.numbers("per_sm", may_miss=True),
        active=fields.numbers("active"),
    )


def _value(fields: _Fields) -> Value:
    count, not_finite = fields.count("count") or 0, fields.count("not_finite") or 0
    if not_finite > count:
        raise fields.wrong("not_finite", f"at most the count of {count}")
    return Value(
        name=fields.text("name"),
        count=count,
        sum=fields.number("sum", may_be_negative=True) or 0.0,
        min=fields.number("min", may_be_negative=True),
        max=fields.number("max", may_be_negative=True),
        not_finite=not_finite,
    )


def _site(fields: _Fields) -> AccessSite:
    first = tuple(_first(part, fields) for part in fields.listed("first", "a list of lists"))
    first_of = fields.count("first_of") or 0
    if first_of < len(first):
        raise fields.wrong("first_of", f"at least the {len(first)} in first")
    return AccessSite(
        name=fields.text("name"),
        kind=fields.text("kind"),
        file=fields.text("file"),
        line=fields.count("line") or 0,
        tensor=fields.text("tensor"),
        accesses=fields.count("accesses") or 0,
        bytes=fields.count("bytes") or 0,
        first=first,
        first_of=first_of,
    )


def _first(part: Any, fields: _Fields) -> FirstAddress:
    """A warp's first address; its place among the others is not told: there are many."""
    match part:
        case [cta, warp, str(tensor), offset] if all(
            is_integer(each) and each >= 0 for each in (cta, warp, offset)
        ):
            return FirstAddress(cta, warp, tensor, offset)
    raise fields.wrong("first", "a list of [CTA, warp, tensor, offset]")


def _heat(fields: _Fields) -> HeatMap:
    bins = fields.numbers("bins")
    if not all(map(is_integer, bins)):
        raise fields.wrong("bins", "a list of counts")
    bin_bytes = fields.count("bin_bytes") or 0
    if bins and not bin_bytes:
        raise fields.wrong("bin_bytes", "one or more where there are bins")
    byte_bins = fields.numbers("byte_bins")
    if not all(map(is_integer, byte_bins)) or len(byte_bins) not in (0, len(bins)):
        raise fields.wrong("byte_bins", f"a list of {len(bins)} counts, as many as bins")
    return HeatMap(
        tensor=fields.text("tensor"),
        bytes=fields.count("bytes") or 0,
        accesses=fields.count("accesses") or 0,
        bin_bytes=bin_bytes,
        bins=bins,
        byte_bins=byte_bins,
    )


def _counts(fields: _Fields, key: str) -> dict[str, int]:
    counts = fields.mapping(key)
    if not all(is_integer(count) and count >= 0 for count in counts.values()):
        raise fields.wrong(key, "an object of counts")
    return dict(counts)


def _changes(fields: _Fields) -> dict[str, Change]:
    changes = {}
    for name, pair in fields.mapping("changed").items():
        if (
            type(pair) is not list
            or len(pair) != 2
            or not all(value is None or (is_number(value) and value >= 0) for value in pair)
        ):
            raise FormatError(
                f"{fields.source}: {fields.place}.changed[{short(name)}] must be a list of two "
                f"numbers, without records and with them, not {short(pair)}"
            )
        changes[name] = Change(*pair)
    return changes
