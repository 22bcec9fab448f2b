"""Interpreted kernels in real sessions: contexts, metadata, autotuning, the command, debugging."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import proton

pytestmark = pytest.mark.matrix

SOURCE = Path(proton.__file__).resolve().parents[1]  # installed, or the working tree


def _describe(grid: Any, metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    if args["x"].size == 1:
        raise ZeroDivisionError("metadata fails")
    return {"name": f"scale_{grid[0]}_{metadata.num_warps}", "flops32": 7, "tokens": 5}


@triton.jit(launch_metadata=_describe)
def scale(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2.0 * tl.load(x + i, mask=i < n), mask=i < n)


def launch(n: int = 100) -> np.ndarray[Any, Any]:
    x = np.ones(n, np.float32)
    scale[(triton.cdiv(n, 64),)](x, n, BLOCK=64, num_warps=8)
    return x


def test_a_launch_lies_under_its_scopes_with_its_counts(tmp_cwd: Path, profile_of: Any) -> None:
    session = proton.start("run", backend="interpreter")
    with proton.scope("outer"):
        launch()
        launch()
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    metrics = profile.metrics("outer/scale")
    assert (metrics["count"], metrics["device_type"], metrics["device_id"]) == (2, "CPU", "0")
    assert metrics["time (ns)"] > 0
    assert metrics["programs"] == 4
    assert metrics["counted_flops"] == metrics["flops"] == 256
    assert metrics["counted_bytes"] == metrics["bytes"] == 1600
    assert metrics["load_bytes[x]"] == metrics["store_bytes[x]"] == 800
    assert profile.devices["CPU"]["0"]["arch"] == "interpreter"


def test_metadata_renames_and_measures_where_a_session_asks(tmp_cwd: Path, profile_of: Any) -> None:
    with_hook = proton.start("with", backend="interpreter", hook="triton")
    without = proton.start("without", backend="interpreter")
    launch()
    proton.finalize(with_hook)
    proton.finalize(without)
    renamed = profile_of("with.hatchet").metrics("scale_2_8")
    assert (renamed["flops32"], renamed["tokens"], renamed["bytes"]) == (7.0, 5, 800)
    assert "flops" not in renamed
    plain = profile_of("without.hatchet").metrics("scale")
    assert plain["flops"] == 128.0
    assert "tokens" not in plain


def test_metadata_that_raises_does_not_stop_the_launch(tmp_cwd: Path, profile_of: Any) -> None:
    session = proton.start("run", backend="interpreter", hook="triton")
    assert launch(1).tolist() == [2]
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("scale")["count"] == 1
    assert profile.header["warnings"] or profile.losses


def test_python_context_leads_to_the_line_that_launched(tmp_cwd: Path, profile_of: Any) -> None:
    session = proton.start("run", backend="interpreter", context="python")
    launch()
    proton.finalize(session)
    (path,) = (path for path in profile_of("run.hatchet").paths() if path.endswith("/scale"))
    assert f"{Path(__file__).name}:" in path
    assert "@launch/" in path
    assert "backends/interpreter" not in path


def test_no_event_while_a_session_is_inactive(tmp_cwd: Path, profile_of: Any) -> None:
    session = proton.start("run", backend="interpreter")
    launch()
    proton.deactivate(session)
    assert launch().sum() == 200
    proton.activate(session)
    launch()
    proton.finalize(session)
    assert profile_of("run.hatchet").metrics("scale")["count"] == 2


def test_a_trace_has_a_span_per_launch(tmp_cwd: Path) -> None:
    session = proton.start("run", backend="interpreter", data="trace")
    launch()
    launch()
    proton.finalize(session)
    events = json.loads((tmp_cwd / "run.chrome_trace").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert [event["name"] for event in kernels] == ["scale", "scale"]
    assert all(event["dur"] > 0 for event in kernels)


AUTOTUNED = """
import numpy, triton, triton.language as tl
import proton

@triton.autotune([triton.Config({"BLOCK": b}) for b in (16, 64)], key=["n"])
@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.sum(i, 0) * 0 + 3.0, mask=i < n)

x = numpy.zeros(100, numpy.float32)
if __name__ == "__main__":
    with proton.scope("tune"):
        fill[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100)
    assert (x == 3).all()
"""


@pytest.mark.parametrize("environment", [{}, {"TRITON_INTERPRET": "1"}])
def test_the_command_profiles_a_script_that_knows_nothing_of_it(
    tmp_path: Path, profile_of: Any, environment: dict[str, str]
) -> None:
    (tmp_path / "script.py").write_text(AUTOTUNED)
    done = subprocess.run(
        [sys.executable, "-m", "proton", "--name", "run", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    profile = profile_of(tmp_path / "run.hatchet")
    assert profile.metrics("tune/<autotune>/fill")["count"] == 2
    assert profile.metrics("tune/fill")["count"] == 1
    (record,) = profile.header["autotune"]
    assert (record["kernel"], record["path"]) == ("fill", ["tune"])


def test_a_breakpoint_stops_on_the_users_line(tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    script.write_text(
        "import numpy, triton, triton.language as tl, proton\n"
        "@triton.jit\n"
        "def fill(x):\n"
        "    value = tl.load(x) + 1.0\n"
        "    breakpoint()\n"
        "    tl.store(x, value)\n"
        "proton.start('run')\n"
        "fill[(1,)](numpy.ones(1, numpy.float32))\n"
        "proton.finalize()\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        input="p value\nlist\ncontinue\n",
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert f"> {script}(6)fill()" in done.stdout or f"> {script}(5)fill()" in done.stdout
    assert "array([2.], dtype=float32)" in done.stdout
    assert "tl.store(x, value)" in done.stdout


def test_control_c_ends_a_kernel_and_the_profile_is_still_written(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        "import numpy, triton, triton.language as tl, proton\n"
        "@triton.jit\n"
        "def endless(x):\n"
        "    while True:\n"
        "        print('running', flush=True)\n"
        "        tl.store(x, 1.0)\n"
        "proton.start('run')\n"
        "with proton.scope('before'):\n"
        "    pass\n"
        "endless[(1,)](numpy.ones(1, numpy.float32))\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert f'"{script}", line ' in errors
    assert '"before"' in (tmp_path / "run.hatchet").read_text()


def test_a_failing_kernel_names_itself_at_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(
        "import numpy, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def check(x):\n"
        "    tl.device_assert(tl.load(x + tl.program_id(0)) > 0, 'must be positive')\n"
        "check[(3,)](numpy.array([1, 1, 0], numpy.float32))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "proton", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 1
    expected = (
        f"kernel 'check' failed in program (2, 0, 0) at {script}:4: "
        "AssertionError: must be positive"
    )
    assert expected in done.stderr
