"""Arguments and environment as options."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proton.backends.cupti.sampling_mode import PCSampling
from proton.errors import BackendUnavailable, UsageError
from proton.inkernel.modes.mode_table import Loops
from proton.runtime.environment import (
    is_disabled,
    read_knobs,
    read_rank,
    unreadable_settings,
)
from proton.runtime.options import SessionOptions, resolve
from proton.runtime.request import SessionRequest

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in os.environ:
        if variable in RANKS or variable.startswith("TRITON_"):
            monkeypatch.delenv(variable)


def options(name: str | None = "run", **changes: Any) -> SessionOptions:
    return resolve(SessionRequest(name, **changes))


def test_no_name_means_proton_in_the_current_folder(tmp_cwd: Path) -> None:
    assert options(None).stem == str(tmp_cwd / "proton")


def test_a_path_object_is_a_name(tmp_path: Path) -> None:
    assert options(tmp_path / "run").stem == str(tmp_path / "run")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "-"])
def test_an_empty_name_or_a_dash_is_standard_output(name: str) -> None:
    assert options(name).stem is None


def test_two_spellings_of_one_path_are_one_session(tmp_cwd: Path) -> None:
    assert options("run").key == options("./x/../run").key


def test_the_home_folder_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert options("~/run").stem == str(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "data", "stem", "output_format"),
    [
        ("run.hatchet", "tree", "run", "hatchet"),
        ("run.hatchet_msgpack", "tree", "run", "hatchet_msgpack"),
        ("run.v2.pftrace", "trace", "run.v2", "perfetto"),
        ("run.v2", "tree", "run.v2", "hatchet"),
        (".hatchet", "tree", ".hatchet", "hatchet"),
    ],
)
def test_a_suffix_in_the_name_is_the_format(
    name: str, data: str, stem: str, output_format: str, tmp_cwd: Path
) -> None:
    chosen = options(name, data=data)
    assert (chosen.stem, chosen.format_to_write("")) == (str(tmp_cwd / stem), output_format)
    assert (chosen.name, chosen.notices) == (name, ())


def test_a_suffix_that_does_not_fit_stays_in_the_name_and_is_said(tmp_cwd: Path) -> None:
    chosen = options("run.chrome_trace")
    assert (chosen.stem, chosen.format_to_write("")) == (
        str(tmp_cwd / "run.chrome_trace"),
        "hatchet",
    )
    assert chosen.notices == (
        "name 'run.chrome_trace': a tree session cannot be written as 'chrome_trace'; "
        "its file will be called 'run.chrome_trace.hatchet'",
    )


def test_parts_are_written_in_the_format_of_the_name() -> None:
    chosen = options("run.hatchet_msgpack", backend="interpreter", mode="periodic_flushing")
    assert chosen.flush_format == "hatchet_msgpack"


def test_the_process_id_is_filled_in() -> None:
    assert options("run_{pid}").stem == os.path.abspath(f"run_{os.getpid()}")


def test_the_host_is_filled_in() -> None:
    assert options("{host}").stem == os.path.abspath(os.uname().nodename)


@pytest.mark.parametrize("variable", RANKS)
def test_the_rank_comes_from_any_launcher(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "7")
    assert options("run_{rank}").stem == os.path.abspath("run_7")


def test_the_rank_is_zero_without_a_launcher() -> None:
    assert options("run_{rank}").stem == os.path.abspath("run_0")


def test_a_rank_that_is_no_number_is_refused_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(UsageError, match="variable RANK='first' cannot be read; give a whole numb"):
        options("run_{rank}")


def test_a_rank_that_is_no_number_is_ignored_where_nobody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RANK", "first")
    assert read_rank(strict=False) is None


@pytest.mark.parametrize("name", ["a\0b", "folder/", "a/..", 3, b"run"])
def test_a_name_that_no_file_can_have_is_refused(name: Any) -> None:
    with pytest.raises(UsageError, match=r"^name "):
        options(name)


@pytest.mark.parametrize("name", ["x" * 248, "é" * 124, "x" * 247 + "{pid}"])
def test_a_name_that_is_too_long_is_refused_before_the_program_runs(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"too long: with its suffix it has \d+ bytes.* may have 255"
    ):
        options(name)


def test_a_name_may_be_as_long_as_a_file_system_allows() -> None:
    assert options("x" * 247).name == "x" * 247


def test_an_unknown_context_is_refused_with_the_choices() -> None:
    with pytest.raises(
        ValueError, match="unknown context 'x'; choose one of 'blame', 'ops', 'python', 'shadow'"
    ):
        options(context="x")


def test_unknown_data_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="unknown data 'x'; choose one of 'trace', 'tree'"):
        options(data="x")


def test_an_unknown_backend_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"unknown backend 'x'; choose one of 'cupti', "):
        options(backend="x")


def test_backend_names_have_any_case() -> None:
    assert options(backend="Interpreter").backend == "interpreter"


def test_roctracer_is_an_old_name_of_rocprofiler() -> None:
    assert options(backend="roctracer").backend == "rocprofiler"


def test_an_unknown_hook_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="unknown hook 'launch'; give None, 'triton' or"):
        options(hook="launch")


def test_a_mode_object_counts_as_its_text() -> None:
    assert options(backend="cupti", mode=PCSampling(interval=64)).mode == "pcsampling:interval=64"


@pytest.mark.parametrize("backend", ["cupti", "rocprofiler", "interpreter"])
def test_an_unknown_mode_is_refused_with_the_choices(backend: str) -> None:
    with pytest.raises(ValueError, match=rf"unknown mode of backend '{backend}' 'x'; choose .*'p"):
        options(backend=backend, mode="x")


def test_an_unknown_mode_option_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown option of mode 'pcsampling' 'x'; .*'interval'"):
        options(backend="cupti", mode="pcsampling:x=1")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("pcsampling:interval=1", "interval must be 32 to 2147483648"),
        ("pcsampling:window=1s", "window=1s needs every too"),
        ("pcsampling:window=2s:every=1s", "window=2s is longer than its period every=1s"),
        ("pcsampling:include=(", "no regular expression"),
        ("pcsampling+pcsampling", "given twice"),
    ],
)
def test_a_bad_sampling_option_is_refused_before_anything_starts(mode: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        options(backend="cupti", mode=mode)


def test_equal_sampling_modes_are_equal_however_they_are_written() -> None:
    written = options(backend="cupti", mode="pcsampling:window=0.03s:interval=64:every=1000ms")
    made = options(backend="cupti", mode=PCSampling(interval=64, window="30ms", every=1))
    assert written.mode == made.mode == "pcsampling:interval=64:window=30ms:every=1s"


def test_sampling_interpreted_kernels_is_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match=r"samples instructions of a GPU.*name backend 'cupti'"):
        options(backend="interpreter", mode="pcsampling")


def test_sampling_without_a_gpu_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(BackendUnavailable, match=r"needs an NVIDIA GPU, and TRITON_INTERPRET is"):
        options(backend=None, mode="pcsampling")


def test_periodic_flushing_is_the_sessions_business_not_the_backends() -> None:
    found = options(mode="periodic_flushing:format=hatchet_msgpack")
    assert (found.mode, found.flush_format) == ("", "hatchet_msgpack")


def test_periodic_flushing_joins_with_another_mode() -> None:
    found = options(backend="cupti", mode="pcsampling:interval=64+periodic_flushing")
    assert (found.mode, found.flush_format) == ("pcsampling:interval=64", "hatchet")


def test_periodic_flushing_refuses_a_format_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="unknown output format 'x'"):
        options(mode="periodic_flushing:format=x")


def test_a_bad_in_kernel_mode_is_refused_before_the_backend_is_loaded() -> None:
    with pytest.raises(ValueError, match=r"unknown mode 'x'; choose one of .*'cta', 'default'"):
        options(backend="instrumentation", mode="x")


def test_an_in_kernel_mode_stays_the_object_it_was() -> None:
    mode = Loops(cap=8)
    found = options(backend="instrumentation", mode=mode)
    assert found.mode_object is mode
    assert found.mode == "loops:cap=8"
    assert found == options(backend="instrumentation", mode="loops:cap=8")
    with pytest.raises(UsageError, match=r"mode Loops is a class; give an object: Loops\(\)"):
        options(backend="instrumentation", mode=Loops)


def test_equal_options_have_no_differences() -> None:
    assert options().differences(options()) == []


def test_differences_are_named_with_both_values() -> None:
    found = options().differences(options(context="python", mode="periodic_flushing"))
    assert found == [
        "context is 'shadow', not 'python'",
        "format of mode 'periodic_flushing' is None, not 'hatchet'",
    ]


def test_another_backend_may_have_another_hook() -> None:
    assert options().differences(options(backend="cupti", hook="triton")) == []


@pytest.mark.parametrize(("text", "value"), [("1", True), ("ON", True), ("no", False), ("", False)])
def test_the_environment_disables(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", text)
    assert is_disabled() is value


def test_a_boolean_that_cannot_be_read_is_refused_with_the_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "maybe")
    with pytest.raises(
        UsageError,
        match="environment variable TRITON_PROTON_DISABLE='maybe' cannot be read; give one of 1, ",
    ):
        is_disabled()


@pytest.mark.parametrize("text", ["64MB", "-1", "0", "1e6", "٣"])
def test_a_size_that_cannot_be_read_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", text)
    with pytest.raises(UsageError, match=r"TRITON_PROFILE_BUFFER_SIZE=.* whole number of bytes"):
        options()


@pytest.mark.parametrize("digits", [19, 30, 9999])
def test_a_size_beyond_all_memory_is_refused(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "9" * digits)
    with pytest.raises(UsageError, match=r"give a number of bytes that a machine can have$"):
        options()


@pytest.mark.parametrize("variable", ["TRITON_CUPTI_LIB_PATH", "TRITON_CUPTI_LIB_DIR"])
def test_both_spellings_of_the_cupti_folder_are_read(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/opt/cupti")
    assert read_knobs().cupti_lib_dir == "/opt/cupti"


def test_knobs_have_the_known_defaults() -> None:
    knobs = read_knobs()
    assert (knobs.disable, knobs.enable_nvtx, knobs.enable_hw_trace) == (False, True, False)
    assert (knobs.data_flush_timing, knobs.graph_launch_timing) == (False, False)
    assert knobs.cupti_lib_dir is knobs.cupti_lib_blackwell_dir is None
    assert knobs.profile_buffer_size == knobs.profile_metric_buffer_size == 0  # as backends like


# field of Knobs, its variable, what that says, what is set on triton.knobs.proton, what they mean
SWITCHES: list[tuple[str, str, str, object, object, object]] = [
    ("disable", "TRITON_PROTON_DISABLE", "1", False, True, False),
    ("enable_nvtx", "TRITON_ENABLE_NVTX", "0", True, False, True),
    ("enable_hw_trace", "TRITON_ENABLE_HW_TRACE", "1", 0, True, False),
    ("cupti_lib_dir", "TRITON_CUPTI_LIB_PATH", "/a", Path("/b"), "/a", "/b"),
    ("cupti_lib_blackwell_dir", "TRITON_CUPTI_LIB_BLACKWELL_PATH", "/a", "/b", "/a", "/b"),
    ("profile_buffer_size", "TRITON_PROFILE_BUFFER_SIZE", "70000", 80000, 70000, 80000),
    ("profile_metric_buffer_size", "TRITON_PROFILE_METRIC_BUFFER_SIZE", "7", "8", 7, 8),
]


@pytest.mark.parametrize(("field", "variable", "text", "knob", "by_text", "by_knob"), SWITCHES)
def test_a_knob_of_triton_wins_over_its_variable(
    field: str,
    variable: str,
    text: str,
    knob: object,
    by_text: object,
    by_knob: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, text)
    assert getattr(read_knobs(), field) == by_text
    set_knob(monkeypatch, field, knob)
    assert getattr(read_knobs(), field) == by_knob
    set_knob(monkeypatch, field, None)
    assert getattr(read_knobs(), field) == by_text


@pytest.mark.parametrize("variable", ["PROTON_DATA_FLUSH_TIMING", "PROTON_GRAPH_LAUNCH_TIMING"])
def test_timings_are_switched_on_by_the_environment(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    knobs = read_knobs()
    assert (knobs.data_flush_timing, knobs.graph_launch_timing) == (
        variable == "PROTON_DATA_FLUSH_TIMING",
        variable == "PROTON_GRAPH_LAUNCH_TIMING",
    )
    monkeypatch.setenv(variable, "often")
    with pytest.raises(UsageError, match=f"{variable}='often' cannot be read; give one of 1, true"):
        read_knobs()


@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("enable_hw_trace", "perhaps", "one of 1, true"),
        ("profile_buffer_size", "64MB", "a whole number of bytes above 0"),
        ("profile_buffer_size", -1, "a whole number of bytes above 0"),
        ("profile_metric_buffer_size", 1.5, "a whole number of bytes above 0"),
        ("cupti_lib_dir", 3, "a path"),
    ],
)
def test_a_knob_of_triton_that_cannot_be_read_is_refused(
    field: str, value: object, accepted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_knob(monkeypatch, field, value)
    with pytest.raises(UsageError) as caught:
        read_knobs()
    said = f"triton.knobs.proton.{field}={value!r} cannot be read; give {accepted}"
    assert str(caught.value).startswith(said)


def set_knob(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    """Set `triton.knobs.proton.NAME`; Triton itself is not needed."""
    knobs = SimpleNamespace(proton=SimpleNamespace(**{name: value}))
    monkeypatch.setitem(sys.modules, "triton.knobs", knobs)


def test_every_setting_that_cannot_be_read_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unreadable_settings() == []
    monkeypatch.setenv("PROTON_JOURNAL_INTERVAL", "soon")
    monkeypatch.setenv("TRITON_ENABLE_NVTX", "perhaps")
    nvtx, interval = unreadable_settings()
    assert "TRITON_ENABLE_NVTX" in nvtx
    assert "'perhaps'" in nvtx
    assert "PROTON_JOURNAL_INTERVAL" in interval


def test_a_device_or_pipe_cannot_be_the_name_of_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in ("/dev/null", pipe):
        with pytest.raises(UsageError, match="is a device or pipe"):
            resolve(SessionRequest(name=name))
    os.mkfifo(tmp_path / "run.hatchet")
    assert resolve(SessionRequest(name=tmp_path / "run.hatchet")).stem == str(tmp_path / "run")
