"""A tool of one's own: a pipelined loop over several iterations, copies issued and waits for them.

With a GPU and torch the kernel runs and is shown (`--record` keeps it in recorded/). Without, it is
compiled with the tool's pass for an A100, and the buffer in recorded/ is shown.
"""

import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from proton.inkernel.tool import Tool, ToolBuffer, compile_kernel, launch
from proton.inkernel.tool_files import load_buffer, save_buffer
from proton.inkernel.tool_layouts import RecordLayout, RecordsLayout

RECORDED = Path(__file__).parent / "recorded" / "async_wait_view.json"
SIZES, WIDTH = {"N": 512, "B": 64, "BK": 32}, 72


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, N: tl.constexpr, B: tl.constexpr, BK: tl.constexpr):
    at_m = tl.program_id(0) * B + tl.arange(0, B)
    at_n = tl.program_id(1) * B + tl.arange(0, B)
    at_k = tl.arange(0, BK)
    total = tl.zeros((B, B), tl.float32)
    for k in range(0, N, BK):
        a = tl.load(a_ptr + at_m[:, None] * N + (k + at_k)[None, :])
        b = tl.load(b_ptr + (k + at_k)[:, None] * N + at_n[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + at_m[:, None] * N + at_n[None, :], total.to(tl.float16))


@dataclass(frozen=True)
class AsyncWaitView(Tool):
    """Marks copies and iterations, times waits, and draws the first warp's on one line each."""

    name: str = field(default="async-wait-view", init=False)
    passes: ClassVar[Any] = ("record-async-waits",)
    layout: ClassVar[RecordLayout] = RecordsLayout()

    def on_buffer(self, buffer: ToolBuffer) -> None:
        for region in buffer.contents.regions:
            print(f"{region.name:<20} {region.count} times, {region.cycles:.0f} cycles in all")
        spans = [span for span in buffer.contents.spans if (span.cta, span.warp) == (0, 0)]
        begin, end = min(s.start_ns for s in spans), max(s.end_ns for s in spans) + 1
        for name in dict.fromkeys(span.name for span in spans):
            line = [" "] * WIDTH
            for span in (each for each in spans if each.name == name):
                first = (span.start_ns - begin) * WIDTH // (end - begin)
                count = (span.end_ns - begin) * WIDTH // (end - begin) + 1 - first
                line[first : first + count] = ("█" if span.kind == "wait" else "|") * count
            print(f"{name:<20} {''.join(line)}")
        print(f"CTA 0, warp 0: {end - begin} ns; lost: {buffer.contents.losses}")


def compile_only() -> None:
    kinds = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16") | dict.fromkeys(SIZES, "constexpr")
    source = ASTSource(matmul, kinds, SIZES, {(at,): [["tt.divisibility", 16]] for at in range(3)})
    _, records = compile_kernel(AsyncWaitView(), source, GPUTarget("cuda", 80, 32))
    print("no GPU: compiled only;", records.record_map["static_records"], "records in the kernel")


if find_spec("torch") and __import__("torch").cuda.is_available():
    import torch

    a, b, c = (torch.ones(512, 512, device="cuda", dtype=torch.float16) for _ in range(3))
    buffer = launch(AsyncWaitView(), matmul, (8, 8), a, b, c, **SIZES)
    if "--record" in sys.argv:
        save_buffer(buffer, RECORDED)
else:
    compile_only()
    print(f"what {RECORDED.name} holds:")
    AsyncWaitView().on_buffer(load_buffer(RECORDED, AsyncWaitView.layout))
