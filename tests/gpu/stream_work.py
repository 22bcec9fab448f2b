"""The kinds of work that record_streams.py records: prepared outside a session, then run on a stage
that notes what is done to Proton.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.native.recorder.notes import Audience, Stage


@dataclass(frozen=True)
class Work:
    """Prepared work; `run` may be called again and does the same again."""

    run: Callable[[Stage], None]
    is_comparable: bool = True  # kernel by kernel with another profiler


def threads(torch: Any) -> Work:
    """Eager torch and Triton in nested scopes, from two threads at once."""
    from tests.gpu.kernels import add_one

    def work(stage: Stage, number: int) -> None:
        x = torch.ones(4096, device="cuda")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), stage.scope(f"thread{number}"):
            for turn in range(20):
                with stage.scope(f"turn{turn % 2}"):
                    with stage.scope("torch", {"rows": 2.0}):
                        y = x.add(1)
                        y.mul_(2)
                    with stage.scope("triton"):
                        add_one[(4,)](x, 4096, BLOCK=1024)
            stream.synchronize()

    def run(stage: Stage) -> None:
        with stage.session("threads"):
            workers = [threading.Thread(target=work, args=(stage, n)) for n in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            with stage.scope("after"):
                torch.ones(64, device="cuda").add_(1)
            torch.cuda.synchronize()

    run(Audience())
    return Work(run)


def _graph(torch: Any, mode: str) -> Work:
    x = torch.ones(4096, device="cuda")
    x.add_(1).mul_(1)

    def run(stage: Stage) -> None:
        with stage.session("graph", mode=mode):
            graph = torch.cuda.CUDAGraph()
            with stage.scope("capture"), torch.cuda.graph(graph):
                with stage.scope("a"):
                    x.add_(1)
                    x.add_(2)
                with stage.scope("b", {"rows": 3.0}):
                    x.mul_(1)
                    y = x.clone()
                    y.zero_()
            for turn in range(20):
                with stage.scope(f"replay{turn % 2}"):
                    graph.replay()
            torch.cuda.synchronize()

    return Work(run, is_comparable=mode == "graphs=node")


def graph_by_node(torch: Any) -> Work:
    """A graph captured in the session and replayed, an event for each of its kernels."""
    return _graph(torch, "graphs=node")


def graph_by_graph(torch: Any) -> Work:
    """The same, an event for each replay."""
    return _graph(torch, "graphs=graph")


def _gpt2(torch: Any) -> Any:
    transformers = importlib.import_module("transformers")
    config = transformers.GPT2Config(attn_implementation="eager")
    with torch.device("cuda"):
        return transformers.GPT2LMHeadModel(config)


def _scopes_of_blocks(model: Any, stage: Stage) -> list[Any]:
    """Hooks that put every transformer block into a scope of its own; the caller removes them."""
    handles = []
    for number, block in enumerate(model.transformer.h):
        enter = {"op": "enter", "name": f"block{number}"}
        leave = {"op": "exit", "name": f"block{number}"}
        handles.append(block.register_forward_pre_hook(lambda *_, deed=enter: stage.do(deed)))
        handles.append(block.register_forward_hook(lambda *_, deed=leave: stage.do(deed)))
    return handles


def gpt2_inference(torch: Any) -> Work:
    """One step of GPT-2 in half precision, a scope for every block."""
    model = _gpt2(torch).half().eval()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(ids)

    for _ in range(3):
        step()

    def run(stage: Stage) -> None:
        hooks = _scopes_of_blocks(model, stage)
        with stage.session("gpt2"):
            with stage.scope("inference"):
                step()
            torch.cuda.synchronize()
        for hook in hooks:
            hook.remove()

    return Work(run)


def gpt2_training(torch: Any) -> Work:
    """One training step of GPT-2: backward runs on autograd's own thread."""
    model = _gpt2(torch).train()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)

    def step(stage: Stage) -> None:
        optimizer.zero_grad()
        with stage.scope("forward"):
            loss = model(ids, labels=ids).loss
        with stage.scope("backward"):
            loss.backward()
        with stage.scope("optimizer"):
            optimizer.step()

    for _ in range(3):
        step(Audience())

    def run(stage: Stage) -> None:
        hooks = _scopes_of_blocks(model, stage)
        with stage.session("gpt2"):
            with stage.scope("step"):
                step(stage)
            torch.cuda.synchronize()
        for hook in hooks:
            hook.remove()

    return Work(run)


def copies(torch: Any) -> Work:
    """Copies of all directions, memsets and managed memory, on several streams."""
    pinned = torch.ones(1 << 16).pin_memory()
    pageable = torch.ones(1 << 12)
    device = torch.empty(1 << 16, device="cuda")
    streams = [torch.cuda.Stream() for _ in range(3)]
    managed = _ManagedMemory(1 << 22)

    def run(stage: Stage) -> None:
        with stage.session("copies"):
            for turn in range(4):
                for number, stream in enumerate(streams):
                    with torch.cuda.stream(stream), stage.scope(f"stream{number}"):
                        with stage.scope("in"):
                            device.copy_(pinned, non_blocking=True)
                        with stage.scope("on"):
                            other = device.clone()
                            other.zero_()
                        with stage.scope("out"):
                            pinned.copy_(other, non_blocking=True)
                torch.cuda.synchronize()
                with stage.scope("pageable"):
                    pageable.copy_(device[: 1 << 12])
                with stage.scope("managed"):
                    managed.touch(turn)
            torch.cuda.synchronize()

    return Work(run)


class _ManagedMemory:
    """Memory that both sides use, by the driver's API: torch has none."""

    def __init__(self, size_bytes: int) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._size = size_bytes
        self._at = ctypes.c_uint64()
        attach_global = 1
        size = ctypes.c_size_t(size_bytes)
        self._code = self._cuda.cuMemAllocManaged(ctypes.byref(self._at), size, attach_global)

    def touch(self, value: int) -> None:
        """Write it on the device, then read it on the host."""
        if self._code != 0:
            return
        size = ctypes.c_size_t(self._size)
        self._cuda.cuMemsetD8_v2(self._at, ctypes.c_ubyte(value), size)
        self._cuda.cuCtxSynchronize()
        ctypes.string_at(self._at.value or 0, self._size)


def compiled(torch: Any) -> Work:
    """A compiled model with CUDA graphs, captured before the session began."""
    layers = [torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)]
    model = torch.compile(torch.nn.Sequential(*layers).cuda().eval(), mode="reduce-overhead")
    x = torch.randn(64, 256, device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(x)

    for _ in range(5):
        step()
    torch.cuda.synchronize()

    def run(stage: Stage) -> None:
        with stage.session("compiled"):
            for _ in range(5):
                with stage.scope("step"):
                    step()
            torch.cuda.synchronize()

    return Work(run)


def sessions(torch: Any) -> Work:
    """Two sessions one after the other, with phases, pauses and work between them."""
    x = torch.ones(4096, device="cuda")
    x.add_(1).mul_(1)

    def run(stage: Stage) -> None:
        with stage.session("first"):
            with stage.scope("one"):
                x.add_(1)
            stage.pause("first")
            x.mul_(3)  # recorded by nobody
            stage.resume("first")
            with stage.scope("two"):
                x.add_(2)
        x.mul_(2)
        with stage.session("second"):
            for number in range(3):
                with stage.scope(f"phase{number}"):
                    for _ in range(5):
                        x.mul_(1)
                if number < 2:
                    stage.advance_phase("second")
            torch.cuda.synchronize()

    return Work(run, is_comparable=False)  # the other one sees the work between them too


WORK: dict[str, Callable[[Any], Work]] = {
    each.__name__: each
    for each in (  # what takes long to prepare comes first
        compiled,
        gpt2_training,
        gpt2_inference,
        threads,
        graph_by_node,
        graph_by_graph,
        copies,
        sessions,
    )
}
