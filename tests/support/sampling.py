"""Small samplings for tests."""

from __future__ import annotations

from types import MappingProxyType

from proton.model.sampling import (
    FOUND,
    NO_LINE_TABLE,
    Instruction,
    LineSamples,
    SampledKernel,
    Sampling,
    SourceFile,
    SourceLine,
)

REASONS = ("long_scoreboard", "selected", "wait")
LOAD = bytes.fromhex("81890e020600000000191e0c00620f00")  # @!P0 LDG.E R14, ... for sm_90
BRANCH = bytes.fromhex("47e99000f8ffffffffff830300ee8f00")  # @!P6 BRA, 0x5b0 back
LINES = (
    SourceLine("k.py", 3, "kernel"),
    SourceLine("k.py", 4, "kernel"),
    SourceLine("lib/sum.py", 9, "sum", 1),
)


def reasons(**counts: int) -> MappingProxyType[int, int]:
    return MappingProxyType({REASONS.index(name): count for name, count in counts.items()})


KERNEL = SampledKernel(
    symbol="kernel",
    device_id=0,
    arch=90,
    samples=100,
    contexts=2,
    lines=FOUND,
    instructions=(
        Instruction(0x10, LOAD, 0, 60, 30, reasons(long_scoreboard=50, selected=10)),
        Instruction(0x600, BRANCH, 2, 30, 5, reasons(wait=30)),
        Instruction(0x610, b"", -1, 4, 0, reasons(selected=4)),
    ),
    other_samples=6,
)
LIBRARY = SampledKernel("gemm", 0, 90, samples=7, lines=NO_LINE_TABLE)
SAMPLING = Sampling(
    period_cycles=1024,
    reasons=REASONS,
    samples=107,
    dropped=0,
    non_user=3,
    overflows=0,
    is_split=True,
    kernels=(KERNEL, LIBRARY),
    lines=LINES,
    files=MappingProxyType({"k.py": SourceFile("ab" * 32, 40)}),
)
TOTALS = (
    LineSamples(0, 60, 30, reasons(long_scoreboard=50, selected=10)),
    LineSamples(2, 30, 5, reasons(wait=30)),
)
