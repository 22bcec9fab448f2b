"""Opening, pausing and closing sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import BackendUnavailable, ProtonWarning, SessionNotFound, UsageError
from proton.flags import flags
from proton.hooks import Hook, HookManager, LaunchHook
from proton.runtime import sessions

pytestmark = pytest.mark.usefixtures("gpu")


def start(name: str = "run", **options: Any) -> int:
    opened = proton.start(name, **options)
    assert opened is not None
    return opened


def test_a_session_is_active_when_start_returns(gpu: Any, profile_of: Any) -> None:
    session = start()
    gpu.launch("kernel", 10)
    proton.finalize(session)
    metrics = profile_of("run.hatchet").metrics("kernel")
    assert metrics == {"time (ns)": 10, "count": 1, "device_id": "0", "device_type": "FAKE"}


def test_without_a_name_the_file_is_called_proton(gpu: Any, tmp_cwd: Path) -> None:
    proton.start()
    gpu.launch("kernel")
    proton.finalize()
    assert [path.name for path in tmp_cwd.iterdir()] == ["proton.hatchet"]


def test_the_file_lands_in_the_folder_that_was_current_at_the_start(
    gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    gpu.launch("kernel")
    (tmp_cwd / "other").mkdir()
    monkeypatch.chdir(tmp_cwd / "other")
    proton.finalize()
    assert (tmp_cwd / "run.hatchet").exists()


def test_ids_count_up_and_are_never_reused(gpu: Any) -> None:
    first = start("a")
    gpu.launch("kernel")
    proton.finalize(first)
    second = start("b")
    gpu.launch("kernel")
    proton.finalize(second)
    assert second == first + 1


@pytest.mark.parametrize(
    "options",
    [{"context": "x"}, {"data": "x"}, {"backend": "x"}, {"hook": "x"}, {"mode": "a:b"}],
)
def test_a_refused_start_burns_no_id_and_leaves_nothing(gpu: Any, options: Any) -> None:
    before = start("before")
    with pytest.raises(ValueError, match=r"x|malformed"):
        proton.start("run", **options)
    after = start("after")
    assert after == before + 1
    gpu.launch("kernel")
    proton.finalize()


def test_a_backend_that_fails_to_start_burns_no_id_and_leaves_nothing(gpu: Any) -> None:
    before = start("before")
    gpu.fails_to_start = True
    with pytest.raises(RuntimeError, match="fails to start"):
        proton.start("run")
    gpu.fails_to_start = False
    assert start("run") == before + 1
    gpu.launch("kernel")
    proton.finalize()


class BadHook(Hook):
    """Fails when it is activated."""

    def init_handle(self, *args: Any) -> None: ...
    def enter(self, metadata: Any) -> None: ...
    def exit(self, metadata: Any) -> None: ...
    def deactivate(self) -> None: ...
    def activate(self) -> None:
        raise RuntimeError("bad hook")


def test_a_hook_that_fails_leaves_no_session_behind(gpu: Any) -> None:
    with pytest.raises(RuntimeError, match="bad hook"):
        proton.start("run", hook=BadHook())
    assert sessions.open_sessions() == []
    assert gpu.sinks == []
    assert HookManager.active_hooks == []


def test_a_backend_added_with_a_bad_hook_is_not_left_running(gpu: Any) -> None:
    start(backend="fake")
    with pytest.raises(RuntimeError, match="bad hook"):
        start(backend="other_fake", hook=BadHook())
    assert len(gpu.sinks) == 1
    gpu.launch("kernel")
    proton.finalize()


def test_the_launch_hook_may_be_named_or_given(gpu: Any) -> None:
    assert start(hook="triton") == start(hook=LaunchHook())
    gpu.launch("kernel")
    proton.finalize()


@pytest.mark.parametrize("backend", ["cupti", "rocprofiler", "roctracer", "instrumentation"])
def test_a_backend_that_is_not_built_says_what_to_use(backend: str) -> None:
    with pytest.raises(BackendUnavailable, match="backend='interpreter'"):
        proton.start("run", backend=backend)


def test_the_same_arguments_activate_the_open_session(gpu: Any, profile_of: Any) -> None:
    session = start(context="shadow")
    proton.deactivate(session)
    assert start(context="shadow") == session
    gpu.launch("kernel")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["kernel"]


def test_another_spelling_of_the_path_is_the_same_session(gpu: Any) -> None:
    assert start("run") == start("./run")
    gpu.launch("kernel")
    proton.finalize()


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"context": "python"}, "context is 'shadow', not 'python'"),
        ({"data": "trace"}, "data is 'tree', not 'trace'"),
        ({"hook": "triton"}, "hook is None, not 'triton'"),
        ({"mode": "fast"}, "mode is '', not 'fast'"),
    ],
)
def test_other_options_for_an_open_session_are_refused_by_name(
    gpu: Any, options: Any, difference: str
) -> None:
    start()
    with pytest.raises(ValueError, match=f"session 'run' is open already .*{difference}; finalize"):
        proton.start("run", **options)
    gpu.launch("kernel")
    proton.finalize()


def test_another_backend_is_added_to_the_same_session(gpu: Any, profile_of: Any) -> None:
    session = start(backend="fake")
    assert start(backend="other_fake", mode="fast") == session
    assert gpu.log == ["start", "start fast"]
    gpu.launch("kernel")
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.header["backends"] == ["fake", "other_fake"]
    assert profile.metrics("kernel")["count"] == 2  # once by each


def test_an_added_backend_must_agree_on_the_context(gpu: Any) -> None:
    start(backend="fake")
    with pytest.raises(ValueError, match="context is 'shadow', not 'python'"):
        start(backend="other_fake", context="python")
    gpu.launch("kernel")
    proton.finalize()


def test_a_paused_session_records_nothing(gpu: Any, profile_of: Any) -> None:
    session = start()
    gpu.launch("before")
    proton.deactivate(session)
    gpu.launch("while paused")
    proton.activate(session)
    gpu.launch("after")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["before", "after"]


def test_pausing_and_activating_twice_is_harmless(gpu: Any, profile_of: Any) -> None:
    session = start()
    proton.deactivate(session)
    proton.deactivate(session)
    proton.activate(session)
    proton.activate(session)
    gpu.launch("kernel")
    proton.finalize()
    assert profile_of("run.hatchet").metrics("kernel")["count"] == 1


def test_no_id_means_all_sessions(gpu: Any, profile_of: Any) -> None:
    start("a")
    start("b")
    proton.deactivate()
    gpu.launch("while paused")
    proton.activate()
    gpu.launch("kernel")
    proton.finalize()
    assert profile_of("a.hatchet").paths() == profile_of("b.hatchet").paths() == ["kernel"]


def test_flushing_asks_the_backend(gpu: Any) -> None:
    session = start()
    proton.deactivate(session)
    assert "flush" not in gpu.log
    proton.deactivate(session, flushing=True)
    assert gpu.log == ["start", "flush"]
    gpu.launch("kernel")
    with pytest.warns(ProtonWarning):
        proton.finalize()


@pytest.mark.parametrize("function", [proton.activate, proton.deactivate])
def test_an_unknown_id_is_an_index_error_that_lists_the_open_ones(gpu: Any, function: Any) -> None:
    session = start()
    with pytest.raises(SessionNotFound, match=rf"initialized: 999; .*: {session}$"):
        function(999)
    with pytest.raises(IndexError):
        function(999)
    gpu.launch("kernel")
    proton.finalize()


def test_finalizing_an_unknown_id_does_nothing(tmp_cwd: Path) -> None:
    proton.finalize(999)
    assert list(tmp_cwd.iterdir()) == []


def test_finalizing_twice_writes_once(gpu: Any) -> None:
    session = start()
    gpu.launch("kernel")
    proton.finalize(session)
    written = os.stat("run.hatchet").st_mtime_ns
    proton.finalize(session)
    assert os.stat("run.hatchet").st_mtime_ns == written


def test_finalizing_one_leaves_the_other_open(gpu: Any, tmp_cwd: Path) -> None:
    first, second = start("a"), start("b")
    gpu.launch("kernel")
    proton.finalize(first)
    assert [path.name for path in tmp_cwd.iterdir()] == ["a.hatchet"]
    proton.finalize(second)


def test_finalizing_stops_the_backend(gpu: Any) -> None:
    start()
    gpu.launch("kernel")
    proton.finalize()
    assert gpu.log == ["start", "flush", "stop"]


def test_sessions_record_side_by_side_with_their_own_context_and_data(
    gpu: Any, profile_of: Any
) -> None:
    start("shadow")
    start("python", context="python")
    start("trace", data="trace")
    with proton.scope("scope"):
        gpu.launch("kernel")
    proton.finalize()
    assert profile_of("shadow.hatchet").paths() == ["scope", "scope/kernel"]
    frames = profile_of("python.hatchet").paths()[-1]
    assert frames.endswith("/kernel")
    assert "@test_sessions_record_side_by_side" in frames
    assert "scope" not in frames.split("/")
    assert '"cat":"kernel"' in Path("trace.chrome_trace").read_text()


def test_an_unknown_format_is_refused_before_anything_is_written(gpu: Any, tmp_cwd: Path) -> None:
    session = start()
    gpu.launch("kernel")
    with pytest.raises(ValueError, match="unknown output format 'xml'; choose one of"):
        proton.finalize(session, output_format="xml")
    assert list(tmp_cwd.iterdir()) == []
    proton.finalize(session)
    assert (tmp_cwd / "run.hatchet").exists()


def test_a_format_that_one_session_cannot_take_closes_none(gpu: Any, tmp_cwd: Path) -> None:
    start("a")
    start("b", data="trace")
    gpu.launch("kernel")
    with pytest.raises(ValueError, match="'hatchet' cannot hold a trace session"):
        proton.finalize(output_format="hatchet")
    assert list(tmp_cwd.iterdir()) == []
    proton.finalize()


def test_the_output_format_is_chosen_at_the_end(gpu: Any, tmp_cwd: Path) -> None:
    start()
    gpu.launch("kernel")
    proton.finalize(output_format="hatchet_msgpack")
    assert [path.name for path in tmp_cwd.iterdir()] == ["run.hatchet_msgpack"]


def test_a_run_that_captured_nothing_says_so_and_why(gpu: Any, tmp_cwd: Path) -> None:
    session = start()
    with pytest.warns(
        ProtonWarning,
        match=r"session 'run' captured nothing: no kernel was launched and no scope .* s in which",
    ):
        proton.finalize(session)
    assert (tmp_cwd / "run.hatchet").exists()


def test_a_run_that_lost_everything_is_not_told_that_it_launched_nothing(
    gpu: Any, tmp_cwd: Path
) -> None:
    session = start()
    sessions.find(session).native.count_loss("incomplete_event", 5)
    with pytest.warns(
        ProtonWarning, match="captured nothing: all that was seen was lost: 5 incomplete_event$"
    ):
        proton.finalize(session)


def test_an_empty_run_names_the_warnings_of_its_session(gpu: Any, tmp_cwd: Path) -> None:
    session = start()
    sessions.find(session).native.warn("another tool holds CUPTI")
    with pytest.warns(
        ProtonWarning,
        match=r"no kernel was recorded .* active; the session was warned: another tool holds CUPTI",
    ):
        proton.finalize(session)


def test_the_warning_points_at_the_callers_line(gpu: Any) -> None:
    start()
    with pytest.warns(ProtonWarning) as caught:
        proton.finalize()
    assert caught[0].filename == __file__


def test_flags_follow_the_open_sessions(gpu: Any) -> None:
    assert not flags.profiling_on
    start()
    assert flags.profiling_on
    gpu.launch("kernel")
    proton.finalize()
    assert not flags.profiling_on


def test_the_environment_can_disable_everything(
    tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert proton.start("run") is None
    with proton.scope("scope", {"x": 1}):
        pass
    proton.finalize()
    assert list(tmp_cwd.iterdir()) == []


def test_the_knob_can_disable_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    knobs = pytest.importorskip("triton.knobs")
    monkeypatch.setitem(knobs.proton.__dict__, "disable", True)
    assert proton.start("run") is None


def test_an_environment_that_cannot_be_read_stops_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRITON_ENABLE_NVTX", "perhaps")
    with pytest.raises(UsageError, match="TRITON_ENABLE_NVTX='perhaps' cannot be read; give one"):
        proton.start("run")


@pytest.mark.parametrize("name", ["", "-"])
def test_an_empty_name_prints_the_profile(
    gpu: Any, name: str, capsys: pytest.CaptureFixture[str], tmp_cwd: Path
) -> None:
    start(name)
    gpu.launch("kernel")
    proton.finalize()
    output = capsys.readouterr().out
    assert output.startswith("[{")
    assert output.endswith("]\n")
    assert '"kernel"' in output
    assert list(tmp_cwd.iterdir()) == []


def test_python_frames_of_proton_itself_are_left_out(gpu: Any, profile_of: Any) -> None:
    @proton.profile(name="run", context="python")
    @proton.scope("decorated")
    @proton.state("state")
    def work() -> None:
        gpu.launch("kernel")

    work()
    proton.finalize()
    path = profile_of("run.hatchet").paths()[-1]
    assert path.endswith("/state/kernel")
    assert "@work/" in path
    assert "proton/runtime" not in path.replace("unit/runtime", "")


def test_a_trace_can_be_written_in_perfettos_own_format(gpu: Any, tmp_cwd: Path) -> None:
    start("timeline", data="trace")
    gpu.launch("kernel")
    proton.finalize(output_format="perfetto")
    assert [path.name for path in tmp_cwd.iterdir()] == ["timeline.pftrace"]
    assert Path("timeline.pftrace").read_bytes().startswith(b"\n")
