"""A recording that has every instruction of a kernel, of which some were sampled."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from proton._native import Cubin

CUBINS = Path(__file__).parents[1] / "data" / "cubins"
KERNEL = "softmax"
SAMPLED = {0x10: 20, 0x300: 70, 0x310: 300, 0x400: 90, 0x8A0: 40}  # offset -> samples
_SOURCE, _TEXT = "/src/kernels.py", "kernels.py"


def write_whole_kernel(path: Path, copies: int = 1) -> list[int]:
    """Write a tree with one sampled kernel to `path`, and its source beside it.

    Returns the offsets of its instructions. With `copies` its code comes so often, one behind the
    other.
    """
    image = (CUBINS / "triton36_softmax_sm90.cubin").read_bytes()
    cubin = Cubin(image, (CUBINS / "triton36_softmax_sm90.ptx").read_text())
    code = cubin.code(KERNEL)
    stacks = cubin.locate(KERNEL, list(range(0, len(code), 16))) * copies
    lines: dict[tuple[str, int, str, int], int] = {}
    rows: list[list[Any]] = []
    for number, stack in enumerate(stacks):
        at = -1
        for file, line, _, function in stack:
            name = _TEXT if file == _SOURCE else file
            called = function or "<inlined>"
            at = lines.setdefault((name, line, called, at), len(lines))
        offset = 16 * number
        text = base64.b64encode(code[offset % len(code) :][:16]).decode()
        count = SAMPLED.get(offset, 0)
        rows.append([offset, text, at, count, count // 2, {"0": count} if count else {}])
    total = sum(SAMPLED.values())
    source = (CUBINS / _TEXT).read_bytes()
    (path.parent / _TEXT).write_bytes(source)
    kernel = {
        "symbol": KERNEL, "device_id": 0, "arch": 90, "samples": total, "contexts": 1,
        "lines": "found", "instructions": rows, "instruction_count": len(rows),
    }  # fmt: skip
    sampling = {
        "period_cycles": 1024, "reasons": ["long_scoreboard"], "samples": total, "dropped": 0,
        "kernels": [kernel], "lines": [list(line) for line in lines],
        "files": {_TEXT: {"sha256": sha256(source).hexdigest(), "size": len(source)}},
    }  # fmt: skip
    metrics = {"time (ns)": 1000, "count": 1, "device_id": "0", "device_type": "CUDA"}
    node = {"frame": {"name": KERNEL, "type": "function"}, "metrics": metrics, "children": []}
    _add_lines(node, rows, list(lines))
    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [node]}
    kinds = "rk" + "l" * (_count(node) - 1)
    root["proton"] = {"format": 1, "data": "tree", "sampling": sampling, "kinds": kinds}
    devices = {"CUDA": {"0": {"arch": "90", "num_sms": 132, "clock_rate": 1980000}}}
    path.write_text(json.dumps([root, devices]))
    return [row[0] for row in rows]


def _add_lines(
    kernel: dict[str, Any], rows: list[list[Any]], lines: list[tuple[str, int, str, int]]
) -> None:
    """The sampled lines as contexts below their kernel."""
    nodes: dict[int, dict[str, Any]] = {-1: kernel}

    def node_of(at: int) -> dict[str, Any]:
        if at not in nodes:
            file, line, function, parent = lines[at]
            frame = {"name": f"{file}:{line}@{function}", "type": "function"}
            nodes[at] = {"frame": frame, "metrics": {}, "children": []}
            node_of(parent)["children"].append(nodes[at])
        return nodes[at]

    for _, _, at, count, latency, _ in rows:
        if count:
            own = node_of(at)["metrics"]
            for metric, value in (
                ("num_samples", count),
                ("num_stalled_samples", count),
                ("num_latency_samples", latency),
                ("stalled_long_scoreboard", count),
            ):
                own[metric] = own.get(metric, 0) + value


def _count(node: dict[str, Any]) -> int:
    return 1 + sum(map(_count, node["children"]))
