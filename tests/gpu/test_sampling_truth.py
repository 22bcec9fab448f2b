"""Samples against NVIDIA's own tools: reasons as Nsight Compute counts them, lines as CUPTI does.

`ncu` and Proton run the same program; a reason's share of samples may differ by ten percentage
points. Where `ncu` or CuPy is missing, that is said.
"""

from __future__ import annotations

import csv
import glob
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.sampled_profile import SampledProfile

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(300)]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPT = HERE / "stalls.py"
FRONT = "smsp__pcsamp_warps_issue_stalled_"
POINTS = 0.10
# hardware's name -> the name in our files
SPELLING = {"no_instructions": "no_instruction", "not_selected": "not_Selected"}


def ncu() -> str:
    """Nsight Compute's command."""
    known = ("/usr/local/cuda/bin/ncu", *sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu")))
    found = shutil.which("ncu") or next((path for path in known if os.path.exists(path)), None)
    if found is None:
        pytest.skip("Nsight Compute (ncu) is not on this machine: stall reasons are not compared")
    return found


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{_pythonpath()}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def _pythonpath() -> str:
    import proton

    return os.pathsep.join(
        filter(None, [str(Path(proton.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    )


def by_ncu(kind: str, kernel: str, folder: Path) -> dict[str, float]:
    """Reason -> share of samples, of one launch."""
    command = [
        ncu(), "--clock-control", "none", "--cache-control", "none", "--import-source", "no",
        "--metrics", "group:smsp__pcsamp_warp_stall_reasons", "--warp-sampling-interval", "6",
        "--kernel-name", kernel, "--launch-skip", "2", "--launch-count", "1",
        "--csv", "--page", "raw", sys.executable, str(SCRIPT), kind, "4",
    ]  # fmt: skip
    output = run(command, folder)
    lines = output.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    assert start is not None, f"no table in what ncu printed:\n{output[-3000:]}"
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    assert rows, f"an empty table in what ncu printed:\n{output[-3000:]}"
    counts: dict[str, float] = {}
    for key, value in rows[-1].items():
        if key.startswith(FRONT) and not key.endswith("_not_issued"):
            reason = key.removeprefix(FRONT)
            counts[SPELLING.get(reason, reason)] = float((value or "0").replace(",", ""))
    total = sum(counts.values())
    assert total > 500, f"ncu took {total} samples: {rows[-1]}"
    return {reason: count / total for reason, count in counts.items()}


def by_us(kind: str, kernel: str, folder: Path) -> tuple[dict[str, float], str]:
    """Reason -> share of samples, of several launches; and the profile in words."""
    command = [sys.executable, "-m", "proton", "-q", "-n", "ours", "-m", "pcsampling:interval=2048"]
    run([*command, str(SCRIPT), kind, "20"], folder)
    profile = SampledProfile(folder / "ours.hatchet").check()
    found = profile.kernels[kernel]
    assert found.samples > 500, profile.describe()
    return {reason: found.share(reason) for reason in found.reasons}, profile.describe()


@pytest.mark.parametrize(
    ("kind", "reason"), [("memory", "long_scoreboard"), ("barrier", "barrier")]
)
def test_reasons_are_those_of_nsight_compute(
    torch: Any, tmp_path: Path, kind: str, reason: str
) -> None:
    if kind == "barrier":
        pytest.importorskip("cupy", reason="the barrier-bound kernel needs CuPy")
    kernel = {"memory": "gather", "barrier": "wait_for_one"}[kind]
    theirs = by_ncu(kind, kernel, tmp_path)
    ours, described = by_us(kind, kernel, tmp_path)
    table = {
        each: (round(ours.get(each, 0), 3), round(theirs.get(each, 0), 3))
        for each in sorted({*ours, *theirs}, key=lambda each: -theirs.get(each, 0))
    }
    apart = {each: pair for each, pair in table.items() if abs(pair[0] - pair[1]) > POINTS}
    assert not apart, f"ours and theirs: {table}\n{described}"
    assert max(theirs, key=lambda each: theirs[each]) == reason, table
    assert max(ours, key=lambda each: ours[each]) == reason, table


def test_lines_are_those_of_cupti(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proton.backends.cupti.candidates import chosen_of, find_candidates
    from proton.runtime.environment import read_knobs

    chosen = chosen_of(find_candidates(read_knobs()))
    assert chosen is not None
    monkeypatch.syspath_prepend(str(HERE))
    import sampled_kernels  # type: ignore[import-not-found, unused-ignore]

    x = torch.ones(1 << 20, device="cuda")
    compiled = [
        sampled_kernels.gather.warmup(x, x, 32, 1024, BLOCK=1024, grid=(1,)),
        sampled_kernels.call_helper.warmup(x, 64, BLOCK=1024, grid=(1,)),
        sampled_kernels.peaks.warmup(x, x, 64, BLOCK=4096, num_warps=8, grid=(1,)),
    ]
    paths = []
    for kernel in compiled:
        paths.append(tmp_path / f"{kernel.metadata.name}.cubin")
        paths[-1].write_bytes(kernel.asm["cubin"])
        paths[-1].with_suffix(".ptx").write_text(kernel.asm["ptx"])
    command = [sys.executable, str(ROOT / "tests/support/cupti_lines.py"), chosen.path]
    found = json.loads(run([*command, *map(str, paths)], tmp_path))
    assert {name: each["differences"] for name, each in found.items() if each["differences"]} == {}
    assert sum(each["known"] for each in found.values()) > 100, found
