"""Whole passes over columns of numbers: by the native core, or in Python where that is not there.

Columns are arrays of the standard library: "d" for times, "I" for places and numbers, "B" for
kinds. Who makes a trace into something else builds it of these, and no object for each span.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, groupby
from math import nan
from operator import add as add_two
from operator import sub
from typing import Any

from proton import _core

NONE = 2**32 - 1  # no place
_NEARLY_WHOLE = 1e-3  # what floats of microseconds may be off, in nanoseconds


def take(values: array[Any], places: array[int]) -> array[Any]:
    """The values at `places`."""
    if (core := _core.columns()) is not None:
        return array(values.typecode, core.take(values, places))
    return array(values.typecode, map(values.__getitem__, places))


def put(size: int, places: array[int], values: array[Any]) -> array[Any]:
    """A column of `size` that has `values` at `places`, the last where several are at one.

    Elsewhere it has `NONE`, a column of times NaN.
    """
    letter = values.typecode
    if (core := _core.columns()) is not None:
        return array(letter, core.put(size, places, values))
    found: array[Any] = array(letter, [nan if letter == "d" else NONE]) * size
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def order_by(*columns: array[Any]) -> array[int]:
    """The places of the rows in the order of the first column, among equals of the next, and so on.

    What is equal in all of them stays in the order given.
    """
    if (core := _core.columns()) is not None:
        return array("I", core.order_by(*columns))
    return array("I", _sorted(range(len(columns[0])), columns))


def _sorted(places: Iterable[int], columns: Sequence[array[Any]]) -> Iterable[int]:
    """`places` by the first of `columns`, runs of equals by the rest."""
    key, rest = columns[0].__getitem__, columns[1:]
    found = sorted(places, key=key)
    if not rest:
        return found
    runs = (list(run) for _, run in groupby(found, key))
    return chain.from_iterable(_sorted(run, rest) if len(run) > 1 else run for run in runs)


def group_by(*columns: array[Any]) -> tuple[array[int], array[int]]:
    """Rows that are equal in all columns together, groups in the order of their first row.

    Returns:
        The places of the rows, and where in them each group begins, with the end as the last.
    """
    if (core := _core.columns()) is not None:
        places, bounds = core.group_by(*columns)
        return array("I", places), array("I", bounds)
    groups: dict[object, list[int]] = {}
    for place, row in enumerate(zip(*columns, strict=True)):
        groups.setdefault(row, []).append(place)
    ends = accumulate(map(len, groups.values()), initial=0)
    return array("I", chain.from_iterable(groups.values())), array("I", ends)


def add(first: array[float], second: array[float]) -> array[float]:
    """The sums of two columns of times."""
    if (core := _core.columns()) is not None:
        return array("d", core.add(first, second))
    return array("d", map(add_two, first, second))


def subtract(first: array[float], second: array[float]) -> array[float]:
    """The differences of two columns of times."""
    if (core := _core.columns()) is not None:
        return array("d", core.subtract(first, second))
    return array("d", map(sub, first, second))


def to_whole(times: array[float]) -> array[int] | None:
    """Times as whole numbers; None where one is more than a thousandth away, or does not fit."""
    if (core := _core.columns()) is not None:
        whole = core.to_whole(times)
        return None if whole is None else array("I", whole)
    try:
        rounded = array("I", map(round, times))
    except (OverflowError, ValueError):  # negative, too large, infinite, no number
        return None
    off = max(map(abs, map(sub, times, rounded)), default=0)
    return rounded if off < _NEARLY_WHOLE else None


def sum_by(values: array[float], kinds: array[int], count: int) -> Sequence[float]:
    """The sums of values by kind, which is a number below `count`."""
    if (core := _core.columns()) is not None:
        sums: list[float] = core.sum_by(values, kinds, count)
        return sums
    sums = [0.0] * count
    for value, kind in zip(values, kinds, strict=True):
        sums[kind] += value
    return sums
