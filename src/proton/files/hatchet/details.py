"""Facts of single nodes under a `proton` key.

`kernels`: how kernels spread and how they were launched; `entries`: how often scopes were entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, read_attributes, short
from proton.model.metric import Metrics, MetricValue
from proton.model.tree import KernelDetail, Tree

_SIZE = 6  # row, min, max, p50, p99, attributes


def read_details(found: object, row_count: int, source: str) -> dict[int, KernelDetail]:
    """The details in `found`, for the rows of a tree.

    Raises:
        FormatError: It is no such list, or it names a row that the tree does not have.
    """
    if type(found) is not list:
        raise FormatError(f"{source}: proton.kernels must be a list, not {short(found)}")
    details: dict[int, KernelDetail] = {}
    shared: dict[int, Metrics] = {}  # by number of the entry that has them
    is_sound = _is_sound(found, row_count)
    for number, entry in enumerate(found):
        if not is_sound:
            _check(entry, f"{source}: proton.kernels[{number}]", row_count)
        row, least, largest, p50, p99, last = entry
        if type(last) is dict:
            attributes = shared[number] = read_attributes(last)
        elif is_integer(last) and last in shared:
            attributes = shared[last]
        else:
            raise FormatError(
                f"{source}: proton.kernels[{number}] must end in an object or name an earlier "
                "entry that does"
            )
        details[row] = KernelDetail(least, largest, p50, p99, attributes)
    return details


def _is_sound(found: list[Any], row_count: int) -> bool:
    """Whether all rows and times are certainly well: whole columns are quicker to ask."""
    if set(map(type, found)) != {list} or set(map(len, found)) != {_SIZE}:
        return False
    rows, least, largest, p50, p99, _ = zip(*found, strict=True)
    if set(map(type, chain(rows, least, largest))) != {int}:
        return False
    times = [time for time in chain(p50, p99) if time is not None]
    if set(map(type, times)) - {int}:
        return False
    return 0 <= min(rows) <= max(rows) < row_count and all(
        is_integer(each) for times in (least, largest, times) if times for each in _ends(times)
    )


def _ends(times: Sequence[int]) -> tuple[int, int]:
    return min(times), max(times)


def _check(entry: object, place: str, row_count: int) -> None:
    if type(entry) is not list or len(entry) != _SIZE:
        raise FormatError(f"{place} must be a list of a row, four times and an object")
    row, *times, _ = entry
    if not is_integer(row) or not 0 <= row < row_count:
        raise FormatError(f"{place} must name one of {row_count} nodes, not {short(row)}")
    if not all(map(is_integer, times[:2])):
        raise FormatError(f"{place} must have a least and a largest time in nanoseconds")
    if not all(time is None or is_integer(time) for time in times[2:]):
        raise FormatError(f"{place} must have quantiles in nanoseconds or null")


def details_object(tree: Tree) -> list[list[Any]]:
    """The details of `tree` as they stand in a file: equal attributes once."""
    entries: list[list[Any]] = []
    written: dict[tuple[Any, ...], int] = {}
    for row, detail in sorted(tree.details.items()):
        attributes = detail.attributes
        first = written.setdefault(tuple(attributes.items()), len(entries))
        if first == len(entries) or not attributes:
            plain = {key: _plain(value) for key, value in attributes.items()}
            entries.append([row, *detail[:4], plain])
        else:
            entries.append([row, *detail[:4], first])
    return entries


def read_entries(found: object, row_count: int, source: str) -> dict[int, int]:
    """How often the scopes of a tree's rows were entered.

    Raises:
        FormatError: It is no such list, or it names a row that the tree does not have.
    """
    if type(found) is not list:
        raise FormatError(f"{source}: proton.entries must be a list, not {short(found)}")
    entries: dict[int, int] = {}
    for number, entry in enumerate(found):
        place = f"{source}: proton.entries[{number}]"
        if type(entry) is not list or len(entry) != 2:
            raise FormatError(f"{place} must be a list of a row and a count")
        row, count = entry
        if not is_integer(row) or not 0 <= row < row_count:
            raise FormatError(f"{place} must name one of {row_count} nodes, not {short(row)}")
        if not is_integer(count) or count < 0:
            raise FormatError(f"{place} must have a count of zero or more, not {short(count)}")
        entries[row] = count
    return entries


def entries_object(tree: Tree) -> list[list[int]]:
    """The entries of `tree` as they stand in a file."""
    return [[row, count] for row, count in sorted(tree.entries.items())]


def _plain(value: MetricValue) -> object:
    return list(value) if isinstance(value, tuple) else value
