"""NVIDIA's disassembler, which comes with Triton: the source lines that it sees in a cubin.

A table is kept as text, one line wherever the place changes: `0290 user.py:17 > standard.py:191`,
offset and frames, the user's first; `-` where there is no place; `= NAME` begins a kernel.
"""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

Stack = tuple[tuple[str, int], ...]  # (file, line), outermost first
Table = dict[str, dict[int, Stack]]  # kernel -> offset of each instruction -> where it comes from

_SECTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),")
_LABEL = re.compile(r"^([^.\s/][^\s]*):$")
_PLACE = re.compile(r'//## File "(.*?)", line (\d+)')
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+\S")


def triton_tool(name: str) -> Path | None:
    """A program of Triton's wheel, or None where there is none."""
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "backends/nvidia/bin" / name
    return path if path.exists() else None


def disassemble(cubin: Path) -> Table:
    """The place of every instruction, as `nvdisasm -gi` has it."""
    tool = triton_tool("nvdisasm")
    assert tool is not None
    command = [str(tool), "--print-code", "--print-line-info-inline", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    table: Table = {}
    stack: Stack = ()
    kernel, is_new = "", False
    for line in done.stdout.splitlines():
        if found := _SECTION.match(line):
            kernel, stack = found[1], ()
            table[kernel] = {}
        elif _LABEL.match(line):  # a routine without lines does not go on with those before it
            stack = ()
        elif found := _PLACE.search(line):
            # The innermost comes first; its caller follows in a line of its own.
            stack = ((found[1], int(found[2])), *(stack if is_new else ()))
        elif found := _INSTRUCTION.match(line):
            table[kernel][int(found[1], 16)] = stack
        is_new = "//##" in line
    return table


def to_text(table: Table) -> str:
    """The table as it is kept."""
    lines = []
    for kernel, places in table.items():
        lines.append(f"= {kernel}")
        before: Stack | None = None
        for offset, stack in sorted(places.items()):
            if stack != before:
                shown = " > ".join(f"{file}:{line}" for file, line in stack) or "-"
                lines.append(f"{offset:04x} {shown}")
            before = stack
    return "\n".join(lines) + "\n"
