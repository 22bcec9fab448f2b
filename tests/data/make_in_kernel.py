"""Make the recordings of instrumented kernels: `python -m tests.data.make_in_kernel [FOLDER]`.

The numbers are invented, plausible for an H200, and the same at every run. Nothing of Proton is
used, so that reader and writer are tested against files they did not make.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgpack

from tests.data.make_recordings import DEVICES, compact, kernel, name_event, node

HERE = Path(__file__).parent
CLOCK_GHZ = 1.596
MATMUL, SOFTMAX = "matmul_kernel", "softmax_kernel"

# Name, line, kind, parent, passages a launch, cycles of one (p10, p50, p90).
Row = tuple[str, int, str, int, int, tuple[float, float, float]]
MATMUL_REGIONS: list[Row] = [
    ("k loop", 51, "loop", -1, 4096, (3610.0, 3720.0, 4105.5)),
    ("load a", 53, "op", 0, 65_536, (61.0, 64.5, 80.0)),
    ("wait tile", 55, "wait", 0, 65_536, (70.0, 92.0, 145.0)),
    ("dot", 56, "mma", 0, 65_536, (58.0, 60.5, 66.0)),
    ("copy b", 54, "event", 0, 65_536, (510.0, 640.0, 1210.0)),
    ("epilogue", 59, "scope", -1, 4096, (880.0, 912.0, 1302.0)),
    ("done", 60, "mark", -1, 4096, (0.0, 0.0, 0.0)),
]


def region(row: Row, launches: int) -> dict[str, Any]:
    name, line, kind, parent, count, (low, middle, high) = row
    found: dict[str, Any] = {
        "name": name, "file": "sampled/matmul.py", "line": line, "kind": kind, "parent": parent,
        "count": count * launches, "cycles": round(count * launches * middle * 1.02),
    }  # fmt: skip
    if middle:
        found |= {"ns": round(found["cycles"] / CLOCK_GHZ, 3), "p10": low, "p50": middle}
        found |= {"p90": high, "min": low - 20, "max": high * 3}
    return found


def matmul(context: list[str], launches: int) -> dict[str, Any]:
    return {
        "kernel": MATMUL, "context": context, "mode": "ops+loops", "device_id": 0,
        "launches": launches, "recorded_warps": 4096 * launches, "clock_ghz": CLOCK_GHZ,
        "record_cycles": 21.5, "error_cycles": 15,
        "regions": [region(row, launches) for row in MATMUL_REGIONS],
        "values": [{"name": "k tiles", "count": 4096, "sum": 65_536, "min": 16, "max": 16}],
        "losses": {"overflowed_records": 1536} if launches > 1 else {},
        "changed": {"registers": [168, 208], "spills": [0, 24], "occupancy": [0.25, 0.1875],
                    "shared": [98_304, 98_304]},
    }  # fmt: skip


def softmax() -> dict[str, Any]:
    """Mode `cta+memory`: 1000 CTAs in almost four waves, two multiprocessors that ran nothing."""
    per_sm: list[float | None] = [
        round(0.72 + 0.27 * ((sm * 37) % 100) / 100, 3) for sm in range(132)
    ]
    per_sm[6] = per_sm[7] = None
    per_sm[40] = 0.31
    active = [min(264.0, 30.0 * at + 12) for at in range(48)]
    active += [round(264.0 - 16.5 * at, 1) for at in range(16)]
    bins = [((n * 7919) % 97) * (n % 11 != 0) for n in range(2400)] + [0] * 600 + [900] * 30
    return {
        "kernel": SOFTMAX, "context": ["step", "forward"], "mode": "cta+memory", "device_id": 0,
        "launches": 3, "recorded_warps": 12_000, "clock_ghz": CLOCK_GHZ, "record_cycles": 0,
        "ctas": {
            "count": 1000, "sms": 130, "first_start_ns": 1_000_000_400,
            "last_end_ns": 1_000_024_600, "p50_ns": 5730, "p99_ns": 7915, "waves": 3.79,
            "tail_ns": 6050, "per_sm": per_sm, "active": active,
        },
        "accesses": [
            {"name": "tl.load", "kind": "load", "file": "sampled/softmax.py", "line": 13,
             "tensor": "x_ptr", "accesses": 3_072_000, "bytes": 12_288_000,
             "first": [[n // 4, n % 4, "x_ptr", 12_288 * (n // 4) + 512 * (n % 4)]
                       for n in range(64)],
             "first_of": 4000},
            {"name": "tl.store", "kind": "store", "file": "sampled/softmax.py", "line": 17,
             "tensor": "out_ptr", "accesses": 3_072_000, "bytes": 6_144_000,
             "first": [[0, 0, "", 0x7F5A00000000]], "first_of": 1},
        ],
        "uncovered": {"copies by descriptor": 1},
        "heat": [
            {"tensor": "x_ptr", "bytes": 12_288_000, "accesses": sum(bins), "bin_bytes": 4096,
             "bins": bins, "byte_bins": [(4 + 12 * (n % 5 == 0)) * a for n, a in enumerate(bins)]},
            {"tensor": "out_ptr", "bytes": 0, "accesses": 0, "bin_bytes": 4096, "bins": []},
        ],
    }  # fmt: skip


def region_nodes(found: dict[str, Any]) -> list[Any]:
    """The regions below a kernel as a tree has them: without what lies in them."""
    regions = found["regions"]
    own = [one["cycles"] for one in regions]
    for one in regions:
        if one["parent"] >= 0 and one["kind"] != "event":
            own[one["parent"]] -= one["cycles"]
    nodes = [
        node(one["name"], {
            "cycles": cycles, "normalized_cycles": cycles / found["recorded_warps"],
            **({"nanoseconds (ns)": cycles / CLOCK_GHZ} if cycles else {}),
            "device_id": "0", "device_type": "CUDA",
        })
        for one, cycles in zip(regions, own, strict=True)
    ]  # fmt: skip
    outermost: list[Any] = []
    for one, made in zip(regions, nodes, strict=True):
        is_inside = one["parent"] >= 0 and one["kind"] != "event"
        (nodes[one["parent"]]["children"] if is_inside else outermost).append(made)
    return outermost


def summary() -> dict[str, Any]:
    return {
        "format": 1, "version": "0.1.0", "session": "in_kernel", "context": "shadow",
        "backends": ["cupti", "instrumentation"], "mode": "ops+loops", "phase": 0, "phases": [0],
        "command": ["python", "train.py"], "host": "node-7", "pid": 4242, "python": "3.12.3",
        "triton": "3.6.0", "start_time_ns": 1_763_000_000_000_000_000,
        "end_time_ns": 1_763_000_001_071_300_000, "losses": {}, "warnings": [],
        "in_kernel": [matmul(["step", "forward"], 2), matmul(["step", "backward"], 1), softmax()],
    }  # fmt: skip


def in_kernel() -> Any:
    said = summary()
    forward, backward = kernel(MATMUL, 284_500, 2), kernel(MATMUL, 141_900)
    forward["children"] = region_nodes(said["in_kernel"][0])
    backward["children"] = region_nodes(said["in_kernel"][1])
    root = node(
        "ROOT",
        {"count": 0, "time (ns)": 0, "cycles": 0, "normalized_cycles": 0.0},
        node(
            "step",
            None,
            node("forward", None, forward, kernel(SOFTMAX, 73_800, 3)),
            node("backward", None, backward),
        ),
    )
    regions = "ksssssss"
    kinds = "rss" + regions + "k" + "s" + regions
    root["proton"] = said | {"data": "tree", "kinds": kinds}
    return [root, DEVICES]


def in_kernel_trace() -> Any:
    said = deepcopy(summary())
    said["in_kernel"] = said["in_kernel"][1:2]
    stack = ["ROOT", "step", "backward", MATMUL]
    events: list[dict[str, Any]] = [name_event("process_name", 0, name="Trace")]
    names = {0: "CPU Thread 0", 200007: "GPU Stream 7", 300003: "GPU SM 3", 300009: "GPU SM 9"}
    events += [name_event("thread_name", tid, name=name) for tid, name in names.items()]

    def add(cat: str, below: list[str], row: tuple[Any, Any], at: float, took: float) -> None:
        event = {"ph": "X", "cat": cat, "name": [*stack, *below][-1], "pid": row[0], "tid": row[1]}
        args: dict[str, Any] = {"call_stack": [*stack, *below]}
        if below:
            args["Frequency (MHz)"] = 1596.0
        if below == ["k loop"]:
            args["source"] = "sampled/matmul.py:51"
        events.append(event | {"ts": at, "dur": took, "args": args})

    add("kernel", [], (0, 200007), 10.0, 141.9)
    for cta, sm in enumerate((3, 9)):
        add("cta", [f"CTA {cta}"], (0, 300000 + sm), 11.0 + cta, 138.0)
        for warp in range(2):
            process = f"{MATMUL} Core{sm} CTA{cta}"
            row, line = ((process, f"warp {warp} (line {number})") for number in (0, 1))
            at = 11.5 + cta + warp / 4
            add(MATMUL, ["k loop"], row, at, 120.0)
            for tile in range(4):
                add(MATMUL, ["k loop", "dot"], row, at + 1 + 25 * tile, 12.5)
            add(MATMUL, ["k loop", "copy b"], line, at + 2, 40.0)
            add(MATMUL, ["epilogue"], row, at + 121, 9.0)
    return {
        "displayTimeUnit": "ns", "baseTimeNanoseconds": 1_763_000_000_000_000_000,
        "traceEvents": events, "proton": said | {"data": "trace", "devices": DEVICES},
    }  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    recordings = {
        "in_kernel.hatchet": compact(in_kernel()),
        "in_kernel.hatchet_msgpack": msgpack.packb(in_kernel()),
        "in_kernel.chrome_trace": compact(in_kernel_trace()),
    }
    for name, content in recordings.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
