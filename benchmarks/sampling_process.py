"""One process of `sampling.py`: the tools, the work, and what is measured of them."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from overhead_process import time_work
from overhead_tools import Tool, TritonTool
from overhead_work import Runner, Work, make_work

SIZE = 4096
ROWS_OF_SOFTMAX = 8192
# what the known tool is given: at 25 to 129 times the cost, the rest would take minutes
FEW = {"tiny": 500, "matmul": 30, "softmax": 30, "cublas": 30}
CLOSED = "pcsampling:window=1ms:every=60min"  # its one window is over before anything is timed


class ProtonTool(Tool):
    """Proton in one of its modes; knows what the last profile says of its samples."""

    def __init__(self, mode: str | None) -> None:
        import proton

        super().__init__()
        self._proton, self._mode = proton, mode
        self._name = os.path.join(self.folder, "profile")

    def start(self, *, is_graph_level: bool = False) -> None:
        self._proton.start(self._name, backend="cupti", mode=self._mode)

    def stop(self) -> None:
        self._proton.finalize()

    def sampled(self) -> dict[str, int]:
        """Samples taken and lost, by the profile that was written last."""
        header = json.loads(Path(f"{self._name}.hatchet").read_text())[0]["proton"]
        found = header.get("sampling", {})
        return {key: found.get(key, 0) for key in ("samples", "dropped", "non_user", "overflows")}


TOOLS: dict[str, Callable[[], Tool]] = {
    "none": Tool,
    "timing": lambda: ProtonTool(None),
    "sampling": lambda: ProtonTool("pcsampling"),
    "closed": lambda: ProtonTool(CLOSED),
    "triton": lambda: TritonTool(mode="pcsampling"),
}


def make_rows(names: list[str], *, is_few: bool) -> dict[str, Work]:
    """The pieces of work, warmed up; `is_few`: as many calls as the known tool gets."""
    import torch

    known = {"tiny": "triton", "graph": "graph"}  # where overhead.py has the same
    shared = make_work([known[name] for name in names if name in known])
    rows = {name: shared[known[name]] for name in names if name in known}
    torch.cuda.init()
    if "softmax" in names:
        rows["softmax"] = _softmax(torch)
    if {"matmul", "cublas"} & set(names):
        rows |= _products(torch)
    chosen = {name: rows[name] for name in names}
    if is_few:
        chosen = {name: replace(work, calls=FEW[name], warm_up=2) for name, work in chosen.items()}
    for work in chosen.values():
        work.prepare(None)(2 * work.warm_up)
    torch.cuda.synchronize()
    return chosen


def measure(names: list[str], rows: list[str], cycles: int) -> dict[str, Any]:
    """Row -> for each cycle, tool -> seconds; and what was sampled and lost. A tool that fails is
    left out from there on."""
    failed: dict[str, str] = {}
    is_few = "triton" in names
    tools = {name: TOOLS[name]() for name in names}
    work = make_rows([row for row in rows if not is_few or row in FEW], is_few=is_few)
    samples: dict[str, list[dict[str, float]]] = {}
    sampled: dict[str, dict[str, int]] = {}
    for row in sorted(work, key=lambda name: name != "graph"):
        samples[row] = []
        for cycle in range(cycles):
            taken: dict[str, float] = {}
            for name in names if cycle % 2 == 0 else reversed(names):
                if name in failed:
                    continue
                try:
                    taken[name] = time_work(tools[name], _bare(work[row]), is_graph_level=False)
                    if name == "sampling":
                        _add(sampled.setdefault(row, {}), tools[name])
                except Exception as error:
                    traceback.print_exc()
                    failed[name] = f"{row}: {type(error).__name__}: {error}"
            samples[row].append(taken)
    return {"samples": samples, "failed": failed, "sampled": sampled}


def measure_training(seconds: float, mode: str | None) -> dict[str, Any]:
    """The size of the profile of some time of GPT-2 training, and what was sampled."""
    import torch

    tool = ProtonTool(mode)
    run = make_work(["training"])["training"].prepare(None)
    tool.start()
    steps, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        run(1)
        steps += 1
    torch.cuda.synchronize()
    start = time.perf_counter()
    tool.stop()
    written = {"bytes": tool.file_bytes(), "finalize_ms": (time.perf_counter() - start) * 1e3}
    return {**written, "steps": steps, **tool.sampled()}


def _add(sums: dict[str, int], tool: Tool) -> None:
    assert isinstance(tool, ProtonTool)
    for key, value in tool.sampled().items():
        sums[key] = sums.get(key, 0) + value


def _bare(work: Work) -> Work:
    """The same without scopes, which are not what is compared here."""
    return replace(work, prepare=lambda scope: work.prepare(None))


def _repeat(call: Callable[[], object]) -> Callable[[Any], Runner]:
    def prepare(scope: Any) -> Runner:
        def run(count: int) -> None:
            for _ in range(count):
                call()

        return run

    return prepare


def _softmax(torch: Any) -> Work:
    from sampling_kernels import softmax

    x = torch.randn(ROWS_OF_SOFTMAX, SIZE, device="cuda")
    y = torch.empty_like(x)
    launch = softmax[(ROWS_OF_SOFTMAX,)]
    call = _repeat(lambda: launch(x, y, SIZE, BLOCK=SIZE, num_warps=8))
    return Work(call, 1, 2000, warm_up=50, is_gpu_bound=True)


def _products(torch: Any) -> dict[str, Work]:
    from sampling_kernels import matmul

    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c, d = (torch.empty_like(a) for _ in range(2))
    blocks = {"BM": 128, "BN": 128, "BK": 64}
    launch = matmul[(SIZE // 128, SIZE // 128)]

    def ours() -> None:
        launch(a, b, c, SIZE, SIZE, SIZE, **blocks, num_warps=8, num_stages=3)

    ours()
    torch.mm(a, b, out=d)
    error = ((c.float() - d.float()).norm() / d.float().norm()).item()
    if error > 0.02:
        raise RuntimeError(f"the Triton product is wrong by {error:.1%}")
    return {
        "matmul": Work(_repeat(ours), 1, 600, warm_up=30, is_gpu_bound=True),
        "cublas": Work(
            _repeat(lambda: torch.mm(a, b, out=d)), 1, 600, warm_up=30, is_gpu_bound=True
        ),
    }
