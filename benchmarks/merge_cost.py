"""How long `proton merge` takes for the files of a thousand ranks, and how much memory.

Every file has about 100 KB: the same contexts, other times. A sample is a whole process; the most
memory it had at once is what the system counts for it. The yardstick is a bare `json.load` of all
files, one after another, in a process of its own.

    python benchmarks/merge_cost.py [--ranks N] [--rounds N] [--json PATH]
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stats import Result, estimate, interleave, parser, report

SOURCE = Path(__file__).resolve().parent.parent / "src"
BARE = """
import json, pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    json.loads(path.read_bytes())
"""
STEPS, LAYERS, KERNELS = 10, 10, 5
DEVICE = {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "num_sms": 132}


def node(name: str, metrics: dict[str, Any], children: list[Any]) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}


def kernel(number: int, numbers: random.Random) -> dict[str, Any]:
    measured = {"time (ns)": numbers.randrange(10**5, 10**7), "count": 4}
    said = {"device_id": "0", "device_type": "CUDA", "flops16": 1e9, "bytes": 12345678}
    return node(f"kernel_{number}_<grid:{number}x1x1>", measured | said, [])


def write_rank(path: Path, rank: int) -> None:
    """The profile of one rank: steps, layers in them, kernels in those."""
    numbers = random.Random(rank)
    steps = [
        node(
            f"step_{step}",
            {},
            [
                node(f"layer_{layer}", {}, [kernel(each, numbers) for each in range(KERNELS)])
                for layer in range(LAYERS)
            ],
        )
        for step in range(STEPS)
    ]
    root = node("ROOT", {"time (ns)": 0, "count": 0}, steps)
    kinds = "r" + ("s" + ("s" + "k" * KERNELS) * LAYERS) * STEPS
    header = {"format": 1, "version": "0.1.0", "session": "run", "rank": rank, "kinds": kinds}
    devices = {"CUDA": {"0": DEVICE | {"memory_clock_rate": 3201000}}}
    path.write_text(json.dumps([root | {"proton": header}, devices], separators=(",", ":")))


def timed(command: list[str], memory: list[float] | None = None) -> Callable[[], float]:
    """Seconds of a process; its memory in MiB goes to `memory`."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}

    def run() -> float:
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        spent = time.perf_counter() - start
        if memory is not None:  # the largest child so far, and merging is the largest
            memory.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
        return spent

    return run


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--ranks", type=int, default=1000, help="files to merge")
    options = arguments.parse_args()
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder, output = Path(place, "ranks"), Path(place, "merged.hatchet")
        folder.mkdir()
        for rank in range(options.ranks):
            write_rank(folder / f"run.rank_{rank}.hatchet", rank)
        size = sum(path.stat().st_size for path in folder.iterdir()) / options.ranks / 1000
        merging = [sys.executable, "-m", "proton", "merge", str(folder), "-o", str(output)]
        samples = interleave(
            {
                "bare": timed([sys.executable, "-c", BARE, str(folder)]),
                "merge": timed(merging, memory),
            },
            rounds=options.rounds,
        )
        written = output.stat().st_size / 1e6
    what = f"{options.ranks} rank files of {size:.0f} KB"
    report(
        [
            Result(f"merge {what}", "s", estimate(samples["merge"]), bar=10),
            Result(f"bare json.load of {what}", "s", estimate(samples["bare"])),
            Result("most memory while merging", "MiB", estimate(memory[-1:]), bar=500),
            Result("size of the merged file", "MB", estimate([written])),
        ],
        options.json,
    )


if __name__ == "__main__":
    main()
