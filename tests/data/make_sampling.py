"""Make the recordings of instruction sampling: `python -m tests.data.make_sampling [FOLDER]`.

The instructions are those of `sampled/*.py` compiled by Triton 3.6 for sm_90; the counts are
invented, and the same at every run. Nothing of Proton is used, so that reader and writer are tested
against files they did not make. Samples are divided over contexts as a session does it.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgpack

from tests.data.make_recordings import DEVICES, compact, name_event, node

HERE = Path(__file__).parent
REASONS = [
    "barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle",
    "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instructions",
    "not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait",
    "warpgroup_arrive",
]  # fmt: skip
SPELLINGS = {"no_instructions": "no_instruction", "not_selected": "not_Selected"}
LIBRARY = "/opt/triton/language/standard.py"
SOFTMAX, MATMUL = "sampled/softmax.py", "sampled/matmul.py"
GONE = "sampled/removed.py"

# File, line, function, the line it was inlined into.
LINES = [
    (SOFTMAX, 13, "softmax", -1),
    (SOFTMAX, 14, "softmax", -1),
    (LIBRARY, 191, "max", 1),
    (LIBRARY, 170, "_elementwise_max", 2),
    (SOFTMAX, 15, "softmax", -1),
    (SOFTMAX, 16, "softmax", -1),
    (LIBRARY, 290, "sum", 5),
    (SOFTMAX, 17, "softmax", -1),
    (MATMUL, 53, "matmul", -1),
    (MATMUL, 54, "matmul", -1),
    (MATMUL, 55, "matmul", -1),
    (MATMUL, 56, "matmul", -1),
    (MATMUL, 59, "matmul", -1),
    (MATMUL, 32, "pointers", 12),
    (GONE, 7, "scale", -1),
    (MATMUL, 47, "matmul", -1),
    (MATMUL, 57, "matmul", -1),
]

# Offset, code, line, latency samples, samples by reason.
Row = tuple[int, str, int, int, dict[str, int]]
SOFTMAX_CODE: list[Row] = [
    (0x2C0, "81890e020600000000191e0c00620f00", 0, 9,
     {"lg_throttle": 31, "selected": 14, "imc_miss": 12}),
    (0x310, "09721614170000000000800700c84f00", 3, 601,
     {"long_scoreboard": 702, "selected": 11, "wait": 9}),
    (0x380, "897f0419001f000e00000e0000640e00", 2, 40, {"wait": 22, "mio_throttle": 31}),
    (0x400, "897f1a03001f200c00000e0000620e00", 2, 30, {"short_scoreboard": 55, "selected": 8}),
    (0x450, "1d7b0000000000000000010000e20f00", 2, 88, {"barrier": 120, "selected": 4}),
    (0x500, "1d7b0000000000000000010000ec0f00", 2, 61, {"barrier": 83}),
    (0x560, "08730200170000000008000000620e00", 4, 12,
     {"math_pipe_throttle": 40, "not_selected": 18, "selected": 15}),
    (0x8A0, "897f0a0b001f000e00000e0000640e00", 6, 21, {"short_scoreboard": 49, "wait": 13}),
    (0xB60, "", 7, 5, {"drain": 37, "lg_throttle": 9, "selected": 6}),
    (0xCE0, "", -1, 0, {"no_instructions": 5, "branch_resolving": 3}),
]  # fmt: skip
MATMUL_CODE: list[Row] = [
    (0x9A0, "4789e800080000000000800300ec0f00", 8, 4, {"branch_resolving": 9, "selected": 3}),
    (0xFA0, "1a790000808000000000000000c80f00", 9, 188, {"long_scoreboard": 240, "wait": 8}),
    (0xFC0, "1d7b0000000000000000010000e20f00", 9, 70, {"barrier": 96, "selected": 6}),
    (0x1140, "c5790000000000000000000000e20f00", 11, 55, {"warpgroup_arrive": 130, "wait": 12}),
    (0x11B0, "f07918080000e0411808700800e20f00", 11, 210,
     {"math_pipe_throttle": 610, "selected": 55, "dispatch_stall": 44}),
    (0x12E0, "f07918080000e0411808700800e20f00", 11, 190, {"math_pipe_throttle": 588}),
    (0x1330, "c5790000008000000001010000e40f00", 11, 702, {"warpgroup_arrive": 901, "misc": 2}),
    (0x1380, "ae7f6912000000004e1c100c00e80300", 9, 20, {"lg_throttle": 61, "selected": 21}),
    (0x1410, "ae7f6b100000000c4e1c100c00e20700", 10, 17, {"lg_throttle": 54, "selected": 19}),
    (0x1540, "47e99000f8ffffffffff830300ee8f00", 8, 3, {"branch_resolving": 12, "selected": 7}),
    (0x1570, "3e72181918000000ff00000000e20f00", 12, 2, {"wait": 25, "selected": 30}),
    (0x1650, "ff" * 16, 13, 1, {"drain": 18, "membar": 2}),
    (0x1660, "", 15, 1, {"imc_miss": 30}),
    (0x1670, "", 16, 1, {"wait": 16}),
    (0x1680, "", 14, 1, {"sleeping": 3, "tex_throttle": 1}),
]  # fmt: skip
LIBRARY_CODE: list[Row] = [
    (0x100, "", -1, 80, {"math_pipe_throttle": 300, "selected": 41, "long_scoreboard": 60}),
]
FILL_CODE: list[Row] = [(0x40, "", -1, 9, {"drain": 20, "selected": 2})]


def total(rows: list[Row]) -> int:
    return sum(sum(reasons.values()) for *_, reasons in rows)


def kernel_object(symbol: str, rows: list[Row], lines: str, contexts: int, other: int = 0) -> Any:
    return {
        "symbol": symbol, "device_id": 0, "arch": 90, "samples": total(rows) + other,
        "contexts": contexts, "lines": lines,
        "instructions": [
            [offset, base64.b64encode(bytes.fromhex(code)).decode(), line, sum(reasons.values()),
             latency, {str(REASONS.index(name)): count for name, count in reasons.items()}]
            for offset, code, line, latency, reasons in rows
        ],
        "other_samples": other,
    }  # fmt: skip


def sampling() -> dict[str, Any]:
    kernels = [
        kernel_object("matmul", MATMUL_CODE, "found", 1),
        kernel_object("softmax", SOFTMAX_CODE, "found", 2, other=7),
        kernel_object("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNN", LIBRARY_CODE,
                      "no line table", 1),
        kernel_object("_Z4fillPfi", FILL_CODE, "no cubin", 1),
    ]  # fmt: skip
    files = {}
    for path in (SOFTMAX, MATMUL):
        content = (HERE / path).read_bytes()
        files[path] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    files[GONE] = {"sha256": "00" * 32, "size": 123}
    return {
        "period_cycles": 16384, "window_ns": 30_000_000, "every_ns": 1_000_000_000,
        "reasons": REASONS, "samples": sum(kernel["samples"] for kernel in kernels),
        "dropped": 0, "non_user": 41, "overflows": 0, "left_out": 0, "is_split": True,
        "kernels": kernels, "lines": [list(line) for line in LINES], "files": files,
    }  # fmt: skip


def metrics(counts: Counter[str], latency: int) -> dict[str, int]:
    samples = sum(counts.values())
    found = {
        "num_samples": samples,
        "num_stalled_samples": samples - counts["selected"],
        "num_latency_samples": latency,
    }
    named = {f"stalled_{SPELLINGS.get(name, name)}": counts[name] for name in REASONS}
    return found | {name: count for name, count in named.items() if count}


def divided(count: int, shares: list[int], place: int) -> int:
    """The part of `count` at `place`, by the largest remainder."""
    parts = [count * share // sum(shares) for share in shares]
    order = sorted(range(len(shares)), key=lambda at: -(count * shares[at] % sum(shares)))
    for at in order[: count - sum(parts)]:
        parts[at] += 1
    return parts[place]


def with_samples(
    kernel: Any, rows: list[Row], shares: list[int], place: int, other: int = 0
) -> Any:
    """`kernel` with the part of its samples that falls to the context at `place`."""
    counts: dict[int, Counter[str]] = {}
    latencies: Counter[int] = Counter()
    for _, _, line, latency, reasons in rows:
        part = {name: divided(count, shares, place) for name, count in reasons.items()}
        counts.setdefault(line, Counter()).update(part)
        latencies[line] += divided(latency, shares, place)
    counts.setdefault(-1, Counter())["misc"] += divided(other, shares, place)
    nodes: dict[int, Any] = {-1: kernel}

    def node_of(line: int) -> Any:
        if line not in nodes:
            file, number, function, parent = LINES[line]
            nodes[line] = node(f"{file}:{number}@{function}")
            node_of(parent)["children"].append(nodes[line])
        return nodes[line]

    for line, found in counts.items():
        if sum(found.values()):
            node_of(line)["metrics"] |= metrics(found, latencies[line])
    return kernel


def kernel(name: str, time_ns: int, count: int) -> Any:
    labels = {"device_id": "0", "device_type": "CUDA"}
    return node(name, {"time (ns)": time_ns, "count": count} | labels)


def kinds(root: Any) -> str:
    letters = []

    def visit(at: Any, depth: int) -> None:
        name = at["frame"]["name"]
        is_kernel = "device_id" in at["metrics"]
        letters.append("r" if not depth else "k" if is_kernel else "l" if "@" in name else "s")
        for child in at["children"]:
            visit(child, depth + 1)

    visit(root, 0)
    return "".join(letters)


def header(data: str) -> dict[str, Any]:
    return {
        "format": 1, "version": "0.1.0", "session": "sampled", "context": "shadow", "data": data,
        "backends": ["cupti"], "mode": "pcsampling:window=30ms:every=1s", "triton": "3.6.0",
        "losses": {"non_user_samples": 41}, "sampling": sampling(),
    }  # fmt: skip


def sampled() -> Any:
    """A tree session: one kernel from two contexts, one of a library, one without its cubin."""
    shares = [300_000, 100_000]
    nvjet, fill = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNN", "_Z4fillPfi"
    forward = node(
        "forward",
        None,
        with_samples(kernel("matmul", 2_600_000, 20), MATMUL_CODE, [1], 0),
        with_samples(kernel("softmax", shares[0], 30), SOFTMAX_CODE, shares, 0, other=7),
    )
    backward = node(
        "backward",
        None,
        with_samples(kernel("softmax", shares[1], 10), SOFTMAX_CODE, shares, 1, other=7),
        with_samples(kernel(nvjet, 410_000, 4), LIBRARY_CODE, [1], 0),
        with_samples(kernel(fill, 22_000, 2), FILL_CODE, [1], 0),
    )
    root = node("ROOT", {"count": 0, "time (ns)": 0, "num_samples": 0}, forward, backward)
    root["proton"] = header("tree") | {"kinds": kinds(root)}
    return [root, DEVICES]


def sampled_trace() -> Any:
    """A trace session: samples by kernel and line, with none dropped but a buffer that was full."""
    found = header("trace")
    seen = found["sampling"]
    seen |= {"dropped": 12, "overflows": 2, "left_out": 300}
    for one, rows in zip(seen["kernels"][:2], (MATMUL_CODE, SOFTMAX_CODE), strict=True):
        sums: dict[int, Counter[str]] = {}
        latencies: Counter[int] = Counter()
        for _, _, line, latency, reasons in rows:
            sums.setdefault(line, Counter()).update(reasons)
            latencies[line] += latency
        one["line_samples"] = [
            [line, sum(counts.values()), latencies[line],
             {str(REASONS.index(name)): count for name, count in counts.items()}]
            for line, counts in sums.items()
        ]  # fmt: skip
        one["instructions"] = one["instructions"][:3]
    stack = ["ROOT", "step", "softmax"]
    lane = {"pid": 0, "tid": 200007}
    events = [
        name_event("process_name", 0, name="Trace"),
        name_event("thread_name", 200007, name="GPU Stream 7"),
        {"ph": "X", "cat": "kernel", "name": "softmax", "ts": 10.0, "dur": 9.5}
        | lane | {"args": {"call_stack": stack}},
    ]  # fmt: skip
    return {
        "displayTimeUnit": "us", "baseTimeNanoseconds": 1_763_000_000_000_000_000,
        "traceEvents": events, "proton": found | {"devices": DEVICES},
    }  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    recordings = {
        "sampled.hatchet": compact(sampled()),
        "sampled.hatchet_msgpack": msgpack.packb(sampled()),
        "sampled.chrome_trace": compact(sampled_trace()),
    }
    for name, content in recordings.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
