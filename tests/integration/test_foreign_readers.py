"""Files we write open in llnl-hatchet and in the viewer that ships with Triton."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from proton import _native

HEADER = {"session": "run", "command": ["a.py"], "triton": "3.6.0", "start_time_ns": 1}

needs_hatchet = pytest.mark.skipif(
    find_spec("hatchet") is None or find_spec("pandas") is None,
    reason="llnl-hatchet is not installed",
)
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


@pytest.fixture(params=["CUDA", "CPU"])
def profile(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A profile of kernels on a GPU, or in the interpreter."""
    path = tmp_path / "run.hatchet"
    session = _native.Session(0, context="shadow", data="tree")
    session.activate()
    with _native.Scope("layer \u00e9", {"loss (pty)": 0.5}):
        for _ in range(2):
            session.on_kernel(
                "matmul",
                1_000_000,
                3_000_000,
                device_type=request.param,
                device_id=0,
                metrics={"flops16": 4e9, "bytes": 1000},
            )
    session.add_device(
        request.param,
        0,
        {
            "arch": "90" if request.param == "CUDA" else "interpreter",
            "bus_width": 5120,
            "clock_rate": 1_980_000,
            "memory_clock_rate": 2_619_000,
            "num_sms": 132,
        },
    )
    session.count_loss("dropped_event")
    session.write(str(path), "hatchet", 0, HEADER)
    session.close()
    return path


@needs_hatchet
@pytest.mark.filterwarnings("ignore")  # hatchet's and pandas' own
def test_llnl_hatchet_reads_the_tree_and_its_metrics(profile: Path) -> None:
    import hatchet

    root, _ = json.loads(profile.read_text())
    frame = hatchet.GraphFrame.from_literal([root])
    rows = {row["name"]: row for _, row in frame.dataframe.iterrows()}
    assert set(rows) == {"ROOT", "layer \u00e9", "matmul"}
    assert rows["matmul"]["time (ns)"] == 4_000_000
    assert rows["matmul"]["device_id"] == "0"
    assert rows["layer \u00e9"]["loss"] == 0.5


@pytest.fixture
def triton_viewer(profile: Path) -> Callable[..., str]:
    """Runs Triton's own viewer on the profile and returns what it prints."""

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "triton.profiler.viewer", *arguments, str(profile)]
        reply = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert reply.returncode == 0, reply.stderr
        return reply.stdout

    return run


@needs_hatchet
@needs_triton
def test_tritons_viewer_shows_times(triton_viewer: Callable[..., str]) -> None:
    shown = triton_viewer("-m", "time/ms")
    assert "4.000 ROOT" in shown
    assert "4.000 matmul" in shown


@needs_hatchet
@needs_triton
def test_tritons_viewer_lists_our_metrics(triton_viewer: Callable[..., str]) -> None:
    listed = triton_viewer("-l")
    assert "flops16" in listed
    assert "loss" in listed
