"""The in-kernel modes: what each records, its own options, and how several are joined.

`parse(str(mode)) == mode` holds for every mode here. A new mode is a class and a row of `MODES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, cast

from proton._mode_text import BaseMode, ModeText, split_modes, unescape
from proton.errors import UsageError
from proton.inkernel.modes.instrumentation_mode import (
    SHARED,
    Granularity,
    InstrumentationMode,
    iteration_cap,
    join_options,
    option_fields,
    true_or_false,
    whole_number,
    words,
)

# name -> class, imported when used; also the order in which joined modes stand
MODES: dict[str, str] = {
    "default": "proton.inkernel.modes.mode_table:Default",
    "ops": "proton.inkernel.modes.mode_table:Ops",
    "loops": "proton.inkernel.modes.mode_table:Loops",
    "mma": "proton.inkernel.modes.mode_table:MMA",
    "async-wait": "proton.inkernel.modes.mode_table:AsyncWait",
    "cta": "proton.inkernel.modes.mode_table:Cta",
    "bytes": "proton.inkernel.modes.mode_table:Bytes",
    "memory": "proton.inkernel.modes.mode_table:Memory",
    "call-at": "proton.inkernel.modes.callback_mode:CallAt",
}
DEFAULT_BINS = 128
DEFAULT_BIN_BYTES = 4096
MOST_BINS = 1 << 16
MOST_BIN_BYTES = 1 << 30


@dataclass(frozen=True)
class Default(InstrumentationMode):
    """Records around the scopes that the kernel's source names."""

    passes: ClassVar[tuple[str, ...]] = ("record-user-scopes",)
    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class Ops(InstrumentationMode):
    """Records around the operations of `ops`: groups such as load and dot, or operations' names."""

    passes: ClassVar[tuple[str, ...]] = ("record-around-ops",)
    name: str = field(default="ops", init=False)
    ops: tuple[str, ...] = ("load", "store", "atomic", "copy", "wait", "dot", "barrier")

    def __post_init__(self) -> None:
        from proton.inkernel.ir.op_groups import kinds_of

        super().__post_init__()
        self._set("ops", words(self.ops))
        kinds_of(self.ops)  # refuses unknown words
        if not self.ops:
            raise UsageError("ops must name operations to record, as in ops=load,dot")


@dataclass(frozen=True)
class Loops(InstrumentationMode):
    """Records around loops (`whole`) and the first `cap` iterations of each run; 0: all."""

    passes: ClassVar[tuple[str, ...]] = ("record-loops",)
    name: str = field(default="loops", init=False)
    cap: int = 64
    whole: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("cap", iteration_cap(self.cap))
        self._set("whole", true_or_false("whole", self.whole))


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """Records around matrix instructions and the waits for them."""

    passes: ClassVar[tuple[str, ...]] = ("record-mma",)
    name: str = field(default="mma", init=False)


@dataclass(frozen=True)
class AsyncWait(InstrumentationMode):
    """Marks where copies are issued, records around the waits for them, over many iterations."""

    passes: ClassVar[tuple[str, ...]] = ("record-async-waits",)
    name: str = field(default="async-wait", init=False)


@dataclass(frozen=True)
class Cta(InstrumentationMode):
    """Start, end and SM of every CTA; one warp of each says so, unless `granularity` is given."""

    passes: ClassVar[tuple[str, ...]] = ("record-ctas",)
    name: str = field(default="cta", init=False)
    granularity: Granularity = Granularity.CTA


@dataclass(frozen=True)
class Bytes(InstrumentationMode):
    """Counts accesses to global memory, and the bytes they move, for every load and store."""

    passes: ClassVar[tuple[str, ...]] = ("record-ctas", "count-bytes")
    name: str = field(default="bytes", init=False)


@dataclass(frozen=True)
class Memory(InstrumentationMode):
    """Counts accesses by address: a heat map of every tensor, and each warp's first address.

    `bins` is what every CTA adds to a launch's table, `bin_bytes` the memory that a bin stands for.
    """

    passes: ClassVar[tuple[str, ...]] = ("record-ctas", "record-memory")
    name: str = field(default="memory", init=False)
    bins: int = DEFAULT_BINS
    bin_bytes: int = DEFAULT_BIN_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("bins", whole_number("bins", self.bins, "bins"))
        self._set("bin_bytes", whole_number("bin_bytes", self.bin_bytes, "bytes"))
        check_bins(self.bins, self.bin_bytes)


@dataclass(frozen=True)
class Joined(InstrumentationMode):
    """Several modes in one: `loops+memory`. Shared options are its own, the others its parts'."""

    name: str = field(default="", init=False)
    joined: tuple[InstrumentationMode, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("joined", tuple(sorted(self.joined, key=lambda part: _rank(part.name))))
        self._set("name", "+".join(part.name for part in self.joined))
        if len(set(self.names)) < len(self.names):
            raise UsageError(f"mode {self.name!r} names a mode twice; name it once")

    @property
    def parts(self) -> tuple[InstrumentationMode, ...]:
        """The modes it is made of."""
        return self.joined

    def __str__(self) -> str:
        first, *rest = self.joined
        options = {**first.given(is_shared=False), **self.given(is_shared=True)}
        texts = [join_options(first.name, options), *map(str, rest)]
        return "+".join(texts)


def join_modes(
    modes: tuple[InstrumentationMode, ...], given: Sequence[Mapping[str, object]] = ()
) -> InstrumentationMode:
    """One mode of several; options that all modes share may be given with any of them.

    Args:
        modes: In any order.
        given: The shared options of each, where it is known which were given: a value that is a
            mode's default was given, too, if somebody wrote it.

    Raises:
        UsageError: a mode is named twice, or two give the same option different values.
    """
    parts = tuple(part for mode in modes for part in mode.parts)
    if len(parts) == 1:
        return modes[0]
    shared: dict[str, Any] = {}
    for options in given or [mode.given(is_shared=True) for mode in modes]:
        for option, value in options.items():
            if shared.setdefault(option, value) != value:
                raise UsageError(
                    f"option {option!r} is {shared[option]!s} and {value!s} in modes that are "
                    "joined; give it once"
                )
    return Joined(joined=tuple(_without_shared(part) for part in parts), **shared)


def load_mode_class(name: str) -> type[InstrumentationMode]:
    """The class of a mode.

    Raises:
        UsageError: no mode has this name; the message lists those there are.
    """
    if (target := MODES.get(name)) is None:
        raise UsageError.unknown("mode", name, choices=MODES)
    module, _, attribute = target.partition(":")
    return cast(type[InstrumentationMode], getattr(import_module(module), attribute))


def parse_instrumentation(mode: str | BaseMode | None) -> InstrumentationMode:
    """The in-kernel mode of a string such as `"loops:cap=8+mma"`; `""` is the default one.

    Raises:
        UsageError: unknown mode, unknown option, malformed option, a value that is no choice, or an
            object that would record nothing.
    """
    if isinstance(mode, InstrumentationMode):
        _check_passes(mode)
        return mode
    if isinstance(mode, type):
        raise UsageError(f"mode {mode.__name__} is a class; give an object: {mode.__name__}()")
    texts = split_modes(str(mode or "")) or (ModeText("default", {}),)
    modes = tuple(_read(text.name or "default", text.options) for text in texts)
    given = [
        {option: getattr(read, option) for option in text.options if option in SHARED}
        for text, read in zip(texts, modes, strict=True)
    ]
    return join_modes(modes, given)


def _check_passes(mode: InstrumentationMode) -> None:
    for part in mode.parts:
        if not part.passes:
            known = f"; write mode={part.name!r}, or" if part.name in MODES else "; write"
            raise UsageError(
                f"mode {part.name!r}, an object of class {type(part).__name__}, has no passes, so "
                f"it would record nothing{known} an object of a class of proton.mode that has"
            )


def _read(name: str, options: Mapping[str, str]) -> InstrumentationMode:
    kind = load_mode_class(name)
    known = [option.name for option in option_fields(kind)]
    for key in options:
        if key not in known:
            raise UsageError.unknown("instrumentation option", key, choices=known)
    texts = {key: unescape(value) for key, value in options.items()}
    return kind(**texts)  # type: ignore[arg-type]  # text is looked up in there


def _without_shared(part: InstrumentationMode) -> InstrumentationMode:
    """The part with only its own options."""
    shared = [each for each in option_fields(type(part)) if each.name in SHARED]
    defaults: dict[str, Any] = {each.name: each.default for each in shared}
    return replace(part, **defaults)


def _rank(name: str) -> int:
    return list(MODES).index(name) if name in MODES else len(MODES)


def check_bins(bins: int, bin_bytes: int) -> None:
    """Raise UsageError for a table that no kernel can have."""
    for name, value, least, most in (
        ("bins", bins, 16, MOST_BINS),
        ("bin_bytes", bin_bytes, 16, MOST_BIN_BYTES),
    ):
        if not least <= value <= most or value & (value - 1):
            raise UsageError(f"{name} must be a power of two from {least} to {most}, not {value!r}")
