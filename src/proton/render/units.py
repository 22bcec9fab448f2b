"""Numbers and units to text: the one rounding rule that every viewer follows.

Fixed decimals, so that columns line up on the point; what is too small to show says so instead of
looking like zero; what is too large to read turns to an exponent; what was not measured is a dash.
"""

from __future__ import annotations

from collections.abc import Sequence

from proton.model.metric import MetricValue
from proton.render.names import printable

MISSING = "-"
DECIMALS = 3

_HUGE = 1e9  # a float from here on has more digits than anybody reads
_LIST_ROOM = 4  # elements of a list that are shown


def format_number(value: float, decimals: int = DECIMALS) -> str:
    """`value` as text: `1090.280`, `<0.001`, `1.250e+12`; integers keep every digit."""
    if isinstance(value, int):
        return str(value)
    size = abs(value)
    if size >= _HUGE:
        return f"{value:.3e}"
    text = f"{value:.{decimals}f}"
    if size != 0 and size < 0.5 * 10**-decimals:
        least = f"{10**-decimals:.{decimals}f}"
        return f"<{least}" if value > 0 else f">-{least}"
    return text


def format_value(value: MetricValue | None, decimals: int = DECIMALS) -> str:
    """Any metric value as one short text; None is a dash."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple):
        return _format_list(value, decimals)
    return format_number(value, decimals)


def format_column(values: Sequence[MetricValue | None], decimals: int = DECIMALS) -> list[str]:
    """`format_value` of every value; one loop, because profiles have many rows."""
    template = f"%.{decimals}f"
    least = 0.5 * 10**-decimals
    # The common case is written out: a call a cell would cost more than all the rest.
    return [
        template % value
        if type(value) is float and (least <= value < _HUGE or value == 0)
        else format_value(value, decimals)
        for value in values
    ]


def format_count(count: float) -> str:
    """A whole number for a sentence, in groups of three: `83 800`."""
    return f"{count:,.0f}".replace(",", " ")


def format_amount(value: float, decimals: int = 1) -> str:
    """A number for a sentence, in groups of three: `1 071.3`."""
    if value != 0 and abs(value) < 0.5 * 10**-decimals:
        return format_number(float(value), decimals)
    return f"{value:,.{decimals}f}".replace(",", " ")


def readable_time_unit(time_ns: float) -> tuple[str, float]:
    """The unit in which `time_ns` reads best, and its length in nanoseconds."""
    size = abs(time_ns)
    if size < 1e4:
        return "ns", 1.0
    if size < 1e7:
        return "us", 1e3
    if size < 1e11:
        return "ms", 1e6
    return "s", 1e9


def _format_list(values: Sequence[int | float], decimals: int) -> str:
    if len(values) <= _LIST_ROOM:
        return "[" + ", ".join(format_number(value, decimals) for value in values) + "]"
    first = ", ".join(format_number(value, decimals) for value in values[: _LIST_ROOM - 2])
    return f"[{first}, … {format_number(values[-1], decimals)}] ({len(values)})"
