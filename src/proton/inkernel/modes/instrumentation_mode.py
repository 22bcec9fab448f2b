"""The options that in-kernel modes share: their words, their defaults, and how they are checked.

`mode_table` has the modes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from enum import Enum
from typing import Any, ClassVar, TypeVar

from proton._mode_text import (
    BaseMode,
    escape,
)
from proton.errors import UsageError


class _Option(Enum):
    """An option's value; prints as users write it."""

    def __str__(self) -> str:
        return str(self.value)


class MetricType(_Option):
    """What a record holds."""

    CYCLE = "cycle"


class BufferStrategy(_Option):
    """What happens when a buffer is full: oldest records go, or the host is told."""

    CIRCULAR = "circular"
    FLUSH = "flush"


class BufferType(_Option):
    """The memory a kernel keeps its records in."""

    SHARED = "shared"
    GLOBAL = "global"


class SamplingStrategy(_Option):
    """Which units record: all, or those listed in `sampling_options`."""

    NONE = "none"
    SELECTIVE = "selective"


class Granularity(_Option):
    """The unit of execution that keeps its own records."""

    CTA = "cta"
    WARP = "warp"
    WARP_2 = "warp_2"
    WARP_4 = "warp_4"
    WARP_8 = "warp_8"
    WARP_GROUP = "warp_group"
    WARP_GROUP_2 = "warp_group_2"
    WARP_GROUP_4 = "warp_group_4"
    WARP_GROUP_8 = "warp_group_8"


class Optimize(_Option):
    """Ways to make records cheaper or steadier."""

    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"


_E = TypeVar("_E", bound=_Option)


def _by_text(options: Iterable[_E]) -> dict[str, _E]:
    return {str(option): option for option in options}


metric_types = _by_text(MetricType)
buffer_strategies = _by_text(BufferStrategy)
buffer_types = _by_text(BufferType)
sampling_strategies = _by_text(SamplingStrategy)
granularities = _by_text(Granularity)
optimizations = _by_text(Optimize)


def _choose(option: str, value: object, choices: Mapping[str, _E]) -> _E:
    """The enum member that `value` is or spells."""
    if isinstance(value, Enum) and value in choices.values():
        return choices[str(value)]
    if isinstance(value, str) and value.lower() in choices:
        return choices[value.lower()]
    raise UsageError.unknown(option, value, choices=choices)


def _items(value: object) -> tuple[object, ...]:
    """The items of a list written as `"a,b"`, or of any iterable."""
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    return tuple(value) if isinstance(value, Iterable) else (value,)


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """In-kernel recording. Options may be given as text or as members of this module's enums.

    A mode of its own derives from this, names its passes, and adds its own options as fields; a
    pass gets the fields that are called as its options.

    Raises:
        UsageError: an option's value is none of its choices, or a number is out of its range.
    """

    passes: ClassVar[tuple[str, ...]] = ()  # on TTGIR and on LLVM text

    metric_type: MetricType = MetricType.CYCLE
    sampling_strategy: SamplingStrategy = SamplingStrategy.NONE
    sampling_options: str = ""
    granularity: Granularity = Granularity.WARP
    buffer_strategy: BufferStrategy = BufferStrategy.CIRCULAR
    buffer_type: BufferType = BufferType.SHARED
    buffer_size: int = 0  # bytes of a CTA; 0 lets the compiler choose
    optimizations: tuple[Optimize, ...] = ()
    budget: float = 0.0  # percent that a kernel may slow down; 0: no limit

    def __post_init__(self) -> None:
        for option, choices in _CHOICES.items():
            self._set(option, _choose(option, getattr(self, option), choices))
        chosen = (_choose("optimization", o, optimizations) for o in _items(self.optimizations))
        self._set("optimizations", tuple(dict.fromkeys(chosen)))
        self._set("sampling_options", _checked_sampling(self))
        self._set("buffer_size", whole_number("buffer_size", self.buffer_size, "bytes"))
        self._set("budget", _checked_budget(self.budget))

    def _set(self, option: str, value: object) -> None:
        object.__setattr__(self, option, value)  # the one way in a frozen dataclass

    @property
    def parts(self) -> tuple[InstrumentationMode, ...]:
        """The modes that this one is made of: itself, where it was not joined with `+`."""
        return (self,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parts."""
        return tuple(part.name for part in self.parts)

    def given(self, *, is_shared: bool) -> dict[str, object]:
        """The options that are not at their defaults: those that all modes share, or its own."""
        return {
            each.name: getattr(self, each.name)
            for each in option_fields(type(self))
            if getattr(self, each.name) != each.default and (each.name in SHARED) is is_shared
        }

    def __str__(self) -> str:
        """The shortest string that parses back to this mode."""
        return join_options(
            self.name, {**self.given(is_shared=False), **self.given(is_shared=True)}
        )


def option_fields(mode: type[InstrumentationMode]) -> list[Field[Any]]:
    """The options of a mode."""
    return [each for each in fields(mode) if each.init and each.name != "name"]


def join_options(name: str, options: Mapping[str, object]) -> str:
    """A mode's text."""
    return ":".join([name, *(f"{key}={_text(value)}" for key, value in options.items())])


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return escape(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


MOST_ITERATIONS = 1 << 20  # of a loop that count: with the loop's step it must fit into 32 bits
SHARED = frozenset(each.name for each in option_fields(InstrumentationMode))

_CHOICES: dict[str, Mapping[str, Any]] = {
    "metric_type": metric_types,
    "sampling_strategy": sampling_strategies,
    "granularity": granularities,
    "buffer_strategy": buffer_strategies,
    "buffer_type": buffer_types,
}


def whole_number(
    option: str, value: object, unit: str = "", *, most: int | None = None, instead: str = ""
) -> int:
    """An option's value as a number, 0 or more.

    Args:
        option: Its name.
        value: A number, or its text.
        unit: Of the number.
        most: The largest there is; None: any.
        instead: What to write in place of a larger one.

    Raises:
        UsageError: it is none, or too large.
    """
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0:
        of = f" of {unit}" if unit else ""
        raise UsageError(f"{option} must be a whole number{of}, 0 or more, not {value!r}")
    if most is not None and number > most:
        raise UsageError(f"{option} must be {most} at most, not {value!r}{instead}")
    return number


def iteration_cap(value: object) -> int:
    """How many iterations of a loop are recorded; 0: all.

    Raises:
        UsageError: it is no such number.
    """
    return whole_number(
        "cap", value, "iterations", most=MOST_ITERATIONS, instead="; 0 records all iterations"
    )


def true_or_false(option: str, value: object) -> bool:
    """An option's value as a truth.

    Raises:
        UsageError: it is none.
    """
    text = str(value).lower()
    if text not in ("true", "false"):
        raise UsageError(f"{option} must be true or false, not {value!r}")
    return text == "true"


def words(value: object) -> tuple[str, ...]:
    """An option's value as words: a list, or one text with commas."""
    return tuple(map(str, _items(value)))


def _checked_sampling(mode: InstrumentationMode) -> str:
    ids = words(mode.sampling_options)
    is_selective = mode.sampling_strategy is SamplingStrategy.SELECTIVE
    if (is_selective and not ids) or not all(each.isdecimal() for each in ids):
        raise UsageError(
            f"sampling_options {mode.sampling_options!r} must list what to record with "
            "sampling_strategy='selective', as in '0,1,2'"
        )
    if ids and not is_selective:
        raise UsageError(
            f"sampling_options {mode.sampling_options!r} choose nothing without "
            "sampling_strategy='selective'; give that, too, or leave them out to record all"
        )
    return ",".join(ids)


def _checked_budget(value: object) -> float:
    try:
        percent = float(str(value).removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0.0 <= percent < 1e6:
        raise UsageError(
            f"budget must be the percent that a kernel may slow down, as in budget=3, or 0 for no "
            f"limit, not {value!r}"
        )
    return percent
