"""The hook of in-kernel recording, which is not built yet."""

from __future__ import annotations

import pytest

from proton.errors import BackendUnavailable, UsageError
from proton.hooks import InstrumentationHook


def test_making_one_says_what_to_use_instead() -> None:
    with pytest.raises(BackendUnavailable, match=r"'instrumentation' is unavailable: .*interpret"):
        InstrumentationHook("default")


def test_a_bad_mode_is_told_first() -> None:
    with pytest.raises(UsageError, match="unknown mode 'x'"):
        InstrumentationHook("x")


def test_its_buffer_settings_are_the_known_ones() -> None:
    hook = InstrumentationHook
    assert (hook.enable_host_buffer, hook.host_buffer) == (False, None)
    assert (hook.profile_buffer_size, hook.profile_buffer_alignment) == (1, 128)
