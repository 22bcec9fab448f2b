"""Loops in a cubin as ptxas made them: the same for two kernels whose code differs around them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.support.nvdisasm import triton_tool

_LABEL = re.compile(r"^(\.L_\w+):")
_FIRST_HALF = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;?\s*/\* 0x[0-9a-f]{16} \*/")
_SECOND_HALF = re.compile(r"/\* 0x([0-9a-f]{16}) \*/")
_NAME = re.compile(r"^(?:@!?U?P\w+\s+)?(\S+)")  # behind its predicate
_STALL_SHIFT, _STALL_MASK = 41, 0xF  # of an instruction's second 8 bytes: cycles to the next one


def loops_of(cubin: bytes, instruction: str) -> list[tuple[str, ...]]:
    """Loops of one block that contain `instruction`, in the order of the code.

    Each instruction is `stall: name`, its registers left out: loops are equal where they do the
    same, at the same pace.
    """
    found = []
    label, block = "", list[tuple[int, str]]()
    for name, stall, text in _lines(cubin):
        if name:
            label, block = name, []
            continue
        block.append((stall, text))
        if label and f"`({label})" in text and any(instruction in each for _, each in block):
            found.append(tuple(f"{stall}: {_name(text)}" for stall, text in block))
    return found


def _lines(cubin: bytes) -> list[tuple[str, int, str]]:
    """Labels, and instructions with the cycles until the next."""
    tool = triton_tool("nvdisasm")
    assert tool is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        command = [str(tool), "--print-code", "--print-instruction-encoding", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[tuple[str, int, str]] = []
    text = ""
    for line in done.stdout.splitlines():
        if label := _LABEL.match(line):
            found.append((label[1], 0, ""))
        elif first := _FIRST_HALF.match(line):
            text = first[1]
        elif text and (second := _SECOND_HALF.search(line)):
            found.append(("", int(second[1], 16) >> _STALL_SHIFT & _STALL_MASK, text))
            text = ""
    return found


def _name(text: str) -> str:
    found = _NAME.match(text)
    assert found is not None, text
    return found[1]
