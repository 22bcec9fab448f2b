"""NVTX ranges of a module as scopes: with and without the GIL, in trees, traces and processes.

The module is a stand-in that speaks NVTX's side of the protocol (tests/native/nvtx).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.runtime import nvtx as nvtx_runtime
from tests.native.fake_cuda.driver import find_compiler
from tests.native.nvtx.library import Nvtx, build_module
from tests.support.profiles import trace_in


@pytest.fixture(autouse=True)
def gpu(fake_gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    if find_compiler() is None:
        pytest.skip("no C++ compiler to build a module that uses NVTX with")
    monkeypatch.setenv(nvtx_runtime.VARIABLE, nvtx_runtime._PATH)
    return fake_gpu


@pytest.fixture(params=[True, False], ids=["gil", "no-gil"])
def nvtx(request: pytest.FixtureRequest, tmp_path: Path) -> Nvtx:
    """A module that uses NVTX and has not called it yet."""
    return Nvtx(tmp_path, holds_lock=request.param)


def test_ranges_and_scopes_nest_in_call_order(nvtx: Nvtx, gpu: Any, profile_of: Any) -> None:
    proton.start("run")
    with proton.scope("scope"):
        assert nvtx.push("range") == 0
        with proton.scope("inner"):
            gpu.launch("k")
        gpu.launch("k")
        assert nvtx.pop() == 0
        gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == [
        "scope",
        "scope/range",
        "scope/range/inner",
        "scope/range/inner/k",
        "scope/range/k",
        "scope/k",
    ]


def test_nodes_stand_in_the_order_of_the_calls_that_hold_the_gil(
    tmp_path: Path, profile_of: Any
) -> None:
    nvtx = Nvtx(tmp_path, holds_lock=True)
    proton.start("run")
    for name in "abcd":
        if name in "bd":
            nvtx.push(name)
            nvtx.pop()
        else:
            with proton.scope(name):
                pass
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["a", "b", "c", "d"]


def test_domains_payloads_and_marks(nvtx: Nvtx, profile_of: Any) -> None:
    proton.start("run")
    domain = nvtx.domain("NCCL")
    for _ in range(2):
        nvtx.push_ex("reduce", domain=domain, payload=21)
        nvtx.mark("sent")
        nvtx.domain_pop(domain)
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.metrics("NCCL:reduce") == {"payload": 42}
    assert profile.metrics("NCCL:reduce/sent") == {"marks": 2}


def test_started_ranges_hold_the_work_of_the_thread_that_started_them(
    nvtx: Nvtx, gpu: Any, profile_of: Any
) -> None:
    proton.start("run")
    started = nvtx.start("transfer")
    gpu.launch("k")
    thread = threading.Thread(target=nvtx.end, args=(started,))
    thread.start()
    thread.join()
    gpu.launch("after")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["transfer", "transfer/k", "after"]


def test_a_pop_of_a_range_from_before_the_session_is_counted(nvtx: Nvtx, profile_of: Any) -> None:
    nvtx.push("before")
    proton.start("run")
    nvtx.push("in")
    nvtx.pop()
    nvtx.pop()
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.paths() == ["in"]
    assert profile.losses == {"unmatched_nvtx": 1}


def test_depth_counts_ranges(nvtx: Nvtx) -> None:
    session = proton.start("run")
    with proton.scope("a"):
        nvtx.push("b")
        assert proton.context.depth(session) == 2
        nvtx.pop()
        assert proton.context.depth(session) == 1
    proton.finalize()


def test_in_python_context_the_frames_rule(nvtx: Nvtx, gpu: Any, profile_of: Any) -> None:
    proton.start("run", context="python")

    def work() -> None:
        nvtx.push("range")
        gpu.launch("k")
        nvtx.pop()

    work()
    proton.finalize()
    paths = profile_of("run.hatchet").paths()
    assert any("@work/" in path and path.endswith("/k") for path in paths)
    assert not any(path.split("/")[-1] == "range" for path in paths)


def test_traces_show_ranges_by_name_with_category_and_payload(nvtx: Nvtx) -> None:
    proton.start("run", data="trace")
    nvtx.name_category(4, "io")
    with proton.scope("scope"):
        nvtx.push_ex("read", category=4, payload=3)
        nvtx.mark("now")
        nvtx.pop()
    proton.finalize()
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    spans = {event["name"]: event for event in events if event["ph"] in "Xi"}
    read = spans["read: <payload, 3>"]
    assert read["args"]["call_stack"] == ["ROOT", "scope", "read"]
    assert read["args"]["category"] == "io"
    assert read["args"]["metrics"] == {"payload": "3"}
    scope = spans["scope"]
    assert scope["ts"] <= read["ts"] <= read["ts"] + read["dur"] <= scope["ts"] + scope["dur"]
    assert spans["now"]["args"]["call_stack"] == ["ROOT", "scope", "read", "now"]
    assert (spans["now"]["ph"], spans["now"]["s"], spans["now"]["tid"]) == ("i", "t", scope["tid"])


def test_both_formats_of_a_trace_read_back_alike(nvtx: Nvtx) -> None:
    from proton.files.read import read_profile

    for output_format in ("chrome_trace", "perfetto"):
        proton.start("run", data="trace")
        nvtx.push("range")
        nvtx.mark("now")
        nvtx.pop()
        proton.finalize(output_format=output_format)
    for name in ("run.chrome_trace", "run.pftrace"):
        trace = trace_in(read_profile(Path(name).read_bytes(), name))
        spans = {span.name: span for span in trace.spans}
        assert spans["now"].duration_ns == 0, name
        assert spans["now"].path == ("range", "now"), name
        assert spans["range"].start_ns <= spans["now"].start_ns, name


def test_a_python_trace_shows_ranges_below_their_frames(tmp_path: Path) -> None:
    nvtx = Nvtx(tmp_path, holds_lock=True)
    proton.start("run", data="trace", context="python")
    nvtx.push("range")
    nvtx.pop()
    proton.finalize()
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    (span,) = (event for event in events if event["name"] == "range")
    stack = span["args"]["call_stack"]
    assert stack[-1] == "range"
    assert any("@test_a_python_trace_shows" in frame for frame in stack[:-1])


def test_a_forked_child_is_left_alone(nvtx: Nvtx, profile_of: Any) -> None:
    proton.start("run")
    nvtx.push("parent")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            nvtx.pop()
            is_off = nvtx.push("x") == -2
            proton.start("child")
            nvtx.push("y")
            nvtx.pop()
            proton.finalize()
            code = 0 if is_off and profile_of("child.hatchet").paths() == ["y"] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    nvtx.pop()
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["parent"]


def test_sixteen_threads_keep_their_ranges_apart(nvtx: Nvtx, profile_of: Any) -> None:
    proton.start("run")

    def work(number: int) -> None:
        for step in range(20):
            nvtx.push(f"thread{number}")
            with proton.scope(f"step{step}"):
                nvtx.push("leaf")
                nvtx.pop()
            nvtx.pop()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proton.finalize()
    profile = profile_of("run.hatchet")
    expected = {f"thread{number}" for number in range(16)}
    assert {child["frame"]["name"] for child in profile.root["children"]} == expected
    assert len(profile.paths()) == 16 * (1 + 20 * 2)
    assert profile.losses == {}


def test_kernels_of_the_cupti_backend_stand_below_ranges(
    nvtx: Nvtx, fake_driver: Any, profile_of: Any
) -> None:
    proton.start("run", backend="cupti")
    with proton.scope("scope"):
        nvtx.push("range")
        fake_driver.launch("kernel")
        nvtx.pop()
        fake_driver.launch("kernel")
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert profile.metrics("scope/range/kernel")["count"] == 1
    assert profile.metrics("scope/kernel")["count"] == 1


def test_the_proton_command_follows_nvtx_of_its_target(tmp_cwd: Path, profile_of: Any) -> None:
    script = tmp_cwd / "target.py"
    script.write_text(
        f"""
import ctypes
library = ctypes.CDLL({str(build_module())!r})
library.nvtxRangePushA(b"range")
library.nvtxRangePop()
"""
    )
    command = [sys.executable, "-m", "proton", "--quiet", "-b", "interpreter", "-n", "run"]
    folder = str(Path(proton.__file__).parents[1])
    done = subprocess.run(
        [*command, str(script)],
        env={**os.environ, "PYTHONPATH": folder, "NVTX_INJECTION64_PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "range" in profile_of("run.hatchet").paths()


def test_the_nvtx_package_is_followed(
    run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, profile_of: Any
) -> None:
    pytest.importorskip("nvtx")
    code = """
    import nvtx, proton

    @nvtx.annotate("function", domain="mine", category="cat", payload=4)
    def function():
        with proton.scope("inside"), nvtx.annotate("leaf"):
            nvtx.mark("mark")

    proton.start("run", backend="interpreter")
    function()
    nvtx.end_range(nvtx.start_range("started"))
    proton.finalize()
    """
    done = run_python(code, env={"NVTX_INJECTION64_PATH": ""})
    assert done.returncode == 0, done.stderr
    profile = profile_of(tmp_path / "run.hatchet")
    assert profile.paths() == [
        "mine:function",
        "mine:function/inside",
        "mine:function/inside/leaf",
        "mine:function/inside/leaf/mark",
        "started",
    ]
    assert profile.metrics("mine:function") == {"payload": 4}


def test_the_library_needs_neither_python_nor_a_cpp_runtime() -> None:
    import ctypes

    assert ctypes.CDLL(nvtx_runtime._PATH).proton_nvtx_count_modules() >= 0
    content = Path(nvtx_runtime._PATH).read_bytes()
    assert b"libstdc++" not in content
    assert b"libpython" not in content
