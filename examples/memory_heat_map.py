"""A tool of one's own: where in memory a kernel reads and writes, as a heat map of every tensor.

With a GPU and torch the kernel runs and is shown (`--record` keeps it in recorded/). Without, it is
compiled with the tool's pass for an H100, and the buffer in recorded/ is shown.
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
from proton.inkernel.tool_layouts import MemoryLayout, RecordLayout

RECORDED = Path(__file__).parent / "recorded" / "memory_heat_map.json"
CTAS, BLOCK = 64, 1024


@triton.jit
def prefix_sums(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Program i adds up the first i + 1 blocks: the front of `x` is the hottest."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0) + 1):
        total += tl.load(x_ptr + row * BLOCK + at)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + at, total)


@dataclass(frozen=True)
class HeatMap(Tool):
    """Counts accesses by address, and prints a line of blocks for each tensor."""

    name: str = field(default="heat-map", init=False)
    passes: ClassVar[Any] = ("record-ctas", "record-memory")
    layout: ClassVar[RecordLayout] = MemoryLayout()
    bin_bytes: int = 4096  # an option of record-memory

    def on_buffer(self, buffer: ToolBuffer) -> None:
        for counter in buffer.contents.counters:
            print(f"{counter.name:<16} {counter.accesses:>9} accesses {counter.bytes:>10} bytes")
        for heat in buffer.contents.heat:
            most = max(heat.bins, default=1) or 1
            blocks = "".join(" ▁▂▃▄▅▆▇█"[-(-count * 8 // most)] for count in heat.bins)
            print(f"{heat.tensor:<8} |{blocks}| {heat.bytes} bytes, {heat.bin_bytes} a block")
        print("not covered or lost:", {**buffer.contents.uncovered, **buffer.contents.losses})


def compile_only() -> None:
    kinds = {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}
    source = ASTSource(prefix_sums, kinds, {"BLOCK": BLOCK})
    _, records = compile_kernel(HeatMap(), source, GPUTarget("cuda", 90, 32))
    print("no GPU: compiled only;", len(records.record_map["counters"]), "places are counted")


if find_spec("torch") and __import__("torch").cuda.is_available():
    import torch

    x, y = torch.ones(CTAS * BLOCK, device="cuda"), torch.empty(CTAS * BLOCK, device="cuda")
    buffer = launch(HeatMap(), prefix_sums, (CTAS,), x, y, BLOCK=BLOCK)
    if "--record" in sys.argv:
        save_buffer(buffer, RECORDED)
else:
    compile_only()
    print(f"what {RECORDED.name} holds:")
    HeatMap().on_buffer(load_buffer(RECORDED, HeatMap.layout))
