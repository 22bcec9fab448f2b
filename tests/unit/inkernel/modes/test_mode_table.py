"""In-kernel modes: their options, their text, and how they are joined."""

from __future__ import annotations

from typing import Any

import pytest

from proton.errors import UsageError
from proton.inkernel.modes.instrumentation_mode import (
    BufferType,
    Granularity,
    InstrumentationMode,
    Optimize,
)
from proton.inkernel.modes.mode_table import (
    MMA,
    MODES,
    AsyncWait,
    Cta,
    Default,
    Joined,
    Loops,
    Ops,
    join_modes,
    load_mode_class,
    parse_instrumentation,
)


@pytest.mark.parametrize(
    "mode",
    [
        Default(),
        MMA(),
        Default(buffer_type=BufferType.GLOBAL, buffer_size=4096),
        MMA(granularity=Granularity.WARP_4, optimizations=(Optimize.CLOCK32, Optimize.TIMESHIFT)),
        Default(sampling_strategy="selective", sampling_options="0,1,2"),  # type: ignore[arg-type]
        Ops(ops="load,tt.splat"),  # type: ignore[arg-type]
        Loops(cap=0, whole=False, budget=2.5),
        AsyncWait(buffer_strategy="flush"),  # type: ignore[arg-type]
        Cta(),
        Cta(granularity=Granularity.WARP),
        join_modes((Loops(cap=8), MMA())),
        join_modes((Cta(), Ops(ops=("dot",)), Default(buffer_type=BufferType.GLOBAL))),
    ],
    ids=str,
)
def test_a_mode_is_read_back_from_its_text(mode: InstrumentationMode) -> None:
    assert parse_instrumentation(str(mode)) == mode


def test_every_mode_of_the_table_stands_under_its_name_and_names_passes() -> None:
    for name in MODES.keys() - {"call-at"}:  # which needs a file
        mode = load_mode_class(name)()  # type: ignore[call-arg]  # subclasses have a name
        assert mode.name == name
        assert mode.passes
        assert (mode.names, mode.parts) == ((name,), (mode,))
        assert parse_instrumentation(name) == mode


def test_joined_modes_are_the_same_in_any_order() -> None:
    mode = parse_instrumentation("mma+loops:cap=8:buffer_type=global")
    assert mode == parse_instrumentation("loops:cap=8+mma:buffer_type=global")
    assert str(mode) == "loops:cap=8:buffer_type=global+mma"
    assert mode.names == ("loops", "mma")
    assert mode.parts == (Loops(cap=8), MMA())
    assert mode.buffer_type is BufferType.GLOBAL
    assert mode.name == "loops+mma"


def test_joined_modes_may_be_joined_again() -> None:
    assert join_modes((parse_instrumentation("ops+cta"), MMA())) == Joined(
        joined=(Ops(), MMA(), Cta())
    )


def test_a_joined_cta_mode_leaves_the_warps_to_the_others() -> None:
    assert parse_instrumentation("cta").granularity is Granularity.CTA
    assert parse_instrumentation("cta+ops").granularity is Granularity.WARP
    chosen = parse_instrumentation("cta:granularity=cta+ops")
    assert chosen.granularity is Granularity.CTA
    assert parse_instrumentation(str(chosen)) == chosen


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ops+ops", r"mode 'ops\+ops' names a mode twice"),
        ("ops:buffer_size=64+mma:buffer_size=128", "'buffer_size' is 64 and 128 in modes"),
        ("ops:granularity=cta+mma:granularity=warp", "'granularity' is cta and warp in modes"),
        ("ops+", r"mode 'ops\+' has a '\+' with no mode beside it"),
        ("ops++mma", r"mode 'ops\+\+mma' has a '\+' with no mode beside it"),
        ("loops+x", "unknown mode 'x'; choose one of 'async-wait', 'bytes', 'call-at', 'cta'"),
        ("loops:ops=load", "unknown instrumentation option 'ops'; choose one of .*'cap'"),
        ("loops:cap=many", "cap must be a whole number of iterations, 0 or more, not 'many'"),
        ("loops:cap=5000000000", "cap must be 1048576 at most, not '5000000000'; 0 records all"),
        ("loops:whole=maybe", "whole must be true or false, not 'maybe'"),
        ("ops:ops=loads", "unknown group of operations 'loads'; choose one of 'atomic'"),
        ("default:budget=fast", "budget must be the percent that a kernel may slow down"),
        ("default:budget=-1", "budget must be the percent .* not '-1'"),
        ("default:sampling_strategy=selective", "sampling_options '' must list what to record"),
        ("default:sampling_options=a", "sampling_options 'a' must list what to record"),
        ("ops:sampling_options=0,1", "sampling_options '0,1' choose nothing without sampling_s"),
        ("ops:sampling_options=0,-1", "sampling_options '0,-1' must list what to record"),
    ],
)
def test_wrong_modes_are_refused_with_the_choices(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_instrumentation(text)


def test_a_class_in_the_place_of_a_mode_is_pointed_out() -> None:
    with pytest.raises(UsageError, match=r"mode Ops is a class; give an object: Ops\(\)"):
        parse_instrumentation(Ops)  # type: ignore[arg-type]


def test_a_mode_that_would_record_nothing_is_refused() -> None:
    wanted = (
        "'ops', an object of class InstrumentationMode, has no passes, .*; write mode='ops', or"
    )
    with pytest.raises(UsageError, match=wanted):
        parse_instrumentation(InstrumentationMode("ops"))
    with pytest.raises(UsageError, match=r"mode 'mine', .*; write an object of a class of proton"):
        parse_instrumentation(join_modes((Ops(), InstrumentationMode("mine"))))


def test_operations_to_record_must_be_named() -> None:
    with pytest.raises(UsageError, match="ops must name operations to record"):
        Ops(ops=())


def test_a_budget_may_be_written_as_percent() -> None:
    assert Default(budget="3%").budget == 3.0  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", None, "default"])
def test_the_default_mode_needs_no_name(text: str | None) -> None:
    assert parse_instrumentation(text) == Default()


def test_options_may_be_text_or_members() -> None:
    assert Default(buffer_type="global") == Default(buffer_type=BufferType.GLOBAL)  # type: ignore[arg-type]


def test_optimizations_may_be_one_text() -> None:
    mode = Default(optimizations="clock32, time_shift")  # type: ignore[arg-type]
    assert mode.optimizations == (Optimize.CLOCK32, Optimize.TIMESHIFT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric_type": "x"}, "unknown metric_type 'x'; choose one of 'cycle'"),
        ({"buffer_type": "x"}, "unknown buffer_type 'x'; choose one of 'global', 'shared'"),
        ({"buffer_strategy": 1}, "unknown buffer_strategy 1; choose one of 'circular', 'flush'"),
        ({"sampling_strategy": "x"}, "unknown sampling_strategy 'x'"),
        ({"granularity": "thread"}, "unknown granularity 'thread'"),
        ({"optimizations": ("fast",)}, "unknown optimization 'fast'"),
        ({"buffer_size": -1}, "buffer_size must be a whole number of bytes, 0 or more, not -1"),
        ({"buffer_size": "big"}, "buffer_size must be a whole number .* not 'big'"),
    ],
)
def test_a_value_that_is_no_choice_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Default(**options)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown mode 'x'; choose one of .*'default', .*'mma'"):
        parse_instrumentation("x")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown instrumentation option 'x'; .*'buffer_size'"):
        parse_instrumentation("mma:x=1")


def test_modes_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Default().buffer_size = 1  # type: ignore[misc]
