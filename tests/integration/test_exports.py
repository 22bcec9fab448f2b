"""What `proton convert` writes for other tools opens in readers that nobody here wrote."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from proton.cli import main

DATA = Path(__file__).parents[1] / "data"
TREES = [DATA / name for name in ("gpt.hatchet", "deep.hatchet", "proton_python.hatchet")]
TRACES = [DATA / name for name in ("activity.chrome_trace", "in_kernel.chrome_trace")]


def test_gos_pprof_shows_the_kernels(tmp_path: Path) -> None:
    if (go := shutil.which("go")) is None:
        pytest.skip("Go is not installed (Debian: golang-go)")
    target = tmp_path / "run.pprof"
    assert main(["convert", str(DATA / "gpt.hatchet"), str(target)]) == 0
    command = [go, "tool", "pprof", "-top", str(target)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "Total samples = 686.65us" in shown
    assert "313.80us 45.70% 45.70%   313.80us 45.70%  matmul_1024x3072x768" in shown


@pytest.mark.long
def test_speedscopes_own_schema_accepts_trees_and_traces(tmp_path: Path) -> None:
    fastjsonschema = pytest.importorskip("fastjsonschema")
    if (npm := shutil.which("npm")) is None:
        pytest.skip("npm is not installed")
    command = [npm, "pack", "--silent", "speedscope@1.25.0"]
    fetched = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    if fetched.returncode:
        pytest.skip(f"speedscope's package could not be fetched: {fetched.stderr[-200:]}")
    with tarfile.open(tmp_path / fetched.stdout.strip()) as package:
        schema = package.extractfile("package/dist/release/file-format-schema.json")
        assert schema is not None
        validate = fastjsonschema.compile(json.load(schema))
    for path in (*TREES, *TRACES):
        target = tmp_path / f"{path.name}.speedscope.json"
        assert main(["convert", str(path), str(target)]) == 0
        validate(json.loads(target.read_text()))
