"""Whole sampling sessions on the fake driver: from the mode to the file.

The kernel is one of a file that the test writes, compiled by Triton for a GPU that is not there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import proton
from proton import _native, _triton
from proton.backends.cupti import sampling_probe as probe
from proton.backends.cupti import sampling_setup as sampling
from proton.errors import BackendUnavailable
from proton.mode import PCSampling
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.sampled_profile import UNTIMED, SampledProfile
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("tmp_cwd")

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def highest(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    best = tl.max(x, axis=0)
    tl.store(y_ptr, best)
"""
LOAD, MAX = 8, 9  # lines
REFUSED = 27  # CUPTI_ERROR_NOT_SUPPORTED


class Compiled(NamedTuple):
    path: Path
    cubin: bytes
    ptx: str
    load_pc: int  # of an instruction of the line that loads
    max_pc: int  # of one inside Triton's library, called by the line with tl.max
    kernel: Any  # Triton's, kept alive


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The kernel, for sm_90."""
    pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    folder = tmp_path_factory.mktemp("source")
    path = folder / "kernel_of_a_test.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}
    source = ASTSource(module.highest, signature, {"BLOCK": 4096})
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Triton's, on its own plans
        # one of another run would have that one's path in it
        patch.setenv("TRITON_CACHE_DIR", str(folder))
        built = compile(source, target=GPUTarget("cuda", 90, 32))
    cubin, ptx = built.asm["cubin"], built.asm["ptx"]
    read = _native.Cubin(cubin, ptx)
    offsets = list(range(0, len(read.code("highest")), 16))
    stacks = dict(zip(offsets, read.locate("highest", offsets), strict=True))
    load_pc = next(pc for pc, stack in stacks.items() if len(stack) == 1 and stack[0][1] == LOAD)
    max_pc = next(pc for pc, stack in stacks.items() if len(stack) > 1 and stack[0][1] == MAX)
    return Compiled(path, cubin, ptx, load_pc, max_pc, built)


@pytest.mark.matrix
def test_triton_tells_of_kernels_in_memory_and_of_its_cache(
    compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # ask Triton itself
    monkeypatch.setenv("TRITON_CACHE_DIR", "/a/cache")
    found = [(cubin, ptx) for _, cubin, ptx in _triton.compiled_kernels()]
    assert (compiled.cubin, compiled.ptx) in found
    assert _triton.cache_folder() == "/a/cache"
    calls: list[object] = []
    _triton.add_load_hook(calls.append)
    _triton.runtime_knobs().kernel_load_end_hook("loaded")
    _triton.remove_load_hook(calls.append)
    assert calls == ["loaded"]


@pytest.fixture(autouse=True)
def _own_triton(monkeypatch: pytest.MonkeyPatch, compiled: Compiled) -> None:
    """Triton knows of the kernel; its cache on this machine is left alone."""
    monkeypatch.setattr(
        _triton, "compiled_kernels", lambda: [("highest", compiled.cubin, compiled.ptx)]
    )
    monkeypatch.setattr(_triton, "cache_folder", lambda: None)


def sample(driver: FakeDriver, compiled: Compiled) -> None:
    """Each launch: 4 samples in the line that loads, 6 in tl.max, of which 2 issued."""
    driver.sample("highest", compiled.load_pc, "long_scoreboard", 4, 3)
    driver.sample("highest", compiled.max_pc, "barrier", 4)
    driver.sample("highest", compiled.max_pc, "selected", 2)


def place(compiled: Compiled, line: int) -> str:
    return f"{compiled.path}:{line}@highest"


@pytest.mark.matrix
def test_samples_stand_on_the_users_lines_beside_times(
    fake_driver: FakeDriver, compiled: Compiled
) -> None:
    sample(fake_driver, compiled)
    session = proton.start("run", backend="cupti", mode="pcsampling:interval=4000")
    module = fake_driver.load_module(compiled.cubin)
    function = fake_driver.module_function(module, "highest", 100)
    with proton.scope("often"):
        fake_driver.launch_function(function, 30)
    with proton.scope("seldom"):
        fake_driver.launch_function(function, 10)
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    kernel = found.kernels["highest"]
    assert (kernel.runs, kernel.time_ns, kernel.samples) == (40, 4000, 400)
    assert (kernel.stalled, kernel.latency) == (320, 120)
    assert kernel.reasons == {"long_scoreboard": 160, "barrier": 160, "selected": 80}
    assert kernel.lines[(place(compiled, LOAD),)] == 160, found.describe()
    below = [line for line in kernel.lines if line[0] == place(compiled, MAX)]
    assert all("standard.py:" in line[1] for line in below), found.describe()
    assert sum(kernel.lines[line] for line in below) == 240
    assert sorted(path[0] for path in kernel.paths) == ["often", "seldom"]
    sampling = found.sampling
    assert (sampling["period_cycles"], sampling["samples"]) == (4096, 400)
    assert (sampling["is_split"], sampling["dropped"]) == (True, 0)
    (entry,) = found.entries("highest")
    assert (entry["lines"], entry["contexts"], entry["arch"]) == ("found", 2, 90)


def test_source_files_are_identified(fake_driver: FakeDriver, compiled: Compiled) -> None:
    sample(fake_driver, compiled)
    session = proton.start("run", backend="cupti", mode="pcsampling")
    module = fake_driver.load_module(compiled.cubin)
    fake_driver.launch_function(fake_driver.module_function(module, "highest"))
    proton.finalize(session)
    files = SampledProfile(Path("run.hatchet")).sampling["files"]
    content = compiled.path.read_bytes()
    assert files[str(compiled.path)] == {
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }


def test_a_module_loaded_before_the_session_gets_its_lines_from_triton(
    fake_driver: FakeDriver, compiled: Compiled
) -> None:
    sample(fake_driver, compiled)
    module = fake_driver.load_module(compiled.cubin)
    function = fake_driver.module_function(module, "highest")
    session = proton.start("run", backend="cupti", mode="pcsampling")
    fake_driver.launch_function(function, 5)
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    assert found.kernels["highest"].inside(place(compiled, MAX), "standard.py:") == 30


def test_a_module_that_nobody_knows_says_so(fake_driver: FakeDriver, compiled: Compiled) -> None:
    fake_driver.sample("stranger", 16, "wait", 3)
    session = proton.start("run", backend="cupti", mode="pcsampling")
    fake_driver.launch("stranger")
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    assert found.kernels["stranger"].lines == {(): 3}
    (entry,) = found.entries("stranger")
    assert entry["lines"] == "no cubin"


def test_only_what_is_included_is_shown(fake_driver: FakeDriver, compiled: Compiled) -> None:
    for name in ("gemm", "relu", "copy"):
        fake_driver.sample(name, 16, "wait", 3)
    mode = PCSampling(include=r"^gem+$|kept: \w+")
    session = proton.start("run", backend="cupti", mode=mode)
    fake_driver.launch("gemm")
    fake_driver.launch("copy")
    with proton.scope("kept: a"):
        fake_driver.launch("relu")
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    assert {name: kernel.samples for name, kernel in found.kernels.items()} == {
        "gemm": 3,
        "relu": 3,
        "copy": 0,
    }
    assert found.sampling["left_out"] == 3


def test_phases_are_flushed_with_their_samples(fake_driver: FakeDriver, compiled: Compiled) -> None:
    fake_driver.sample("gemm", 16, "wait", 3)
    mode = "pcsampling:graphs=graph+periodic_flushing"
    session = proton.start("run", backend="cupti", mode=mode)
    fake_driver.launch("gemm")
    proton.deactivate(session, flushing=True)
    proton.activate(session)
    proton.data.advance_phase(session)
    fake_driver.launch("gemm")
    fake_driver.launch("gemm")
    proton.finalize(session)
    samples = [
        SampledProfile(Path(f"run.part_{phase}.hatchet")).check().samples for phase in range(2)
    ]
    assert samples == [3, 6]


@pytest.fixture(params=["before the first context", "with a context"])
def refusing(
    fake_driver: FakeDriver, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> FakeDriver:
    """A driver that cannot sample."""
    if request.param == "with a context":
        fake_driver.launch("before")
        fake_driver.fail("cuptiPCSamplingEnable", REFUSED)
    else:
        forget_contexts(fake_driver, monkeypatch)
        monkeypatch.setenv("FAKE_CUDA_SETTINGS", f"cuptiPCSamplingEnable={REFUSED}")
    return fake_driver


def forget_contexts(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that has not used the GPU yet, and never asked whether it can."""
    assert driver.calls.fake_device_reset(0) == 0
    monkeypatch.setattr(sampling, "_passed", set())
    assert not _native.Cupti.is_loaded() or not _native.Cupti.has_contexts()


def test_a_driver_that_refuses_is_told_before_the_program_runs(refusing: FakeDriver) -> None:
    message = r"cannot sample here: cuptiPCSamplingEnable failed with .*NOT_SUPPORTED.*=timing"
    with pytest.raises(BackendUnavailable, match=message) as told:
        proton.start("run", backend="cupti", mode="pcsampling")
    assert "\n" not in str(told.value)
    assert refusing.counter("is_subscribed") == 0


def test_a_start_leaves_the_driver_of_a_program_alone_that_did_not_use_it(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_contexts(fake_driver, monkeypatch)
    monkeypatch.setenv("FAKE_CUDA_SETTINGS", "cuptiPCSamplingEnable=0")
    session = proton.start("run", backend="cupti", mode="pcsampling")
    assert fake_driver.counter("cuInit") == 0
    assert fake_driver.counter("cuDevicePrimaryCtxRetain") == 0
    assert fake_driver.counter("cuptiPCSamplingEnable") == 0
    assert len(sampling._passed) == 1  # another process was asked
    fake_driver.sample("gemm", 16, "wait", 3)
    fake_driver.launch("gemm")
    proton.finalize(session)
    assert SampledProfile(Path("run.hatchet")).check().samples == 3


def test_a_driver_that_does_not_answer_is_waited_for_no_longer_than_the_limit(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, profile_of: Any
) -> None:
    forget_contexts(fake_driver, monkeypatch)
    monkeypatch.setattr(probe, "LIMIT_S", 1.0)
    monkeypatch.setenv("FAKE_CUDA_SETTINGS", f"switch_delay_ns={2_000_000_000}")
    begin = time.monotonic()
    session = proton.start("run", backend="cupti", mode="pcsampling")
    assert time.monotonic() - begin < 2
    fake_driver.launch("gemm")
    proton.finalize(session)
    (warning,) = profile_of("run.hatchet").header["warnings"]
    assert "not found out before the start: the driver did not answer within 1 s" in warning


def test_a_context_that_refuses_later_is_told_at_once_and_in_the_profile(
    fake_driver: FakeDriver,
    monkeypatch: pytest.MonkeyPatch,
    profile_of: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    forget_contexts(fake_driver, monkeypatch)
    session = proton.start("run", backend="cupti", mode="pcsampling")
    fake_driver.fail("cuptiPCSamplingEnable", REFUSED)
    fake_driver.launch("gemm", 70)  # makes the first context
    message = "a CUDA context is not sampled: cuptiPCSamplingEnable failed with CUPTI_ERROR_NOT_S"
    wait_for(lambda: message in caplog.text, "the message")
    assert caplog.text.count(message) == 1
    proton.finalize(session)
    assert caplog.text.count(message) == 1
    profile = profile_of("run.hatchet")
    assert profile.metrics("gemm")["time (ns)"] == 70
    assert [message in text for text in profile.header["warnings"]] == [True]
    assert profile.header["losses"]["sampling_lost_context"] == 1


def test_the_fallback_times_kernels_and_says_why(refusing: FakeDriver, profile_of: Any) -> None:
    fake_driver = refusing
    session = proton.start("run", backend="cupti", mode="pcsampling:fallback=timing")
    fake_driver.launch("gemm", 70)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("gemm")["time (ns)"] == 70
    assert profile.header.get("sampling", {}).get("samples", 0) == 0
    assert any("this profile has times only" in text for text in profile.header["warnings"])


def test_a_held_cupti_is_told_with_its_holder(fake_driver: FakeDriver) -> None:
    fake_driver.calls.fake_set_holder(b"Nsight")
    with pytest.raises(BackendUnavailable, match="holds CUPTI: Nsight"):
        proton.start("run", backend="cupti", mode="pcsampling")


def test_losses_of_sampling_are_counted(fake_driver: FakeDriver, compiled: Compiled) -> None:
    fake_driver.sample("gemm", 16, "wait", 3)
    fake_driver.sample("gemm", 32, "barrier", 3)
    fake_driver.option("drop_samples", 1)
    fake_driver.option("non_user_samples", 7)
    session = proton.start("run", backend="cupti", mode="pcsampling")
    fake_driver.launch("gemm")
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    assert found.sampling["dropped"] > 0, found.describe()
    assert found.sampling["non_user"] == 7, found.describe()


@pytest.mark.parametrize("is_sampled", [True, False])
def test_a_session_without_a_sample_says_so(
    fake_driver: FakeDriver, compiled: Compiled, is_sampled: bool
) -> None:
    if is_sampled:
        fake_driver.sample("gemm", 16, "wait", 1)
    session = proton.start("run", backend="cupti", mode="pcsampling")
    for _ in range(1000):
        fake_driver.launch("gemm")
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet"))
    is_told = any("gave no sample" in text for text in found.header["warnings"])
    assert is_told is not is_sampled, found.describe()


def test_samples_without_a_timed_launch_stand_apart(
    fake_driver: FakeDriver, compiled: Compiled
) -> None:
    fake_driver.sample("gemm", 16, "wait", 3)
    graph = fake_driver.calls.fake_graph_create()
    fake_driver.calls.fake_graph_add_kernel(graph, fake_driver.function("gemm", 50))
    session = proton.start("run", backend="cupti", mode="pcsampling:graphs=graph")
    executable = fake_driver.instantiate(graph)
    fake_driver.replay(executable)
    proton.finalize(session)
    found = SampledProfile(Path("run.hatchet")).check()
    kernel = found.kernels["gemm"]
    assert [path[0] for path in kernel.paths] == [UNTIMED]
    assert kernel.samples == 3


def test_sessions_come_and_go_while_another_thread_launches(fake_driver: FakeDriver) -> None:
    """The fake driver notes a switch of sampling beside a launch, and the fixture fails then."""
    fake_driver.sample("gemm", 16, "wait", 3)
    is_over = threading.Event()
    rounds: list[int] = []

    def launch() -> None:
        while not is_over.is_set():
            for _ in range(100):
                fake_driver.launch("gemm", 10)
            rounds.append(len(rounds))

    def wait_for_launches() -> None:
        before = len(rounds)
        wait_for(lambda: len(rounds) > before, "launches of the other thread")

    thread = threading.Thread(target=launch)
    thread.start()
    try:
        samples = 0
        for _ in range(20):
            session = proton.start("run", backend="cupti", mode="pcsampling:drain=10ms")
            wait_for_launches()
            proton.finalize(session)
            found = SampledProfile(Path("run.hatchet")).check()
            samples += found.samples
    finally:
        is_over.set()
        thread.join(30)
    assert not thread.is_alive()
    assert samples > 0
    assert samples % 3 == 0


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.native.fake_cuda.driver import FakeDriver
driver = FakeDriver(Path(sys.argv[2]))
driver.sample("gemm", 16, "wait", 5)
driver.launch("gemm")
"""


@pytest.mark.parametrize(
    ("mode", "period"), [("pcsampling", 1 << 14), ("pcsampling:interval=4096", 4096)]
)
def test_the_command_samples(
    fake_driver: FakeDriver, run_python: Any, tmp_path: Path, mode: str, period: int
) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(SCRIPT))
    root = str(Path(__file__).resolve().parents[2])
    words = ["-q", "-n", "run", "-m", mode, "program.py", root, str(fake_driver.folder)]
    code = f"from proton.cli import main; raise SystemExit(main({words!r}))"
    done = run_python(code, env=fake_driver.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    found = SampledProfile(tmp_path / "run.hatchet").check()
    assert (found.samples, found.sampling["period_cycles"]) == (5, period)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("pcsampling:interval=1", r"interval must be 32 to 2147483648 \(2\*\*31\) cycles, not '1'"),
        ("pcsampling:window=2s:every=1s", "window=2s is longer than its period every=1s"),
        ("pcsampling:inter=5", "unknown option of mode 'pcsampling' 'inter'; choose one of 'buff"),
    ],
)
def test_the_command_refuses_bad_options_in_one_line(
    run_python: Any, tmp_path: Path, mode: str, message: str
) -> None:
    (tmp_path / "program.py").write_text("print('it ran')")
    words = ["-b", "cupti", "-m", mode, "program.py"]
    code = f"from proton.cli import main; raise SystemExit(main({words!r}))"
    done = run_python(code, env={"PROTON_CUDA_LIBRARY": os.devnull})
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(message, done.stderr), done.stderr
    assert len(done.stderr.splitlines()) == 1
