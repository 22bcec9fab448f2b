"""The mode `pcsampling`: its options as a frozen dataclass, with their units, ranges and text.

Which machine can sample, and how, is the backend's business. `parse_sampling` reads what `str()`
writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from proton._mode_text import BaseMode, ModeText, escape, unescape
from proton.errors import UsageError

DEFAULT_INTERVAL = 1 << 14
MIN_EXPONENT, MAX_EXPONENT = 5, 31
GRAPH_DETAILS = ("node", "graph")
FALLBACKS = ("timing",)

_TIME_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_SIZE_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)\s*([a-zA-Z]*)", re.ASCII)
# least and most
_TIME_RANGES_NS = {
    "drain": (10_000_000, 60_000_000_000),
    "window": (1_000_000, 600_000_000_000),
    "every": (10_000_000, 3600_000_000_000),
}
_SIZE_RANGE_BYTES = (1 << 20, 4 << 30)

Quantity = str | int | float


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """Instruction sampling on NVIDIA GPUs, beside kernel timing and without a stop at launches.

    Times are text with a unit (`"30ms"`, `"1s"`) or a number of seconds, sizes text (`"64MB"`) or
    a number of bytes; both are kept as text.

    Attributes:
        interval: cycles between two samples of a multiprocessor, 32 to 2**31; the hardware takes
            the nearest power of two.
        buffer: the hardware's buffer for samples.
        drain: how often samples are taken out of it.
        window: how long samples are taken, once in every `every`; None: always.
        every: the period of the windows.
        include: a regular expression; only samples of kernels whose name, or whose scopes' names,
            it is found in are kept.
        fallback: `"timing"`: where sampling is impossible, time kernels and say why in the profile;
            None: refuse to start.
        graphs: `"node"` or `"graph"`: what is timed of a replayed graph.

    Raises:
        UsageError: a value that means nothing or is out of its range.
    """

    name: str = field(default="pcsampling", init=False)
    interval: int = DEFAULT_INTERVAL
    buffer: Quantity = "512MB"
    drain: Quantity = "200ms"
    window: Quantity | None = None
    every: Quantity | None = None
    include: str | None = None
    fallback: str | None = None
    graphs: str = "node"

    def __post_init__(self) -> None:
        self._set("interval", _cycles(self.interval))
        self._set("buffer", _as_text(_bytes(self.buffer), _SIZE_UNITS))
        for option in _TIME_RANGES_NS:
            if getattr(self, option) is not None:
                time_ns = _time_ns(option, getattr(self, option))
                self._set(option, _as_text(time_ns, _TIME_UNITS))
        self._check_window()
        self._check_include()
        if self.fallback is not None and self.fallback not in FALLBACKS:
            raise UsageError.unknown("value of option 'fallback'", self.fallback, choices=FALLBACKS)
        if self.graphs not in GRAPH_DETAILS:
            raise UsageError.unknown("value of option 'graphs'", self.graphs, choices=GRAPH_DETAILS)

    @property
    def period_exponent(self) -> int:
        """The hardware's period is two to the power of this, in cycles."""
        below = self.interval.bit_length() - 1
        return below + (2 * self.interval >= 3 << below)

    @property
    def buffer_bytes(self) -> int:
        """The hardware buffer's size."""
        return _bytes(self.buffer)

    @property
    def drain_ns(self) -> int:
        """The time between two drains."""
        return _time_ns("drain", self.drain)

    @property
    def window_ns(self) -> int:
        """How long a window is open; 0: always."""
        return 0 if self.window is None else _time_ns("window", self.window)

    @property
    def every_ns(self) -> int:
        """The period of the windows; 0: the only one is always open."""
        return 0 if self.every is None else _time_ns("every", self.every)

    def __str__(self) -> str:
        """The shortest text that parses back to this mode."""
        texts = [self.name]
        for option in fields(self):
            value = getattr(self, option.name)
            if option.init and value != option.default:
                text = escape(value) if option.name == "include" else str(value)
                texts.append(f"{option.name}={text}")
        return ":".join(texts)

    def _set(self, option: str, value: object) -> None:
        object.__setattr__(self, option, value)  # the one way in a frozen dataclass

    def _check_window(self) -> None:
        if (self.window is None) != (self.every is None):
            given, other = ("window", "every") if self.every is None else ("every", "window")
            raise UsageError(
                f"{given}={getattr(self, given)} needs {other} too, as in window=30ms:every=1s"
            )
        if self.window_ns > self.every_ns:
            raise UsageError(
                f"window={self.window} is longer than its period every={self.every}; make it "
                "shorter, or leave both out to sample always"
            )

    def _check_include(self) -> None:
        if self.include is None:
            return
        try:
            if not isinstance(self.include, str) or not self.include:
                raise UsageError(f"include must be a regular expression, not {self.include!r}")
            re.compile(self.include)
        except re.error as error:
            raise UsageError(
                f"include={self.include!r} is no regular expression: {error}; it is searched in "
                "the names of kernels and of their scopes"
            ) from None


OPTIONS = tuple(option.name for option in fields(PCSampling) if option.init)


def parse_sampling(mode: ModeText) -> PCSampling:
    """The sampling mode of a text such as `"pcsampling:interval=4096:window=30ms:every=1s"`.

    Raises:
        UsageError: an unknown option, or a value that means nothing or is out of its range.
    """
    values: dict[str, Any] = {}  # text, which is read in there
    for key, value in mode.options.items():
        if key not in OPTIONS:
            raise UsageError.unknown("option of mode 'pcsampling'", key, choices=OPTIONS)
        values[key] = unescape(value) if key == "include" else value
    return PCSampling(**values)


def _cycles(value: object) -> int:
    low, high = 1 << MIN_EXPONENT, 1 << MAX_EXPONENT
    try:
        cycles = int(value) if isinstance(value, int | str) else low - 1
    except ValueError:
        cycles = low - 1
    if not low <= cycles <= high:
        raise UsageError(
            f"interval must be {low} to {high} (2**{MAX_EXPONENT}) cycles, not {value!r}"
        )
    return cycles


def _time_ns(option: str, value: object) -> int:
    return _in_range(option, value, _TIME_UNITS, "s", _TIME_RANGES_NS[option])


def _bytes(value: object) -> int:
    return _in_range("buffer", value, _SIZE_UNITS, "B", _SIZE_RANGE_BYTES)


def _in_range(
    option: str, value: object, units: dict[str, int], unit: str, limits: tuple[int, int]
) -> int:
    number = _number(value, units, unit)
    if number is None or not limits[0] <= number <= limits[1]:
        low, high = (_as_text(limit, units) for limit in limits)
        raise UsageError(
            f"{option} must be {low} to {high} (units: {', '.join(units)}), not {value!r}"
        )
    return number


def _number(value: object, units: dict[str, int], unit: str) -> int | None:
    """What `value` is in the smallest unit; a number alone is in `unit`."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = _QUANTITY.fullmatch(str(value).strip())
    if found is None:
        return None
    named = {name.lower(): factor for name, factor in units.items()}
    factor = named.get((found[2] or unit).lower())
    return None if factor is None else round(Fraction(found[1]) * factor)


def _as_text(number: int, units: dict[str, int]) -> str:
    """`number` in the largest unit in which it is whole."""
    name, factor = max(
        (each for each in units.items() if number % each[1] == 0), key=lambda each: each[1]
    )
    return f"{number // factor}{name}"
