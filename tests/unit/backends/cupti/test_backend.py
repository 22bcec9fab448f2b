"""The backend of one session, over a hub that is a stand-in."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from proton import _native, _triton
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import backend as backend_module
from proton.backends.cupti.backend import CuptiBackend
from proton.backends.cupti.event_timer import EventTimer
from proton.backends.cupti.hub import DetachTimer
from proton.errors import BackendUnavailable, UsageError


class FakeHub:
    """Stands for `_native.Cupti`; keeps what was asked of it."""

    calls: list[Any]
    refusal: BackendUnavailable | None = None
    flushes_in_time = True
    refusals = 3
    obstacle: str | None = None  # to sampling

    cubins: list[Any]
    listener: Any = None  # to problems

    @classmethod
    def add_cubin(cls, cubin: bytes, ptx: str) -> None:
        cls.cubins.append((cubin, ptx))

    @classmethod
    def check_sampling(cls) -> str | None:
        return cls.obstacle

    @classmethod
    def has_contexts(cls) -> bool:
        return True

    @classmethod
    def set_problem_listener(cls, listener: Any) -> None:
        cls.listener = listener

    @classmethod
    def is_loaded(cls) -> bool:
        return True

    @classmethod
    def start(cls, session: Any, **options: Any) -> None:
        if cls.refusal is not None:
            raise cls.refusal
        cls.calls.append(("start", options))

    @classmethod
    def enable_hw_trace(cls) -> str:
        cls.calls.append(("enable_hw_trace", None))
        return "no effect: too old"

    @classmethod
    def flush(cls, timeout_s: float) -> bool:
        cls.calls.append(("flush", timeout_s))
        return cls.flushes_in_time

    @classmethod
    def take_problems(cls) -> list[str]:
        return [] if cls.flushes_in_time else ["waited 30 s for device 0 to finish its work"]

    @classmethod
    def stop(cls, session: Any) -> None:
        cls.calls.append(("stop", session))

    @classmethod
    def detach(cls) -> None:
        """Asked, late, for sessions of other tests."""

    @classmethod
    def let_go(cls) -> bool:
        cls.calls.append(("detach", None))
        return True

    @classmethod
    def stats(cls) -> dict[str, int]:
        return {"graph_refusals": cls.refusals, "clock_residual_ns": 40, "samples": 0}

    @classmethod
    def devices(cls) -> list[dict[str, Any]]:
        return [{"arch": "90", "num_sms": 132}]


class Sink:
    """A session that keeps what it is told."""

    is_active = True
    event_count = 1

    def __init__(self) -> None:
        self.devices: dict[int, Any] = {}
        self.losses: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.records: list[Any] = []
        self.sampling: dict[str, Any] | None = None
        self.phase = 2
        self.asked_phases: list[int] = []
        self.activations = 0
        self.refusal: BackendUnavailable | None = None

    def activate(self) -> None:
        self.activations += 1
        if self.refusal is not None:
            raise self.refusal

    def set_sampling(self, **options: Any) -> None:
        self.sampling = options

    def has_phase(self, phase: int) -> bool:
        return phase != 1

    def missing_code(self, phase: int) -> list[tuple[int, str]]:
        self.asked_phases.append(phase)
        return []

    def add_device(self, device_type: str, device_id: int, attributes: Any) -> None:
        self.devices[device_id] = attributes

    def count_loss(self, kind: str, count: int = 1) -> None:
        self.losses[kind] += count

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def add_autotune(self, record: Any) -> None:
        self.records.append(record)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A hub that has loaded its libraries."""
    fake: Any = type("Own", (FakeHub,), {"calls": [], "cubins": []})
    monkeypatch.setattr(_native, "Cupti", fake, raising=False)
    monkeypatch.setattr(backend_module, "_detach_timer", DetachTimer(fake.let_go))
    return fake


@pytest.fixture
def sink() -> Any:
    return Sink()


def started(sink: Any, mode: str = "", **knobs: Any) -> CuptiBackend:
    backend = CuptiBackend(mode, knobs=Knobs(cuda_library="libfake.so", **knobs))
    backend.start(sink)
    return backend


def test_a_session_is_started_flushed_and_stopped(hub: Any, sink: Any) -> None:
    backend = started(sink)
    backend.flush()
    backend.stop()
    assert [name for name, _ in hub.calls] == ["start", "flush", "stop", "detach"]


def test_stopping_twice_is_harmless(hub: Any, sink: Any) -> None:
    backend = started(sink)
    backend.stop()
    backend.stop()
    assert [name for name, _ in hub.calls] == ["start", "stop", "detach"]


def test_the_mode_reaches_the_hub(hub: Any, sink: Any) -> None:
    started(sink, "graphs=graph").stop()
    assert hub.calls[0][1]["graphs"] == "graph"


@pytest.mark.parametrize(("size", "buffer_bytes"), [(0, 0), (64 << 20, 64 << 20)])
def test_the_hub_picks_the_buffer_size_unless_a_knob_does(
    hub: Any, sink: Any, size: int, buffer_bytes: int
) -> None:
    started(sink, profile_buffer_size=size).stop()
    assert hub.calls[0][1]["buffer_bytes"] == buffer_bytes


def test_the_sizes_and_timings_of_the_knobs_reach_the_hub(hub: Any, sink: Any) -> None:
    started(sink, profile_metric_buffer_size=1 << 20, graph_launch_timing=True).stop()
    assert hub.calls[0][1]["value_bytes"] == 1 << 20
    assert hub.calls[0][1]["graph_timing"] is True


def test_hardware_trace_is_asked_for_only_by_its_knob(
    hub: Any, sink: Any, caplog: pytest.LogCaptureFixture
) -> None:
    started(sink).stop()
    assert "enable_hw_trace" not in [name for name, _ in hub.calls]
    started(sink, enable_hw_trace=True).stop()
    assert [name for name, _ in hub.calls][-4:] == ["start", "enable_hw_trace", "stop", "detach"]
    assert sink.warnings == ["no effect: too old"]
    assert "no effect: too old" in caplog.text


def test_a_mode_that_does_not_exist_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(UsageError, match="unknown value of option 'graphs'"):
        CuptiBackend("graphs=x")


def test_devices_are_described_when_flushed(hub: Any, sink: Any) -> None:
    backend = started(sink)
    backend.flush()
    backend.stop()
    assert sink.devices == {0: {"arch": "90", "num_sms": 132, "clock_residual_ns": 40}}


def test_devices_nobody_used_are_not_looked_at(hub: Any, sink: Any) -> None:
    sink.event_count = 0
    backend = started(sink)
    backend.flush()
    backend.stop()
    assert sink.devices == {}


def test_an_older_graph_that_ended_tracing_as_a_whole_is_said(hub: Any, sink: Any) -> None:
    backend = started(sink, "graphs=graph")
    backend.flush()
    assert sink.warnings == []
    hub.refusals += 1
    backend.flush()
    backend.stop()
    assert "captured before the session" in sink.warnings[0]


def test_a_flush_that_takes_too_long_says_what_it_waited_for(hub: Any, sink: Any) -> None:
    hub.flushes_in_time = False
    backend = started(sink)
    backend.flush()
    backend.stop()
    assert sink.losses == {"flush_timeout": 1}
    assert sink.warnings == ["waited 30 s for device 0 to finish its work"]


@pytest.mark.parametrize("comes_back", [False, True])
def test_cupti_that_hangs_is_not_asked_to_go_which_nothing_limits(
    hub: Any, sink: Any, comes_back: bool
) -> None:
    hub.flushes_in_time = False
    backend = started(sink)
    backend.flush()
    hub.flushes_in_time = comes_back
    backend.flush()
    backend.stop()
    assert ("detach" in [name for name, _ in hub.calls]) is comes_back


def test_launches_without_a_record_are_told_of_when_there_are_more(hub: Any, sink: Any) -> None:
    backend = started(sink)
    backend.flush()
    assert sink.warnings == []
    sink.losses["unrecorded_launch"] = 7
    backend.flush()
    backend.flush()
    assert len(sink.warnings) == 1
    assert "no record of some kernels" in sink.warnings[0]
    sink.losses["unrecorded_launch"] = 8
    backend.flush()
    backend.stop()
    assert len(sink.warnings) == 2


def test_launches_without_a_record_are_no_other_tools_where_the_gpu_failed(
    hub: Any, sink: Any
) -> None:
    hub.flushes_in_time = False
    backend = started(sink)
    sink.losses["unrecorded_launch"] = 7
    backend.flush()
    backend.stop()
    assert sink.warnings == ["waited 30 s for device 0 to finish its work"]


class Timer:
    """Stands for an `EventTimer`, with three launches that never end."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def flush(self, limit_s: float) -> int:
        self.calls.append("flush")
        return 3

    def leave(self) -> None:
        self.calls.append("leave")

    def stop(self) -> None:
        self.calls.append("stop")


def held() -> BackendUnavailable:
    error = BackendUnavailable("cupti", reason="'kineto' holds CUPTI", remedy="stop it")
    error.code = 39  # type: ignore[attr-defined]
    return error


def test_where_another_tool_holds_cupti_kernels_are_timed_with_events(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refusal = held()
    timer = Timer()
    monkeypatch.setattr(EventTimer, "open", lambda sink, library: timer)
    backend = started(sink)
    backend.flush()
    backend.stop()
    assert timer.calls == ["start", "flush", "stop"]
    assert hub.calls == []
    assert sink.devices == {0: {"arch": "90", "num_sms": 132}}
    assert (sink.losses, len(sink.warnings)) == ({"flush_timeout": 3}, 2)
    assert "3 launches were still running" in sink.warnings[1]
    assert "'kineto' holds CUPTI" in sink.warnings[0]
    assert "timed with CUDA events" in sink.warnings[0]


def test_cupti_is_taken_after_a_pause_once_it_is_free(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refusal = held()
    timer = Timer()
    monkeypatch.setattr(EventTimer, "open", lambda sink, library: timer)
    backend = started(sink)
    sink.is_active = False
    backend.resume()  # it is not
    hub.refusal = BackendUnavailable("cupti", reason="no permission", remedy="ask")
    backend.resume()
    assert "no permission; ask" in sink.warnings[-1]
    hub.refusal = None
    sink.is_active = True
    backend.resume()  # an active session could hear of a launch twice
    assert (timer.calls, hub.calls) == (["start"], [])
    sink.is_active = False
    backend.resume()
    backend.resume()
    assert timer.calls == ["start", "leave"]
    backend.flush()
    backend.stop()
    assert timer.calls == ["start", "leave", "flush", "stop"]
    assert [name for name, _ in hub.calls] == ["start", "flush", "stop", "detach"]


def test_where_events_cannot_help_the_refusal_stands(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refusal = held()
    monkeypatch.setattr(EventTimer, "open", lambda sink, library: None)
    with pytest.raises(BackendUnavailable, match="'kineto' holds CUPTI; stop it"):
        started(sink)


def test_another_refusal_is_not_worked_around(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refusal = BackendUnavailable("cupti", reason="no permission", remedy="ask")
    monkeypatch.setattr(EventTimer, "open", lambda sink, library: Timer())
    with pytest.raises(BackendUnavailable, match="no permission; ask"):
        started(sink)


SAMPLED = {
    "period_exponent": 6,
    "buffer_bytes": 512 << 20,
    "drain_ns": 200_000_000,
    "window_ns": 0,
    "every_ns": 0,
}


def test_a_sampling_session_tells_the_hub_how(hub: Any, sink: Any) -> None:
    started(sink, "pcsampling:interval=64:graphs=graph").stop()
    assert hub.calls[0][1]["sampling"] == SAMPLED
    assert hub.calls[0][1]["graphs"] == "graph"


def test_a_session_is_told_how_it_is_sampled(hub: Any, sink: Any) -> None:
    started(sink, "pcsampling:interval=60:window=30ms:every=1s:include=ge.m").stop()
    include = sink.sampling.pop("include")
    assert sink.sampling == {
        "period_cycles": 64,
        "window_ns": 30_000_000,
        "every_ns": 1_000_000_000,
    }
    assert include("my_gemm")
    assert not include("softmax")


def test_without_sampling_a_session_is_told_nothing(hub: Any, sink: Any) -> None:
    started(sink).stop()
    assert (hub.calls[0][1]["sampling"], sink.sampling) == (None, None)


def test_cubins_of_triton_are_handed_over_before_samples_are_shown(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = [("a", b"A", "// a")]
    monkeypatch.setattr(_triton, "compiled_kernels", lambda: kernels)
    monkeypatch.setattr(_triton, "cache_folder", lambda: None)
    backend = started(sink, "pcsampling")
    assert hub.cubins == []
    backend.flush()
    backend.flush()
    backend.stop()
    assert hub.cubins == [(b"A", "// a")]
    assert sink.asked_phases[:2] == [0, 2]  # those that are in memory


def test_where_sampling_is_impossible_nothing_is_started(hub: Any, sink: Any) -> None:
    hub.obstacle = "the GPU gives no stall reasons"
    with pytest.raises(BackendUnavailable, match="cannot sample here: the GPU gives no stall"):
        started(sink, "pcsampling")
    assert hub.calls == []


def test_the_fallback_times_kernels_and_says_why(
    hub: Any, sink: Any, caplog: pytest.LogCaptureFixture
) -> None:
    hub.obstacle = "the GPU gives no stall reasons"
    started(sink, "pcsampling:fallback=timing").stop()
    assert hub.calls[0][1]["sampling"] is None
    assert sink.sampling is None
    (warning,) = sink.warnings
    assert "the GPU gives no stall reasons" in warning
    assert warning.endswith("this profile has times only")
    assert warning in caplog.text


def test_contexts_that_refuse_when_sampling_begins_are_told_with_the_fallback(
    hub: Any, sink: Any
) -> None:
    sink.refusal = BackendUnavailable("cupti", reason="the counters are busy", remedy="end DCGM")
    message = "'pcsampling' cannot sample here: the counters are busy; end DCGM; or give fallback="
    with pytest.raises(BackendUnavailable, match=message):
        started(sink, "pcsampling")
    assert [name for name, _ in hub.calls] == ["start", "stop"]
    hub.calls.clear()
    started(sink, "pcsampling:fallback=timing").stop()
    assert [name for name, _ in hub.calls] == ["start", "stop", "start", "stop", "detach"]
    assert hub.calls[2][1]["sampling"] is None
    assert sink.warnings[0].endswith("this profile has times only")


def test_only_sampling_is_begun_by_the_backend(hub: Any, sink: Any) -> None:
    started(sink).stop()
    assert sink.activations == 0
    started(sink, "pcsampling").stop()
    assert sink.activations == 1


def test_a_held_cupti_refuses_sampling_unless_there_is_a_fallback(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refusal = held()
    monkeypatch.setattr(EventTimer, "open", lambda sink, library: Timer())
    with pytest.raises(BackendUnavailable, match="'kineto' holds CUPTI; stop it"):
        started(sink, "pcsampling")
    started(sink, "pcsampling:fallback=timing").stop()
    assert "; nothing is sampled; Triton kernels are timed" in sink.warnings[0]


def test_autotuning_is_kept_while_the_session_is_active_and_ours(
    hub: Any, sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = started(sink)
    backend._on_autotune({"kernel": "a"})
    sink.is_active = False
    backend._on_autotune({"kernel": "b"})
    sink.is_active = True
    monkeypatch.setattr(os, "getpid", os.getppid)
    backend._on_autotune({"kernel": "c"})
    monkeypatch.undo()
    monkeypatch.setattr(_native, "Cupti", hub, raising=False)
    backend.stop()
    assert sink.records == [{"kernel": "a"}]
