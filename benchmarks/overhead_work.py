"""The work that `overhead.py` profiles: launches, graphs, GPT-2 steps. Needs a GPU and torch.

`make_work` prepares it in a process that has not touched CUDA; each piece of work is a function of
the scope class to use (None: without scopes) that returns what is timed: a function of how often.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

Runner = Callable[[int], None]
GRAPH_KERNELS = 1000
LAUNCHES = 20_000


@dataclass(frozen=True)
class Work:
    """One row of the table.

    Attributes:
        prepare: from a scope class (or None) to what is timed.
        kernels: how many one call launches.
        calls: how many calls are one sample.
        warm_up: how many come before it.
        is_gpu_bound: whether the time that counts is the GPU's.
    """

    prepare: Callable[[Any], Runner]
    kernels: int
    calls: int
    warm_up: int = 1
    is_gpu_bound: bool = False


def make_work(names: list[str]) -> dict[str, Work]:
    """The pieces of work of these names, warmed up."""
    import torch

    torch.cuda.init()
    torch.manual_seed(0)
    work: dict[str, Work] = {}
    if {"triton", "graph", "graph_level"} & set(names):
        work["triton"] = _triton_launches(torch)
        graph = _graph(torch)
        work["graph"] = work["graph_level"] = graph
    if "torch" in names:
        work["torch"] = _torch_launches(torch)
    if "inference" in names:
        work["inference"] = _inference(torch)
    if "training" in names:
        work["training"] = _training(torch)
    for each in {id(work[name]): work[name] for name in names}.values():
        each.prepare(None)(2 * each.warm_up)
    torch.cuda.synchronize()
    return {name: work[name] for name in names}


def _triton_launches(torch: Any) -> Work:
    from overhead_kernels import tiny

    x = torch.zeros(1024, device="cuda")
    launch = tiny[(1,)]

    def prepare(scope: Any) -> Runner:
        def bare(count: int) -> None:
            for _ in range(count):
                launch(x, 1024, BLOCK=1024)

        def scoped(count: int) -> None:
            for _ in range(count):
                with scope("launch"):
                    launch(x, 1024, BLOCK=1024)

        return bare if scope is None else scoped

    return Work(prepare, 1, LAUNCHES, warm_up=500)


def _torch_launches(torch: Any) -> Work:
    a, b, c = (torch.zeros(1024, device="cuda") for _ in range(3))
    add = torch.add

    def prepare(scope: Any) -> Runner:
        def run(count: int) -> None:
            for _ in range(count):
                add(a, b, out=c)

        return run

    return Work(prepare, 1, LAUNCHES, warm_up=500)


def _graph(torch: Any) -> Work:
    from overhead_kernels import tiny

    x, a, b, c = (torch.zeros(1024, device="cuda") for _ in range(4))
    launch = tiny[(1,)]

    def prepare(scope: Any) -> Runner:
        """Captured anew for each session, which then knows where its kernels come from."""
        launch(x, 1024, BLOCK=1024)
        torch.add(a, b, out=c)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(GRAPH_KERNELS // 2):
                launch(x, 1024, BLOCK=1024)
                torch.add(a, b, out=c)

        def run(count: int) -> None:
            for _ in range(count):
                graph.replay()

        return run

    return Work(prepare, GRAPH_KERNELS, 40, warm_up=2, is_gpu_bound=True)


def gpt2(torch: Any, dtype: Any) -> Any:
    """GPT-2 as the documents define it: random weights, eager attention."""
    from transformers import GPT2Config, GPT2LMHeadModel

    with torch.device("cuda"):
        return GPT2LMHeadModel(GPT2Config(attn_implementation="eager")).to(dtype)


def _inference(torch: Any) -> Work:
    model = gpt2(torch, torch.float16).eval()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")

    def prepare(scope: Any) -> Runner:
        def run(count: int) -> None:
            for _ in range(count):
                with torch.no_grad(), nullcontext() if scope is None else scope("step"):
                    model(ids)

        return run

    return Work(prepare, 316, 10)


def _training(torch: Any) -> Work:
    model = gpt2(torch, torch.float32).train()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)

    def prepare(scope: Any) -> Runner:
        def run(count: int) -> None:
            for _ in range(count):
                with nullcontext() if scope is None else scope("step"):
                    optimizer.zero_grad()
                    model(ids, labels=ids).loss.backward()
                    optimizer.step()

        return run

    return Work(prepare, 2095, 3)
