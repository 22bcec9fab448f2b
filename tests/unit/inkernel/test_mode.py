"""Modes: their grammar, their options, and their text."""

from __future__ import annotations

from typing import Any

import pytest

from proton.errors import UsageError
from proton.inkernel.mode import (
    MMA,
    BaseMode,
    BufferType,
    Default,
    Granularity,
    Optimize,
    buffer_types,
    granularities,
    optimizations,
    parse_instrumentation,
    split_modes,
)


def test_an_empty_string_holds_no_mode() -> None:
    assert split_modes(" ") == ()


def test_a_mode_has_a_name_and_options() -> None:
    (mode,) = split_modes("memory:bins=4096:ops=load,store")
    assert (mode.name, dict(mode.options)) == ("memory", {"bins": "4096", "ops": "load,store"})


def test_modes_join_with_a_plus() -> None:
    assert [str(mode) for mode in split_modes("loops+memory:bins=4")] == ["loops", "memory:bins=4"]


def test_options_may_stand_without_a_name() -> None:
    (mode,) = split_modes("buffer_type=global")
    assert (mode.name, dict(mode.options)) == ("", {"buffer_type": "global"})


@pytest.mark.parametrize("text", ["default:shared", "default:=x", "default:buffer_type=", "a:"])
def test_a_malformed_option_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"malformed option .*write key=value"):
        split_modes(text)


def test_an_option_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="option 'a' is given twice"):
        split_modes("default:a=1:a=2")


@pytest.mark.parametrize(
    "mode",
    [
        Default(),
        MMA(),
        Default(buffer_type=BufferType.GLOBAL, buffer_size=4096),
        MMA(granularity=Granularity.WARP_4, optimizations=(Optimize.CLOCK32, Optimize.TIMESHIFT)),
        Default(sampling_strategy="selective", sampling_options="0,1,2"),  # type: ignore[arg-type]
    ],
)
def test_a_mode_is_read_back_from_its_text(mode: Default) -> None:
    assert parse_instrumentation(str(mode)) == mode


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
    with pytest.raises(ValueError, match="unknown mode 'x'; choose one of 'default', 'mma'"):
        parse_instrumentation("x")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown instrumentation option 'x'; .*'buffer_size'"):
        parse_instrumentation("mma:x=1")


def test_two_in_kernel_modes_are_refused_for_now() -> None:
    with pytest.raises(ValueError, match="only one in-kernel mode at a time"):
        parse_instrumentation("default+mma")


def test_a_plain_mode_prints_its_name() -> None:
    assert str(BaseMode("x")) == "x"


def test_modes_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Default().buffer_size = 1  # type: ignore[misc]


def test_the_lookups_have_the_known_words() -> None:
    assert set(buffer_types) == {"shared", "global"}
    assert set(optimizations) == {"time_shift", "sched_stores", "sched_barriers", "clock32"}
    assert set(granularities) == {"cta", "warp", "warp_2", "warp_4", "warp_8"} | {
        "warp_group",
        "warp_group_2",
        "warp_group_4",
        "warp_group_8",
    }


def test_options_without_a_mode_are_written_as_they_were_given() -> None:
    (mode,) = split_modes("graphs=graph")
    assert str(mode) == "graphs=graph"
