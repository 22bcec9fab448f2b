"""Numbers and units to text.

A cell of a column has fixed decimals, so that points line up. A number in a sentence has three
significant digits and the unit in which it reads best, by the rule of the page (`units.ts`;
tests/golden/units.json holds both to it). What is too small to show says so instead of looking like
zero, what is too large to read turns to an exponent, what was not measured is a dash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context
from math import floor, inf

from proton.model.metric import MetricValue
from proton.render.display_names import printable

MISSING = "-"

_THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)  # as JavaScript rounds for the page
_HUGE = 1e9  # a float from here on has more digits than anybody reads
_LIST_ROOM = 4  # elements of a list that are shown
_TIME_UNITS = (("us", 1e3, 1e6), ("ms", 1e6, 1e10), ("s", 1e9, inf))  # length, used below


@dataclass(frozen=True, slots=True)
class Notation:
    """How the numbers of one column are written."""

    decimals: int = 3
    is_raw: bool = False  # small numbers get an exponent: 3.000e-04 instead of <0.001
    has_sign: bool = False  # a plus sign too, for differences
    is_grouped: bool = False  # digits in groups of three: 1 090.280


PLAIN = Notation()


def format_number(value: float, notation: Notation = PLAIN) -> str:
    """`value` as text: `1090.280`, `<0.001`, `1.250e+12`; integers keep every digit."""
    plus = "+" if notation.has_sign else ""
    group = "," if notation.is_grouped else ""
    if isinstance(value, int):
        return f"{value:{plus}{group}d}".replace(",", " ")
    size = abs(value)
    decimals = notation.decimals
    is_small = size != 0 and size < 0.5 * 10**-decimals
    if size >= _HUGE or (is_small and notation.is_raw):
        return f"{value:{plus}.3e}"
    if is_small:
        return f"{plus if value > 0 else '-'}<{10**-decimals:.{decimals}f}"
    text = f"{value + 0.0:{plus}{group}.{decimals}f}"  # no minus in front of zero
    return text.replace(",", " ")


def format_value(value: MetricValue | None, notation: Notation = PLAIN) -> str:
    """Any metric value as one short text; None is a dash."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple):
        return _format_list(value, notation)
    return format_number(value, notation)


def format_column(values: Sequence[MetricValue | None], notation: Notation = PLAIN) -> list[str]:
    """`format_value` of every value; one loop, because profiles have many rows."""
    template = f"%{'+' if notation.has_sign else ''}.{notation.decimals}f"
    least = 0.5 * 10**-notation.decimals
    most = 1e3 if notation.is_grouped else _HUGE
    # The common case is written out: a call a cell would cost more than all the rest.
    return [
        template % (value + 0.0)  # no minus in front of zero
        if type(value) is float and (least <= value < most or value == 0)
        else format_value(value, notation)
        for value in values
    ]


def format_count(count: float) -> str:
    """A whole number for a sentence, in groups of three: `83 800`."""
    return f"{count:,.0f}".replace(",", " ")


def format_digits(value: float) -> str:
    """A number for a sentence, with three significant digits: `1 071`, `92.4`, `1.90`, `0.0312`."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e15 or size < 1e-4:
        return f"{value:.2e}"
    if size >= 99.95:
        return format_count(floor(value + 0.5))
    value = float(_THREE_DIGITS.create_decimal_from_float(value))
    if size >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.9995 else f"{value:#.3g}"


def format_time(time_ns: float | None) -> str:
    """A time for a sentence, in the unit in which it reads best: `687 us`, `2.50 ms`, `900 ns`."""
    if time_ns is None:
        return MISSING
    size = abs(time_ns)
    if size < 1e3:
        is_whole = float(time_ns).is_integer()
        return f"{format_count(time_ns) if is_whole else format_digits(time_ns)} ns"
    unit, length = next((each for each in _TIME_UNITS if size < each[2]), _TIME_UNITS[-1])[:2]
    return f"{format_digits(time_ns / length)} {unit}"


def format_change(share: float) -> str:
    """How much more or less in percent: `+7.5 %`; no sign before zero."""
    percent = round(100 * share, 1)
    return f"{percent:+.1f} %" if percent else "0.0 %"


def format_bytes(size: float) -> str:
    """The size of memory or of a file: `64.0 KiB`; whole bytes below that."""
    for unit, length in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= length:
            return f"{size / length:.1f} {unit}"
    return f"{format_count(size)} B"


def column_time_unit(largest_ns: float) -> tuple[str, float]:
    """The unit of a column whose largest time this is, and its length in nanoseconds.

    Finer than in a sentence: the smaller times of the column have to keep digits.
    """
    size = abs(largest_ns)
    if size < 1e4:
        return "ns", 1.0
    if size < 1e7:
        return "us", 1e3
    if size < 1e11:
        return "ms", 1e6
    return "s", 1e9


def _format_list(values: Sequence[int | float], notation: Notation) -> str:
    if len(values) <= _LIST_ROOM:
        return "[" + ", ".join(format_number(value, notation) for value in values) + "]"
    first = ", ".join(format_number(value, notation) for value in values[: _LIST_ROOM - 2])
    return f"[{first}, … {format_number(values[-1], notation)}] ({len(values)})"
