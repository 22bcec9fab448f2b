"""Making a process ready to sample: helper libraries, refusals, the fallback."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from proton import _native
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import other_tools as holders
from proton.backends.cupti import sampling_probe as probe
from proton.backends.cupti import sampling_setup as sampling
from proton.backends.cupti.sampling_mode import PCSampling
from proton.backends.cupti.sampling_setup import Obstacle
from proton.errors import BackendUnavailable

KNOBS = Knobs()


def refuse_warning(text: str) -> None:
    pytest.fail(f"nothing is to be said: {text}")


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
    monkeypatch.setattr(sampling, "find_driver", lambda knobs: "libcuda.so.1")
    monkeypatch.setattr(sampling, "_passed", set())
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: None, raising=False)
    monkeypatch.setattr(_native.Cupti, "has_contexts", lambda: True, raising=False)
    return opened


class Gpu:
    """Stands for the other process: what it was asked, and what it says."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, list[str]]] = []
        self.verdict = probe.Verdict()

    def ask(self, libcupti: str, libcuda: str, helpers: list[str]) -> probe.Verdict:
        names = [Path(path).name for path in helpers]
        self.asked.append((Path(libcupti).name, libcuda, names))
        return self.verdict


@pytest.fixture
def gpu(loaded: list[str], monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """A GPU that no context of this process can tell of yet."""
    found = Gpu()
    monkeypatch.setattr(probe, "ask", found.ask)
    monkeypatch.setattr(_native.Cupti, "has_contexts", lambda: False, raising=False)
    return found


def test_a_gpu_without_contexts_is_asked_once_with_the_same_libraries(gpu: Gpu) -> None:
    for _ in range(2):
        assert sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning) is None
    assert gpu.asked == [("libcupti.so.13", "libcuda.so.1", list(sampling.PERF_LIBRARIES))]


def test_a_gpu_that_refuses_is_asked_again(gpu: Gpu) -> None:
    gpu.verdict = probe.Verdict(refusal="busy; end it")
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match="here: busy; end it; or give fallback"):
            sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning)
    assert len(gpu.asked) == 2


def test_a_gpu_that_says_nothing_is_no_reason_to_refuse(gpu: Gpu) -> None:
    gpu.verdict = probe.Verdict(silence="no process could be started")
    said: list[str] = []
    assert sampling.prepare_sampling(PCSampling(), KNOBS, said.append) is None
    assert len(said) == 1
    assert "not found out before the start: no process could be started; a CUDA" in said[0]


def test_contexts_that_are_there_speak_for_themselves(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native.Cupti, "has_contexts", lambda: True, raising=False)
    assert sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning) is None
    assert gpu.asked == []


def test_the_helpers_beside_libcupti_are_opened_before_it(loaded: list[str]) -> None:
    assert sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning) is None
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
        sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning)


def test_with_the_fallback_the_refusal_is_returned_and_the_hub_is_open(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "find_obstacle", lambda knobs: Obstacle("it is MIG", "end it"))
    error = sampling.prepare_sampling(PCSampling(fallback="timing"), KNOBS, refuse_warning)
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
        sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning)


def test_where_the_helpers_are_there_cuptis_own_remedy_stands(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: "busy; end it", raising=False)
    with pytest.raises(BackendUnavailable, match="here: busy; end it; or give fallback=timing"):
        sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning)


def test_who_may_hold_cupti_is_told_where_cupti_does_not(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "another tool holds CUPTI (error 39); stop it"
    monkeypatch.setattr(_native.Cupti, "check_sampling", lambda: reason, raising=False)
    monkeypatch.setattr(holders, "suspects", lambda: ["Nsight"])
    with pytest.raises(BackendUnavailable, match="another tool holds CUPTI") as raised:
        sampling.prepare_sampling(PCSampling(), KNOBS, refuse_warning)
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
