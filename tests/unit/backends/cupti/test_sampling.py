"""Making a process ready to sample: helper libraries, refusals, the fallback."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from proton import _native
from proton.backends.cupti import holders, sampling
from proton.backends.cupti.permission import Obstacle
from proton.backends.knobs import Knobs
from proton.errors import BackendUnavailable
from proton.inkernel.sampling import PCSampling

KNOBS = Knobs()


@pytest.fixture
def loaded(machine: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The libraries that were opened, on a machine whose libcupti has both helpers beside it."""
    folder = machine.add_file("site/nvidia/cu13/lib/libcupti.so.13").parent
    for name in sampling.PERF_LIBRARIES:
        (folder / name).touch()
    opened: list[str] = []

    def open_library(path: str, mode: int) -> None:
        assert mode == ctypes.RTLD_GLOBAL
        opened.append(Path(path).name)

    monkeypatch.setattr(ctypes, "CDLL", open_library)
    monkeypatch.setattr(sampling, "find_obstacle", lambda knobs: None)
    monkeypatch.setattr(sampling, "open_hub", lambda knobs: opened.append("hub"))
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: None, raising=False)
    return opened


def test_the_helpers_beside_libcupti_are_opened_before_it(loaded: list[str]) -> None:
    assert sampling.prepare_sampling(PCSampling(), KNOBS) is None
    assert loaded == ["libnvperf_target.so", "libnvperf_host.so", "hub"]


def test_a_helper_that_cannot_be_opened_is_said(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: str, mode: int) -> None:
        raise OSError("wrong ELF class")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert sampling.load_perf_libraries(KNOBS) == []
    assert "libnvperf_host.so cannot be opened, which sampling needs: wrong ELF" in caplog.text


def test_an_obstacle_is_refused_with_its_remedy(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "find_obstacle", lambda knobs: Obstacle("it is MIG", "end it"))
    message = "'pcsampling' cannot sample here: it is MIG; end it, or give fallback=timing"
    with pytest.raises(BackendUnavailable, match=message):
        sampling.prepare_sampling(PCSampling(), KNOBS)


def test_with_the_fallback_the_refusal_is_returned_and_the_hub_is_open(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "find_obstacle", lambda knobs: Obstacle("it is MIG", "end it"))
    error = sampling.prepare_sampling(PCSampling(fallback="timing"), KNOBS)
    assert "it is MIG; end it" in str(error)
    assert loaded == ["hub"]


def test_what_cupti_says_is_refused_with_the_helpers_it_lacks(
    loaded: list[str], machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.site / "nvidia/cu13/lib/libnvperf_host.so").unlink()
    monkeypatch.setattr(
        _native.Cupti, "check_sampling", lambda: "CUPTI has no stall reasons", raising=False
    )
    message = r"no stall reasons; libnvperf_host.so should lie beside .*libcupti.so.13: pip install"
    with pytest.raises(BackendUnavailable, match=message):
        sampling.prepare_sampling(PCSampling(), KNOBS)


def test_where_the_helpers_are_there_cuptis_own_remedy_stands(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: "busy; end it", raising=False)
    with pytest.raises(BackendUnavailable, match="here: busy; end it; or give fallback=timing"):
        sampling.prepare_sampling(PCSampling(), KNOBS)


def test_who_may_hold_cupti_is_told_where_cupti_does_not(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "another tool holds CUPTI (error 39); stop it"
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: reason, raising=False)
    monkeypatch.setattr(holders, "suspects", lambda: ["Nsight"])
    with pytest.raises(BackendUnavailable, match="another tool holds CUPTI") as raised:
        sampling.prepare_sampling(PCSampling(), KNOBS)
    assert raised.value.__notes__ == ["the holder may be Nsight"]


def test_the_hub_is_told_numbers() -> None:
    mode = PCSampling(interval=4000, buffer="64MB", drain="50ms", window="30ms", every="1s")
    assert sampling.native_options(mode) == {
        "period_exponent": 12,
        "buffer_bytes": 64 << 20,
        "drain_ns": 50_000_000,
        "window_ns": 30_000_000,
        "every_ns": 1_000_000_000,
    }
