"""Every switch of the environment and of `triton.knobs.proton`, seen by what it changes.

On the fake driver. What concerns a process for good (which libcupti, the hardware trace) runs in
one of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native
from proton.errors import UsageError
from tests.native.fake_cuda.driver import FakeDriver, build_driver

Run = Callable[..., subprocess.CompletedProcess[str]]
SetSwitch = Callable[[str, str, Any], None]

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture(params=["environment", "triton.knobs"])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SetSwitch:
    """`switch(variable, knob, value)` sets it in the environment, or on Triton's knobs."""

    def set_variable(variable: str, knob: str, value: Any) -> None:
        monkeypatch.setenv(variable, str(int(value) if isinstance(value, bool) else value))

    def set_knob(variable: str, knob: str, value: Any) -> None:
        knobs = pytest.importorskip("triton.knobs")
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.setitem(knobs.proton.__dict__, knob, value)

    return set_variable if request.param == "environment" else set_knob


def test_disable_records_nothing(switch: SetSwitch, fake_driver: FakeDriver, tmp_cwd: Path) -> None:
    switch("TRITON_PROTON_DISABLE", "disable", True)
    assert proton.start("run", backend="cupti") is None
    fake_driver.launch("k")
    proton.finalize()
    assert fake_driver.counter("cuptiSubscribe") == 0
    assert list(tmp_cwd.iterdir()) == []


@pytest.mark.parametrize("is_on", [True, False])
def test_nvtx_is_listened_to_unless_switched_off(
    is_on: bool, switch: SetSwitch, fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bool] = []
    monkeypatch.setattr(_native.Nvtx, "listen", heard.append)
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "")
    switch("TRITON_ENABLE_NVTX", "enable_nvtx", is_on)
    proton.start("run", backend="cupti")
    fake_driver.launch("k")
    proton.finalize()
    assert heard == ([True, False] if is_on else [])


@pytest.mark.parametrize(
    ("size_bytes", "at_least", "at_most"), [(64 << 10, 4, 99), (1 << 20, 1, 2)]
)
def test_the_buffer_size_is_that_of_the_buffers(
    size_bytes: int, at_least: int, at_most: int, switch: SetSwitch, fake_driver: FakeDriver
) -> None:
    switch("TRITON_PROFILE_BUFFER_SIZE", "profile_buffer_size", size_bytes)
    proton.start("run", backend="cupti")
    for _ in range(1500):  # of 216 bytes each
        fake_driver.launch("k")
    proton.finalize()
    assert at_least <= fake_driver.counter("buffers_completed") <= at_most


@pytest.mark.parametrize("size_bytes", [17, 2 << 30])
def test_a_buffer_size_out_of_bounds_is_refused(
    size_bytes: int, switch: SetSwitch, fake_driver: FakeDriver
) -> None:
    switch("TRITON_PROFILE_BUFFER_SIZE", "profile_buffer_size", size_bytes)
    with pytest.raises(
        UsageError,
        match=rf"a buffer of {size_bytes} bytes is no good for CUPTI; give .* as TRITON_PROF",
    ):
        proton.start("run", backend="cupti")


def test_the_metric_buffer_size_is_that_of_the_buffer_for_values(
    switch: SetSwitch, fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size_bytes in (1 << 20, 64 << 20):
        switch("TRITON_PROFILE_METRIC_BUFFER_SIZE", "profile_metric_buffer_size", size_bytes)
        record_one(fake_driver)
        assert _native.Cupti.stats()["value_bytes"] == size_bytes
    monkeypatch.undo()
    for name, value in fake_driver.environment.items():
        monkeypatch.setenv(name, value)
    record_one(fake_driver)
    assert _native.Cupti.stats()["value_bytes"] == 4 << 20


def record_one(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    fake_driver.launch("k")
    proton.finalize(session)


def test_flushes_are_timed_on_stderr(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record_one(fake_driver)
    assert "proton: session" not in capsys.readouterr().err
    monkeypatch.setenv("PROTON_DATA_FLUSH_TIMING", "1")
    record_one(fake_driver)
    lines = capsys.readouterr().err.splitlines()
    said = [re.sub(r"\d+\.\d{3} ms", "T", line) for line in lines]
    assert said == [
        "proton: session 'run': flushed in T",
        "proton: session 'run': phase 0 written in T",
    ]


def test_launches_of_graphs_are_timed_on_stderr(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = fake_driver.calls.fake_graph_create()
    fake_driver.calls.fake_graph_add_kernel(graph, fake_driver.function("k"))
    executable = fake_driver.instantiate(graph)

    def replays() -> list[str]:
        proton.start("run", backend="cupti")
        fake_driver.launch("k")
        fake_driver.replay(executable)
        fake_driver.replay(executable)
        proton.finalize()
        return [line for line in capfd.readouterr().err.splitlines() if "launch of" in line]

    assert replays() == []
    monkeypatch.setenv("PROTON_GRAPH_LAUNCH_TIMING", "1")
    lines = replays()
    assert len(lines) == 2
    for line in lines:
        found = re.fullmatch(
            r"proton: launch of (.*) took (\d+) ns, (\d+) ns of them in proton", line
        )
        assert found is not None
        assert found[1] == fake_driver.graph_name(executable)
        assert int(found[2]) > int(found[3]) > 0
    monkeypatch.delenv("PROTON_GRAPH_LAUNCH_TIMING")
    assert replays() == []


# Options of the fake driver as JSON, then knobs of Triton's to set; two sessions, one after the
# other. Prints what every fake libcupti saw.
SCRIPT = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from tests.native.fake_cuda.driver import FakeDriver
    import proton

    asked = json.loads(sys.argv[2])
    drivers = {version: FakeDriver(Path(folder)) for version, folder in asked["drivers"].items()}
    driver = drivers[asked["cuda"]]
    for name, value in asked["options"].items():
        driver.option(name, value)
    if asked["knobs"]:
        import triton.knobs
        for name, value in asked["knobs"].items():
            setattr(triton.knobs.proton, name, value)
    if asked["context_first"]:
        driver.calls.fake_context_create(0)
    counts = []
    for name in "ab":
        session = proton.start(name, backend="cupti")
        driver.launch("k", 100)
        proton.finalize(session)
        counts.append(Path(name + ".hatchet").read_text().count('"k"'))
    opened = {version: each.counter("cuptiSubscribe") > 0 for version, each in drivers.items()}
    print(json.dumps({
        "opened": [version for version, is_opened in opened.items() if is_opened],
        "kernels": counts,
        "hw_trace": driver.counter("has_hw_trace"),
        "period_ms": driver.counter("flush_period_ms"),
        "finalized": driver.counter("cuptiFinalize"),
        "violations": driver.violations,
    }))
"""


def sessions(
    run_python: Run,
    *,
    cuda: str = "13.4",
    also: tuple[str, ...] = (),
    options: dict[str, int] | None = None,
    knobs: dict[str, object] | None = None,
    env: dict[str, str] | None = None,
    context_first: bool = False,
) -> tuple[dict[str, Any], str]:
    """What two sessions saw and changed, and what they said on stderr."""
    folders = {version: build_driver(version) for version in (cuda, *also)}
    asked = {
        "drivers": {version: str(folder) for version, folder in folders.items()},
        "cuda": cuda,
        "options": options or {},
        "knobs": knobs or {},
        "context_first": context_first,
    }
    environment = {**FakeDriver(folders[cuda]).environment, **(env or {})}
    root = str(Path(__file__).parents[2])
    run = run_python(SCRIPT, root, json.dumps(asked), env=environment)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["violations"] == []
    return seen, run.stderr


@pytest.mark.parametrize(("capability", "opened"), [(90, "13.0"), (100, "13.4"), (120, "13.4")])
@pytest.mark.parametrize("place", ["environment", "triton.knobs"])
def test_the_path_for_blackwell_is_taken_on_such_gpus_only(
    capability: int, opened: str, place: str, fake_driver_folder: Path, run_python: Run
) -> None:
    env = {"TRITON_CUPTI_LIB_PATH": str(fake_driver_folder)}
    knobs: dict[str, object] = {}
    if place == "environment":
        env["TRITON_CUPTI_LIB_BLACKWELL_PATH"] = str(build_driver("13.4"))
    else:
        pytest.importorskip("triton.knobs")
        knobs["cupti_lib_blackwell_dir"] = str(build_driver("13.4"))
    seen, _ = sessions(
        run_python,
        also=("13.0",),
        options={"compute_capability": capability},
        env=env,
        knobs=knobs,
    )
    assert seen["opened"] == [opened]
    if opened == "13.4":  # that of the driver; two fakes do not know each other's work
        assert seen["kernels"] == [1, 1]


@pytest.mark.parametrize("place", ["environment", "triton.knobs"])
@pytest.mark.parametrize("cupti", ["12.8", "13.0", "13.4"])
def test_hardware_trace_is_on_from_before_the_first_context_to_the_end(
    place: str, cupti: str, fake_driver_folder: Path, run_python: Run
) -> None:
    if place == "triton.knobs":
        pytest.importorskip("triton.knobs")
    seen, said = sessions(
        run_python,
        cuda=cupti,
        options={"compute_capability": 100},
        env={"TRITON_ENABLE_HW_TRACE": "1"} if place == "environment" else {},
        knobs={"enable_hw_trace": True} if place == "triton.knobs" else {},
    )
    assert seen["kernels"] == [1, 1]
    assert (seen["hw_trace"], seen["period_ms"]) == (1, 100)
    assert seen["finalized"] == 0  # CUPTI could not take it up again
    assert "HW_TRACE" not in said


def test_hardware_trace_is_off_unless_asked_for(fake_driver_folder: Path, run_python: Run) -> None:
    seen, said = sessions(run_python, options={"compute_capability": 100})
    assert (seen["hw_trace"], seen["finalized"]) == (0, 2)
    assert said == ""


REFUSALS: list[tuple[str, dict[str, int], bool, str]] = [
    ("12.6", {"compute_capability": 100}, False, "has no function cuptiActivityEnableHWTrace"),
    ("13.4", {"compute_capability": 90}, False, "10.0 or later (Blackwell), and the newest one "),
    ("13.4", {"compute_capability": 100}, True, "has a CUDA context already; start the session"),
    (
        "13.4",
        {"compute_capability": 100, "is_mig": 1},
        False,
        "failed with CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED (error 43)",
    ),
]


@pytest.mark.parametrize(("cupti", "options", "context_first", "why"), REFUSALS)
def test_without_hardware_trace_kernels_are_timed_and_one_line_says_why(
    cupti: str,
    options: dict[str, int],
    context_first: bool,
    why: str,
    fake_driver_folder: Path,
    run_python: Run,
) -> None:
    seen, said = sessions(
        run_python,
        cuda=cupti,
        options=options,
        context_first=context_first,
        env={"TRITON_ENABLE_HW_TRACE": "1"},
    )
    assert seen["kernels"] == [1, 1]
    assert (seen["hw_trace"], seen["finalized"]) == (0, 2)
    (line,) = said.splitlines()
    assert line.startswith("TRITON_ENABLE_HW_TRACE has no effect: ")
    assert line.endswith("; kernels are timed without it")
    assert why in line


NOT_LIBCUPTI: list[tuple[str, str]] = [
    ("libcupti.so.12", "cannot open CUPTI"),  # a text
    ("libm.so.6", "has no function cuptiGetVersion"),
]


@pytest.mark.parametrize("variable", ["TRITON_CUPTI_LIB_PATH", "TRITON_CUPTI_LIB_DIR"])
@pytest.mark.parametrize(("name", "why"), NOT_LIBCUPTI)
def test_a_file_that_is_no_libcupti_is_refused_with_the_remedy(
    variable: str,
    name: str,
    why: str,
    tmp_path: Path,
    fake_driver_folder: Path,
    run_python: Run,
) -> None:
    path = tmp_path / name if name.startswith("libcupti") else Path(name)
    if path.parent == tmp_path:
        path.write_text("no library")
    else:
        (tmp_path / "libcupti.so.12").symlink_to(library_path(name))
    code = """
        import proton
        try:
            proton.start("run", backend="cupti")
        except proton.errors.BackendUnavailable as error:
            print(error)
    """
    env = {
        "PROTON_CUDA_LIBRARY": str(fake_driver_folder / "libcuda.so.1"),
        "TRITON_CUPTI_LIB_PATH": "",
        variable: str(tmp_path),
    }
    run = run_python(code, env=env)
    assert run.returncode == 0, run.stderr
    assert why in run.stdout
    assert str(tmp_path / "libcupti.so.12") in run.stdout
    assert "pip install nvidia-cuda-cupti" in run.stdout


def library_path(name: str) -> str:
    """Where this process has a library of the system's."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    found = [line.split()[-1] for line in maps if line.endswith(f"/{name}")]
    if not found:
        pytest.skip(f"this process has no {name}")
    return found[0]
