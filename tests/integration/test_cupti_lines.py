"""Our line tables against CUPTI's own look-up, on the recorded cubins; needs no GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import proton

ROOT = Path(__file__).resolve().parents[2]
CUBINS = sorted((ROOT / "tests/data/cubins").glob("*.cubin"))


def libcupti() -> Path:
    """The one inside Triton's wheel."""
    spec = importlib.util.find_spec("triton")
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(next(iter(folders or ["/"]))) / "backends/nvidia/lib/cupti/libcupti.so"
    if not path.exists():
        pytest.skip("Triton is not here, or brings no libcupti: its look-up is not compared")
    return path


def test_every_line_that_cupti_knows_is_ours_too() -> None:
    source = Path(proton.__file__).parents[1]
    paths = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "tests.support.cupti_lines", str(libcupti())]
    done = subprocess.run(
        [*command, *map(str, CUBINS)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert {name: each["differences"] for name, each in found.items() if each["differences"]} == {}
    assert sum(each["known"] for each in found.values()) > 1000
