"""The instrumentation backend on machines that it cannot work on, and modes it cannot take."""

from __future__ import annotations

import pytest

from proton.backends.common.base import RecordsInKernel, load_backend
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver
from proton.backends.instrumentation.backend import InstrumentationBackend
from proton.errors import BackendUnavailable, UsageError


def test_it_is_the_backend_of_its_name_and_has_records() -> None:
    assert load_backend("instrumentation") is InstrumentationBackend
    assert isinstance(InstrumentationBackend(), RecordsInKernel)


def test_an_unknown_mode_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="unknown mode 'spam'"):
        InstrumentationBackend("spam")


def test_a_machine_without_a_driver_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "devices", list)
    monkeypatch.setattr(driver, "find_library", lambda folders: None)
    with pytest.raises(BackendUnavailable, match="'instrumentation' is unavailable: this machine"):
        InstrumentationBackend(knobs=Knobs()).start(None)  # type: ignore[arg-type]


def test_flushing_and_stopping_what_never_started_is_harmless() -> None:
    backend = InstrumentationBackend()
    backend.flush(0.1)
    backend.flush_soon()
    backend.stop()
    assert backend.recorded_kernels(0) == ()
    backend.drop_phase(0)
