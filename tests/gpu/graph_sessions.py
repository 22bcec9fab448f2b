"""A program whose CUDA graphs outlive sessions: graph_sessions.py FOLDER.

Graphs are captured in a session, between sessions and in a second one; all are replayed between
sessions and in every later session. It prints as JSON how much memory launches leave behind when no
session runs any more, and which libcupti there was.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

import proton

LAUNCHES = 200_000


def main(folder: str) -> None:
    x = torch.ones(1024, device="cuda")
    work: dict[str, Any] = {"sin": x.sin_, "cos": x.cos_, "tanh": x.tanh_}
    for run in (*work.values(), lambda: x.add_(1)):
        run()  # compiled and loaded
    torch.cuda.synchronize()
    graphs: list[Any] = []

    def capture(name: str) -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), proton.scope(f"captured_{name}"):
            for _ in range(3):
                work[name]()
        graphs.append(graph)

    def replay() -> None:
        for graph in graphs:
            graph.replay()
        torch.cuda.synchronize()

    proton.start(os.path.join(folder, "one"), backend="cupti")
    capture("sin")
    replay()
    proton.finalize()
    capture("cos")
    replay()
    proton.start(os.path.join(folder, "two"), backend="cupti")
    capture("tanh")
    replay()
    proton.finalize()
    replay()
    proton.start(os.path.join(folder, "three"), backend="cupti")
    replay()
    proton.finalize()

    def launch(count: int) -> None:
        for number in range(count):
            x.add_(1)
            if number % 1000 == 0:
                torch.cuda.synchronize()

    launch(LAUNCHES // 10)
    before = resident_bytes()
    launch(LAUNCHES)
    maps = Path("/proc/self/maps").read_text().splitlines()
    libraries = sorted({line.split()[-1] for line in maps if "libcupti.so" in line})
    print(json.dumps({"left_bytes": resident_bytes() - before, "libraries": libraries}))


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(sys.argv[1])
