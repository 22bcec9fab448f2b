"""The PTX of Proton's own kernels assembles for every GPU that Triton knows."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

BACKENDS = Path(__file__).parents[2] / "src/native/backends"


@pytest.mark.parametrize(
    "header", ["cupti/metric_kernel.h", "device_buffer/recorder/replay_counters.h"]
)
@pytest.mark.parametrize(
    ("tool", "arch"), [("ptxas", "sm_75"), ("ptxas", "sm_90"), ("ptxas-blackwell", "sm_100")]
)
def test_the_kernel_assembles(tmp_path: Path, tool: str, arch: str, header: str) -> None:
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        pytest.skip("needs Triton's ptxas")
    assembler = Path(found.origin).parent / "backends/nvidia/bin" / tool
    if not assembler.exists():
        pytest.skip(f"this Triton has no {tool}")
    text = (BACKENDS / header).read_text()
    source = tmp_path / "kernel.ptx"
    source.write_text(text.partition('R"(')[2].partition(')";')[0])
    cubin = tmp_path / "kernel.cubin"
    command = [str(assembler), f"-arch={arch}", str(source), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
