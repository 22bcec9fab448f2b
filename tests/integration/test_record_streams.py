"""The script that takes recordings on a GPU, on the fake driver and with a stand-in for torch."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import folder_of_proton
from tests.native.fake_cuda.driver import build_driver, find_compiler

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "gpu" / "record_streams.py"

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


def run_script(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Take recordings of these works."""
    driver = build_driver()
    stub = ROOT / "tests" / "support" / "stub_torch"
    environment = {
        **os.environ,
        "FAKE_DRIVER": str(driver),
        "PROTON_CUDA_LIBRARY": str(driver / "libcuda.so.1"),
        "TRITON_CUPTI_LIB_PATH": str(next(driver.glob("libcupti.so.*"))),
        "PYTHONPATH": os.pathsep.join([str(stub), str(ROOT), folder_of_proton()]),
    }
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def truth_of(folder: Path, name: str) -> dict[str, Any]:
    """What was written beside a recording."""
    assert gzip.decompress((folder / f"{name}.rec.gz").read_bytes()).startswith(b"PROTONR1")
    truth: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return truth


def test_recordings_have_their_profiles_and_the_counts_of_the_other_profiler(
    tmp_path: Path,
) -> None:
    done = run_script(tmp_path, "graph_by_node", "graph_by_graph", "sessions")
    assert done.returncode == 0, done.stderr
    by_node = truth_of(tmp_path, "graph_by_node")
    assert by_node["difference"] == {}
    assert by_node["torch"]["void add_()"] == 40  # two in the graph, 20 replays
    assert [*truth_of(tmp_path, "graph_by_graph")["profiles"]] == ["graph.hatchet"]
    assert [*truth_of(tmp_path, "sessions")["profiles"]] == [
        "first.hatchet",
        *(f"second.part_{number}.hatchet" for number in range(3)),
    ]
    assert "failed: none" in done.stdout


def test_a_work_that_fails_is_named_and_the_others_are_recorded(tmp_path: Path) -> None:
    done = run_script(tmp_path, "copies", "sessions")  # there is nothing to copy with
    assert done.returncode == 1
    assert "failed: copies" in done.stdout
    assert truth_of(tmp_path, "sessions")["losses"]["first.hatchet"] == {}
