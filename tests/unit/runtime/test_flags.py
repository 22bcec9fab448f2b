"""The process-wide switches."""

from __future__ import annotations

import pytest

from proton.flags import flags


def test_everything_is_off_at_first() -> None:
    assert repr(flags) == (
        "Flags(command_line=False, instrumentation_on=False, profiling_on=False)"
    )


def test_there_are_no_other_flags() -> None:
    with pytest.raises(AttributeError):
        flags.profilling_on = True  # type: ignore[attr-defined]
