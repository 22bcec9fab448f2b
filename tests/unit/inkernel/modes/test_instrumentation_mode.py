"""Modes: the grammar of their strings, and the words of their options."""

from __future__ import annotations

import pytest

from proton._mode_text import BaseMode, split_modes
from proton.errors import UsageError
from proton.inkernel.modes.instrumentation_mode import buffer_types, granularities, optimizations


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


def test_a_plain_mode_prints_its_name() -> None:
    assert str(BaseMode("x")) == "x"


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
