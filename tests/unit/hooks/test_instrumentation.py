"""The hook of in-kernel recording."""

from __future__ import annotations

import pytest

from proton.errors import UsageError
from proton.hooks import InstrumentationHook
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.modes.mode_table import Ops
from proton.runtime.sessions import flags


def test_it_checks_its_mode() -> None:
    with pytest.raises(UsageError, match="unknown mode 'x'"):
        InstrumentationHook("x")
    assert InstrumentationHook.profile_buffer_alignment == 128
    assert InstrumentationHook("ops").mode == Ops()


def test_it_records_while_it_is_active_and_a_session_takes_the_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = InstrumentationHook("ops")
    hook.activate()
    assert choice.session is None  # nobody takes records: kernels stay plain
    hook.deactivate()
    monkeypatch.setattr(flags, "instrumentation_on", True)
    hook.activate()
    hook.activate()
    assert choice.session == Ops()
    hook.deactivate()
    assert choice.session is None
    hook.deactivate()
