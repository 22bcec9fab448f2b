"""Modes of a backend: the grammar of their strings, and the in-kernel options as dataclasses.

The grammar is `name:key=value:key=value`; values may be lists `a,b`; modes join with `+`.
`parse(str(mode)) == mode` holds for every mode here. What a mode does is the backend's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, TypeVar

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


@dataclass(frozen=True)
class ModeText:
    """One mode as written: its name and its options, not yet looked up."""

    name: str
    options: Mapping[str, str]

    def __str__(self) -> str:
        options = (f"{key}={value}" for key, value in self.options.items())
        return ":".join(filter(None, (self.name, *options)))


def split_modes(text: str) -> tuple[ModeText, ...]:
    """The modes of a string, in order; options without a mode name belong to the name `""`.

    Raises:
        UsageError: an option is not `key=value`, or is given twice.
    """
    return tuple(_split_mode(part.strip()) for part in text.split("+")) if text.strip() else ()


def _split_mode(text: str) -> ModeText:
    head, *rest = text.split(":")
    if "=" in head:
        head, rest = "", [head, *rest]
    options: dict[str, str] = {}
    for option in rest:
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not (key and equals and value):
            raise UsageError(f"malformed option {option!r} in mode {text!r}; write key=value")
        if key in options:
            raise UsageError(f"option {key!r} is given twice in mode {text!r}; give it once")
        options[key] = value
    return ModeText(head.strip(), options)


@dataclass(frozen=True)
class BaseMode:
    """A mode with a name and nothing else."""

    name: str

    def __str__(self) -> str:
        return self.name


def _choose(option: str, value: object, choices: Mapping[str, _E]) -> _E:
    """The enum member that `value` is or spells."""
    if isinstance(value, Enum) and value in choices.values():
        return choices[str(value)]
    if isinstance(value, str) and value.lower() in choices:
        return choices[value.lower()]
    raise UsageError.unknown(option, value, choices=choices)


def _items(value: object) -> tuple[Any, ...]:
    """The items of a list written as `"a,b"`, or of any iterable."""
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    return tuple(value) if isinstance(value, Iterable) else (value,)


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """In-kernel recording. Options may be given as text or as members of this module's enums.

    Raises:
        UsageError: an option's value is none of its choices, or `buffer_size` is negative.
    """

    metric_type: MetricType = MetricType.CYCLE
    sampling_strategy: SamplingStrategy = SamplingStrategy.NONE
    sampling_options: str = ""
    granularity: Granularity = Granularity.WARP
    buffer_strategy: BufferStrategy = BufferStrategy.CIRCULAR
    buffer_type: BufferType = BufferType.SHARED
    buffer_size: int = 0  # bytes; 0 lets the compiler choose
    optimizations: tuple[Optimize, ...] = ()

    def __post_init__(self) -> None:
        for option, choices in _CHOICES.items():
            self._set(option, _choose(option, getattr(self, option), choices))
        chosen = (_choose("optimization", o, optimizations) for o in _items(self.optimizations))
        self._set("optimizations", tuple(dict.fromkeys(chosen)))
        self._set("sampling_options", ",".join(map(str, _items(self.sampling_options))))
        self._set("buffer_size", _whole_number("buffer_size", self.buffer_size))

    def _set(self, option: str, value: object) -> None:
        object.__setattr__(self, option, value)  # the one way in a frozen dataclass

    def __str__(self) -> str:
        """The shortest string that parses back to this mode."""
        texts = [self.name]
        for option in fields(InstrumentationMode):
            value = getattr(self, option.name)
            if option.name != "name" and value != option.default:
                text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
                texts.append(f"{option.name}={text}")
        return ":".join(texts)


_CHOICES: dict[str, Mapping[str, Any]] = {
    "metric_type": metric_types,
    "sampling_strategy": sampling_strategies,
    "granularity": granularities,
    "buffer_strategy": buffer_strategies,
    "buffer_type": buffer_types,
}


def _whole_number(option: str, value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0:
        raise UsageError(f"{option} must be a whole number of bytes, 0 or more, not {value!r}")
    return number


@dataclass(frozen=True)
class Default(InstrumentationMode):
    """Records around the scopes that the kernel's source names."""

    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """Records around matrix multiplications."""

    name: str = field(default="mma", init=False)


MODES: dict[str, type[InstrumentationMode]] = {"default": Default, "mma": MMA}


def parse_instrumentation(mode: str | BaseMode | None) -> InstrumentationMode:
    """The in-kernel mode of a string such as `"mma:buffer_type=global"`; `""` is the default one.

    Raises:
        UsageError: unknown mode, unknown option, malformed option, or a value that is no choice.
    """
    if isinstance(mode, InstrumentationMode):
        return mode
    texts = split_modes(str(mode or ""))
    if len(texts) > 1:
        raise UsageError(f"mode {str(mode)!r}: only one in-kernel mode at a time is supported")
    name, options = (texts[0].name or "default", texts[0].options) if texts else ("default", {})
    if name not in MODES:
        raise UsageError.unknown("mode", name, choices=MODES)
    known = [option.name for option in fields(MODES[name]) if option.init]
    for key in options:
        if key not in known:
            raise UsageError.unknown("instrumentation option", key, choices=known)
    return MODES[name](**dict(options))  # type: ignore[arg-type]  # text is looked up in there
