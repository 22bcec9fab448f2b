"""How long it takes to read a cubin's line tables and resolve 100 000 program counters.

Usage: python benchmarks/line_tables.py [--rounds N] [--json PATH]
The cubin is assembled by the ptxas of Triton's wheel from PTX written here: 50 functions of 2000
instructions, each instruction on a line of its own and every other one inlined two levels deep.
Every program counter is another one. "Frames" is what a viewer gets, as Python tuples.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import triton

from proton import _native
from stats import Result, estimate, interleave, parser, report, time_ns

FUNCTION_COUNT = 50
COUNTER_COUNT = 100_000
STEP_BYTES = 16  # of an instruction
BAR_MS = 1000.0
HEAD = """.version 8.0
.target sm_80
.address_size 64
"""
TAIL = """	.file	1 "/src/kernel.cu"
	.file	2 "/src/helper.cuh"
	.section	.debug_str
	{
$L__info_string0:
.b8 104, 101, 108, 112, 0
	}
"""


def function_lines(number: int, count: int) -> Iterator[str]:
    """The PTX of one kernel of at least `count` instructions that cannot be merged."""
    yield f".visible .entry kernel_{number}(.param .u64 p)\n{{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;"
    yield ".loc 1 1 1\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;"
    for line in range(2, count + 2):
        yield f".loc 1 {line} 1"
        if line % 2:
            yield f".loc 2 {line} 1, function_name $L__info_string0, inlined_at 1 {line} 1"
            yield f".loc 2 {line} 5, function_name $L__info_string0, inlined_at 2 {line} 1"
        yield f"st.volatile.global.u32 [%d1+{4 * line}], %r1;"
    yield "ret;\n}"


def assembled(folder: Path) -> tuple[bytes, str]:
    """The cubin and its PTX."""
    each = COUNTER_COUNT // FUNCTION_COUNT
    lines = [line for number in range(FUNCTION_COUNT) for line in function_lines(number, each)]
    ptx = HEAD + "\n".join(lines) + "\n" + TAIL
    source, image = folder / "many.ptx", folder / "many.cubin"
    source.write_text(ptx)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    command = [tool, "-lineinfo", "--gpu-name=sm_80", source, "-o", image]
    subprocess.run(command, check=True, timeout=300)
    return image.read_bytes(), ptx


def resolve(cubin: _native.Cubin) -> int:
    """Ask for COUNTER_COUNT distinct program counters; how many have frames."""
    each = COUNTER_COUNT // FUNCTION_COUNT
    offsets = range(0, each * STEP_BYTES, STEP_BYTES)
    return sum(
        bool(frames)
        for number in range(FUNCTION_COUNT)
        for frames in cubin.locate(f"kernel_{number}", offsets)
    )


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        image, ptx = assembled(Path(folder))
    found = resolve(_native.Cubin(image))
    assert found == COUNTER_COUNT, f"only {found} of {COUNTER_COUNT} counters have a line"
    cubin = _native.Cubin(image)
    runs = {
        "read the tables": lambda: time_ns(lambda: _native.Cubin(image)) / 1e6,
        "read the tables, with PTX": lambda: time_ns(lambda: _native.Cubin(image, ptx)) / 1e6,
        f"frames of {COUNTER_COUNT} program counters": lambda: (
            time_ns(lambda: resolve(cubin)) / 1e6
        ),
        "all of it": lambda: time_ns(lambda: resolve(_native.Cubin(image, ptx))) / 1e6,
    }
    samples = interleave(runs, rounds=arguments.rounds)
    note = f"{len(image) / 1e6:.1f} MB, {FUNCTION_COUNT} functions"
    report(
        [
            Result(
                name,
                "ms",
                estimate(samples[name]),
                bar=BAR_MS if name == "all of it" else None,
                note=note if name == "read the tables" else "",
            )
            for name in runs
        ],
        arguments.json,
    )


if __name__ == "__main__":
    main()
