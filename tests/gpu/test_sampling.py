"""Sampling instructions on a real GPU: lines, reasons, windows, graphs, sessions, threads, modules.

Timing and samples are of one run; a failure shows what the profile has.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.mode import PCSampling
from tests.support.sampled_profile import SampledProfile
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(180)]

BLOCK = 1024
FAST = "pcsampling:interval=4096"


@pytest.fixture
def kernels(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of kernels, compiled anew: no earlier test has loaded them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    sys.modules.pop("sampled_kernels", None)
    import sampled_kernels  # type: ignore[import-not-found, unused-ignore]

    return sampled_kernels


@pytest.fixture
def sampled(torch: Any, tmp_path: Path) -> Callable[..., Any]:
    """`sampled(work, mode)` runs `work` in a session and reads what it wrote."""

    def run(work: Callable[[], object], mode: Any = FAST, **options: Any) -> Any:
        torch.cuda.synchronize()
        session = proton.start(str(tmp_path / "run"), backend="cupti", mode=mode, **options)
        try:
            work()
            torch.cuda.synchronize()
        finally:
            proton.finalize(session)
        return SampledProfile(tmp_path / "run.hatchet")

    return run


class Work:
    """The kernels with their arguments, each a launch of some milliseconds."""

    def __init__(self, torch: Any, kernels: Any) -> None:
        self._kernels = kernels
        self._large = torch.ones(1 << 28, device="cuda")  # 1 GiB: no cache holds it
        self._out = torch.zeros(1 << 22, device="cuda")

    def gather(self, times: int = 1) -> None:
        programs = 2048
        stride = programs * BLOCK
        steps = self._large.numel() // stride
        for _ in range(times):
            self._kernels.gather[(programs,)](self._large, self._out, steps, stride, BLOCK=BLOCK)

    def call_helper(self, times: int = 1) -> None:
        for _ in range(times):
            self._kernels.call_helper[(2048,)](self._out, 20_000, BLOCK=BLOCK)

    def peaks(self, times: int = 1) -> None:
        for _ in range(times):
            self._kernels.peaks[(1024,)](self._out, self._out, 2000, BLOCK=4096, num_warps=8)


@pytest.fixture
def work(torch: Any, kernels: Any) -> Work:
    return Work(torch, kernels)


def test_a_kernel_bound_by_memory_waits_in_the_line_that_loads(
    sampled: Any, work: Work, kernels: Any
) -> None:
    found = sampled(lambda: work.gather(20)).check()
    kernel = found.kernels["gather"]
    assert (kernel.runs, kernel.time_ns > 0) == (20, True)
    assert kernel.samples > 1000, found.describe()
    place = f"sampled_kernels.py:{kernels.line_of('waits')}@gather"
    assert place in kernel.hottest()[0], found.describe()
    assert kernel.inside(place) > 0.6 * kernel.samples, found.describe()
    assert kernel.reasons.most_common(1)[0][0] == "long_scoreboard", found.describe()


def test_time_in_a_helper_stands_below_the_line_that_calls_it(
    sampled: Any, work: Work, kernels: Any
) -> None:
    found = sampled(lambda: work.call_helper(10)).check()
    kernel = found.kernels["call_helper"]
    calls, helper = kernels.line_of("calls"), kernels.line_of("polishes")
    assert f":{calls}@call_helper" in kernel.hottest()[0], found.describe()
    inside = [  # the loop and its body; not all Tritons name the function
        kernel.inside(f":{calls}@call_helper", f":{line}@") for line in (helper - 1, helper)
    ]
    assert sum(inside) > 0.9 * kernel.samples, found.describe()
    assert inside[1] > 0.2 * kernel.samples, found.describe()


def test_time_in_tritons_library_stands_below_the_users_line(
    sampled: Any, work: Work, kernels: Any
) -> None:
    found = sampled(lambda: work.peaks(10)).check()
    kernel = found.kernels["peaks"]
    place = f"sampled_kernels.py:{kernels.line_of('reduces')}@peaks"
    assert place in kernel.hottest()[0], found.describe()
    assert kernel.inside(place, "standard.py:") > 0.3 * kernel.samples, found.describe()
    assert kernel.reasons["barrier"] > 0, found.describe()


def test_the_interval_is_the_hardwares_period(sampled: Any, work: Work) -> None:
    work.call_helper(2)
    often = sampled(lambda: work.call_helper(20), PCSampling(interval=1 << 11)).check()
    seldom = sampled(lambda: work.call_helper(20), PCSampling(interval=30_000)).check()
    assert (often.sampling["period_cycles"], seldom.sampling["period_cycles"]) == (2048, 32768)
    ratio = often.sampling["samples"] / seldom.sampling["samples"]
    assert 10 < ratio < 25, f"16 expected, not {ratio}: {often.sampling}, {seldom.sampling}"


def test_in_a_duty_cycle_samples_come_from_windows_only(sampled: Any, work: Work) -> None:
    def run() -> None:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            work.call_helper(5)
            work._out.sum().item()  # not too far ahead of the GPU

    work.call_helper(2)
    seldom = "pcsampling:interval=65536"  # seconds of more would fill the hardware's buffer
    always = sampled(run, seldom).check()
    windowed = sampled(run, f"{seldom}:window=50ms:every=250ms").check()
    assert windowed.sampling["window_ns"] == 50_000_000
    assert windowed.sampling["every_ns"] == 250_000_000
    rates = [
        each.sampling["samples"] / each.kernels["call_helper"].time_ns
        for each in (windowed, always)
    ]
    share = rates[0] / rates[1]
    both = f"{windowed.describe()}\n{always.describe()}"
    assert 0.08 < share < 0.5, f"about 0.2 expected, not {share}: {both}"
    assert windowed.kernels["call_helper"].runs > 50


def test_in_python_context_lines_stand_below_the_kernel(sampled: Any, work: Work) -> None:
    def this_function_launches() -> None:
        work.gather(10)

    found = sampled(this_function_launches, context="python").check()
    kernel = found.kernels["gather"]
    assert any("@this_function_launches" in name for name in kernel.paths[0])
    assert kernel.inside("@gather") > 0.5 * kernel.samples, found.describe()


def test_samples_are_divided_by_time_over_the_contexts_of_a_kernel(
    sampled: Any, work: Work
) -> None:
    def run() -> None:
        with proton.scope("often"):
            work.gather(30)
        with proton.scope("seldom"):
            work.gather(10)

    found = sampled(run).check()
    (entry,) = found.entries("gather")
    assert (entry["contexts"], found.sampling["is_split"]) == (2, True)
    assert found.kernels["gather"].rows == 2


@pytest.mark.parametrize("is_captured_first", [False, True])
def test_kernels_of_graphs_are_sampled(
    torch: Any, sampled: Any, work: Work, is_captured_first: bool
) -> None:
    work.gather()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()

    def capture() -> None:
        with torch.cuda.graph(graph):
            work.gather(5)

    def run() -> None:
        if not is_captured_first:
            capture()
        for _ in range(6):
            graph.replay()

    if is_captured_first:
        capture()
    found = sampled(run).check()
    kernel = found.kernels["gather"]
    assert kernel.runs == 30, found.describe()
    assert kernel.inside("@gather") > 0.5 * kernel.samples > 100, found.describe()
    assert not any("<sampled without" in name for path in kernel.paths for name in path)


def test_kernels_loaded_before_the_session_have_lines(sampled: Any, work: Work) -> None:
    work.gather(2)
    found = sampled(lambda: work.gather(10)).check()
    (entry,) = found.entries("gather")
    assert entry["lines"] == "found", found.describe()
    assert found.kernels["gather"].inside("@gather") > 0.5 * found.kernels["gather"].samples


def test_kernels_that_first_run_in_a_pause_are_sampled_after_it(
    torch: Any, work: Work, tmp_path: Path
) -> None:
    session = proton.start(str(tmp_path / "run"), backend="cupti", mode=FAST)
    proton.deactivate(session)
    work.gather(5)
    torch.cuda.synchronize()
    proton.activate(session)
    work.gather(7)
    torch.cuda.synchronize()
    proton.finalize(session)
    found = SampledProfile(tmp_path / "run.hatchet").check()
    assert found.kernels["gather"].runs == 7, found.describe()
    assert found.kernels["gather"].samples > 1000, found.describe()


def test_while_a_graph_lives_sessions_follow_each_other(
    torch: Any, work: Work, sampled: Any
) -> None:
    graph = torch.cuda.CUDAGraph()
    work.gather()
    torch.cuda.synchronize()

    def capture() -> None:
        with proton.scope("captured here"), torch.cuda.graph(graph):
            work.gather(5)
        graph.replay()

    sampled(capture).check()
    for _ in range(20):
        graph.replay()
    work.call_helper(2)  # first run with nobody there

    def replay() -> None:
        graph.replay()
        work.call_helper(5)

    for _ in range(2):
        found = sampled(replay).check()
        for name in ("gather", "call_helper"):
            assert (found.kernels[name].runs, name) == (5, name), found.describe()
            assert found.kernels[name].samples > 1000, found.describe()
        assert any("captured here" in path for path in found.kernels["gather"].paths)


def test_only_included_kernels_and_scopes_are_shown(sampled: Any, work: Work) -> None:
    def run() -> None:
        work.gather(10)
        with proton.scope("kept scope"):
            work.call_helper(5)
        work.peaks(5)

    found = sampled(run, PCSampling(interval=4096, include="^gath|kept scope")).check()
    assert found.kernels["gather"].samples > 0, found.describe()
    assert found.kernels["call_helper"].samples > 0, found.describe()
    assert found.kernels["peaks"].samples == 0, found.describe()
    assert found.sampling["left_out"] > 0, found.describe()


def test_sessions_with_and_without_sampling_run_at_once(
    torch: Any, work: Work, tmp_path: Path, sampled: Any
) -> None:
    plain = proton.start(str(tmp_path / "plain"), backend="cupti")
    found = sampled(lambda: work.gather(10)).check()
    work.gather(10)
    proton.finalize(plain)
    timed = SampledProfile(tmp_path / "plain.hatchet")
    assert (found.kernels["gather"].runs, timed.kernels["gather"].runs) == (10, 20)
    assert found.samples > 100, found.describe()
    assert (timed.samples, timed.sampling) == (0, {})


def test_a_second_sampling_session_gets_its_own_samples(sampled: Any, work: Work) -> None:
    first = sampled(lambda: work.gather(10)).check()
    second = sampled(lambda: work.gather(10)).check()
    assert 0.5 < first.samples / second.samples < 2, f"{first.describe()}\n{second.describe()}"


def test_sessions_come_and_go_while_another_thread_launches(
    torch: Any, sampled: Any, work: Work
) -> None:
    work.gather(2)
    is_over = threading.Event()
    failures: list[BaseException] = []
    rounds: list[float] = []  # when they ended

    def launch() -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                while not is_over.is_set():
                    work.gather(3)
                    torch.cuda.current_stream().synchronize()
                    rounds.append(time.monotonic())
        except BaseException as error:
            failures.append(error)

    def let_it_launch() -> None:
        end = time.monotonic() + 0.05
        wait_for(lambda: failures or (rounds and rounds[-1] > end), "launches of 50 ms")

    thread = threading.Thread(target=launch)
    thread.start()
    try:
        found = [sampled(let_it_launch) for _ in range(20)]
    finally:
        is_over.set()
        thread.join(60)
    assert not thread.is_alive()
    assert not failures
    with_samples = [each for each in found if each.samples]
    assert len(with_samples) >= 15, "\n\n".join(each.describe() for each in found)


def test_a_module_that_is_unloaded_keeps_its_samples(
    torch: Any, sampled: Any, kernels: Any
) -> None:
    x = torch.ones(1 << 26, device="cuda")
    y = torch.zeros(1 << 22, device="cuda")
    compiled = kernels.gather.warmup(x, y, 32, 1 << 21, BLOCK=BLOCK, grid=(1,))
    cuda = ctypes.CDLL("libcuda.so.1")

    def check(result: int) -> None:
        assert result == 0, f"CUDA error {result}"

    def run() -> None:
        for _ in range(5):
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            check(cuda.cuModuleLoadData(ctypes.byref(module), compiled.asm["cubin"]))
            name = compiled.metadata.name.encode()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name))
            values = [
                ctypes.c_void_p(x.data_ptr()),
                ctypes.c_void_p(y.data_ptr()),
                ctypes.c_int32(32),
                ctypes.c_int32(1 << 21),
                ctypes.c_void_p(),  # scratch of Triton's, not used by this kernel
                ctypes.c_void_p(),
            ]
            addresses = [ctypes.addressof(value) for value in values]
            pointers = (ctypes.c_void_p * len(values))(*addresses)
            threads = 32 * compiled.metadata.num_warps
            for _ in range(5):
                check(
                    cuda.cuLaunchKernel(
                        function, 2048, 1, 1, threads, 1, 1, compiled.metadata.shared, None,
                        pointers, None,
                    )
                )  # fmt: skip
            check(cuda.cuModuleUnload(module))

    found = sampled(run).check()
    kernel = found.kernels["gather"]
    assert kernel.runs == 25
    assert kernel.inside("@gather") > 0.5 * kernel.samples > 100, found.describe()


def test_phases_of_a_sampling_session_are_flushed_as_they_end(
    torch: Any, work: Work, tmp_path: Path
) -> None:
    mode = f"{FAST}+periodic_flushing"
    session = proton.start(str(tmp_path / "run"), backend="cupti", mode=mode)
    for _ in range(2):
        work.gather(10)
        torch.cuda.synchronize()
        proton.deactivate(session, flushing=True)
        proton.activate(session)
        proton.data.advance_phase(session)
    proton.finalize(session)
    for phase in range(2):
        found = SampledProfile(tmp_path / f"run.part_{phase}.hatchet").check()
        assert found.kernels["gather"].samples > 100, f"phase {phase}: {found.describe()}"


def test_the_command_samples_a_script(tmp_path: Path, kernels: Any, sampled: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import torch, sampled_kernels\n"
        "x = torch.ones(1 << 26, device='cuda'); y = torch.zeros(1 << 22, device='cuda')\n"
        "for _ in range(20):\n"
        "    sampled_kernels.gather[(2048,)](x, y, 32, 1 << 21, BLOCK=1024)\n"
        "torch.cuda.synchronize()\n"
    )
    command = [sys.executable, "-m", "proton", "-n", "cli", "-m", "pcsampling:interval=1024"]
    done = subprocess.run(
        [*command, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = SampledProfile(tmp_path / "cli.hatchet").check()
    assert found.sampling["period_cycles"] == 1024
    assert found.kernels["gather"].inside("@gather") > 100, found.describe()


UNTOUCHED = """
import ctypes, time
import proton
from proton.backends.cupti import sampling_setup
begin = time.monotonic()
session = proton.start("run", backend="cupti", mode="pcsampling")
print(f"the start took {time.monotonic() - begin:.2f} s")
status = ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
assert status == 3, f"cuDeviceGetCount gave {status}: the start initialised the driver"
assert sampling_setup._passed, "no process was asked whether the GPU can be sampled"
import torch
torch.ones(1 << 20, device="cuda").sum().item()
proton.finalize(session)
"""


def test_a_start_before_the_program_uses_cuda_does_not_initialise_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UNTOUCHED)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = SampledProfile(tmp_path / "run.hatchet").check()
    assert found.header.get("warnings", []) == [], found.describe()


def test_source_files_are_identified(sampled: Any, work: Work, kernels: Any) -> None:
    found = sampled(lambda: work.gather(5))
    (path,) = [path for path in found.sampling["files"] if path.endswith("sampled_kernels.py")]
    assert found.sampling["files"][path]["size"] == kernels.FILE.stat().st_size
