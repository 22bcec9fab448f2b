"""On a GPU machine: the package imports, records host scopes and profiles the example."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import proton

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.gpu


def test_the_installed_package_has_its_native_core() -> None:
    program = "import proton._native; print(proton._native.__file__)"
    reply = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert reply.returncode == 0, reply.stderr


def test_host_scopes_are_recorded(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "scopes"), backend="interpreter")
    with proton.scope("outer", metrics={"steps": 2}), proton.scope("inner"):
        pass
    proton.finalize(session)
    root, _devices = json.loads((tmp_path / "scopes.hatchet").read_text())
    (outer,) = root["children"]
    assert outer["frame"]["name"] == "outer"
    assert outer["metrics"] == {"steps": 2}
    assert [child["frame"]["name"] for child in outer["children"]] == ["inner"]


def test_the_matmul_example_is_profiled_by_the_command(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run = [sys.executable, "-m", "proton", "--hook", "triton", "--name", "matmul"]
    command = [*run, str(EXAMPLES / "matmul.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    show = [sys.executable, "-m", "proton.viewer", "-m", "time/ms", "matmul.hatchet"]
    shown = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "<autotune>" in shown.stdout
    assert "matmul_<grid:" in shown.stdout
    root, devices = json.loads((tmp_path / "matmul.hatchet").read_text())
    assert list(devices) == ["CUDA"]
    assert len(root["proton"]["autotune"]) == 3


def test_doctor_finds_the_gpu_and_takes_cupti() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "proton", "doctor"], capture_output=True, text=True
    )
    assert "default backend        cupti: " in shown.stdout
    assert shown.stdout.count("): chosen: ") == 1
