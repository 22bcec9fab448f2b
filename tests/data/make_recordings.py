"""Make the recordings that no profiler recorded: `python make_recordings.py [FOLDER]`.

The numbers are invented, plausible for an H200, and the same at every run. Nothing of Proton is
used, so that reader and writer are tested against files they did not make.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgpack

H200 = {"arch": "90", "bus_width": 6016, "clock_rate": 1980000, "memory_clock_rate": 3201000}
DEVICES = {"CUDA": {"0": H200 | {"num_sms": 132}}}
INTERPRETER = {"CPU": {"0": {"arch": "interpreter", "num_sms": 2, "name": "Triton interpreter"}}}


def node(name: str, metrics: dict[str, Any] | None = None, *children: dict[str, Any]) -> Any:
    frame = {"name": name, "type": "function"}
    return {"frame": frame, "metrics": metrics or {}, "children": list(children)}


def kernel(name: str, time_ns: int, count: int = 1, **metrics: Any) -> dict[str, Any]:
    labels = {"device_id": "0", "device_type": "CUDA"}
    return dict(node(name, {"time (ns)": time_ns, "count": count} | labels | metrics))


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pretty(value: Any) -> bytes:
    """As Triton 3.9 writes: indented, after an empty line."""
    return b"\n" + json.dumps(value, indent=4, ensure_ascii=False).encode() + b"\n"


def gpt() -> Any:
    """A model step as Proton writes it: scopes, states, renamed kernels, losses, autotuning."""
    blocks = [
        node(
            f"block_{i}",
            None,
            node(
                "attention", None, kernel("flash_fwd", 41_000 + i, flops16=3.4e9, bytes=6_291_456)
            ),
            node(
                "mlp",
                None,
                kernel("matmul_1024x3072x768", 52_300, 2, flops16=9.6e9, bytes=11_534_336),
            ),
            node("norm", None, node("state: fp32", None, kernel("layer_norm", 6_120))),
        )
        for i in range(6)
    ]
    root = node("ROOT", {"count": 0, "time (ns)": 0}, node("forward", None, *blocks))
    root["children"].append(
        node("optimizer", {"cpu_time (ns)": 812_004, "lr": 0.0003}, kernel("adamw", 90_112, 148))
    )
    root["proton"] = {
        "format": 1, "version": "0.1.0", "session": "gpt", "context": "shadow", "data": "tree",
        "backends": ["cupti"], "mode": "", "phase": 0, "phases": [0],
        "command": ["python", "train.py", "--steps", "1"], "host": "node-7", "pid": 4242,
        "python": "3.12.3", "triton": "3.6.0",
        "start_time_ns": 1_763_000_000_000_000_000, "end_time_ns": 1_763_000_001_071_300_000,
        "losses": {"dropped_records": 3}, "warnings": ["3 records were dropped by the driver"],
        "autotune": [{
            "kernel": "matmul", "key": [1024, 3072, 768], "path": ["forward", "block_0", "mlp"],
            "configs": [
                {"config": "BLOCK: 64, num_warps: 4", "kwargs": {"BLOCK": 64}, "num_warps": 4,
                 "num_stages": 3, "time_ns": 61_200},
                {"config": "BLOCK: 128, num_warps: 8", "kwargs": {"BLOCK": 128}, "num_warps": 8,
                 "num_stages": 3, "time_ns": 52_300},
                {"config": "BLOCK: 256, num_warps: 8", "kwargs": {"BLOCK": 256}, "num_warps": 8,
                 "num_stages": 4, "time_ns": None, "error": "out of shared memory"},
            ],
            "winner": 1, "interpreted": False,
        }],
        "metric_kinds": {"cpu_time (ns)": "exclusive", "lr": "property"},
        "kinds": "rs" + "sskskstk" * 6 + "sk",
    }  # fmt: skip
    return [root, DEVICES]


def values() -> Any:
    """Every kind of metric value and odd names."""
    root = node("ROOT", {"count": 0, "time (ns)": 0, "x": 0})
    root["children"] = [
        node("lists", {"histogram": [1, 2, 3], "shares": [0.25, 0.75], "empty": []}),
        node("integers", {"large": 2**63 - 1, "unsigned": 2**64 - 1, "small": -(2**63)}),
        node("floats", {"tiny": 5e-324, "huge": 1.7976931348623157e308, "third": 1 / 3}),
        node("größe → 模型 🚀"),
        node('quotes " and \\ and \t and \x7f and \x00'),
        node(""),
        node("same", {"x": 1}), node("same", {"x": 2}),
        node("a:b@c", {"label (no unit)": 1.5}),
    ]  # fmt: skip
    root["extra"] = {"unknown": ["keys", "are", "ignored"]}
    return [root, {}]


def samples() -> Any:
    """PC sampling with source lines below the kernel, as Triton 3.9 writes it."""
    line = {
        "num_samples": 40,
        "num_stalled_samples": 31,
        "stalled_long_scoreboard": 22,
        "stalled_wait": 9,
    }
    body = kernel("softmax", 18_432, 4, num_samples=52, num_stalled_samples=40, stalled_selected=12)
    body["children"] = [
        node("kernels/softmax.py:21@softmax", line),
        node(
            "kernels/softmax.py:25@softmax",
            {"num_samples": 12, "num_stalled_samples": 9, "stalled_not_Selected": 9},
        ),
    ]
    return [
        node("ROOT", {"count": 0, "time (ns)": 0, "num_samples": 0}, node("step", None, body)),
        DEVICES,
    ]


def graph() -> Any:
    """A graph replay with metric kernels, as Triton 3.9 writes it."""
    captured = node(
        "<captured_at>", None, node("layer", None, kernel("matmul", 8_000, 10, flops=2.1e10))
    )
    metadata = node(
        "__proton_launch_metadata", None, node("matmul", None, kernel("<metric>", 1_100, 10))
    )
    return [
        node("ROOT", {"count": 0, "time (ns)": 0}, node("replay", None, captured, metadata)),
        DEVICES,
    ]


def interpreter() -> Any:
    """Interpreted kernels: a CPU device, counted metrics."""
    counted = {
        "programs": 16,
        "counted_flops": 524288,
        "counted_bytes": 49152,
        "lanes": 16384,
        "masked_lanes": 128,
        "load_bytes[a]": 16384,
        "store_bytes[c]": 16384,
    }
    work = node(
        "matmul_64x64x64",
        {"time (ns)": 91_000_000, "count": 1, "device_id": "0", "device_type": "CPU"} | counted,
    )
    root = node("ROOT", {"count": 0, "time (ns)": 0}, node("warm", None, work))
    root["proton"] = {"format": 1, "backends": ["interpreter"], "kinds": "rsk"}
    return [root, INTERPRETER]


def python_context() -> Any:
    """Python frames of a recursion, compact, with kinds."""
    top: dict[str, Any] = node("ROOT", {"count": 0, "time (ns)": 0})
    inner = top
    for line in (3, 9, 9, 9):
        inner["children"].append(node(f"/home/user/model.py:{line}@walk"))
        inner = inner["children"][0]
    inner["children"].append(kernel("add", 1_500))
    top["proton"] = {"format": 1, "context": "python", "kinds": "rppppk"}
    return [top, DEVICES]


def deep(levels: int) -> bytes:
    """A recursion `levels` deep, with a kernel at the bottom, put together as text."""
    head = '{"frame":{"name":"f","type":"function"},"metrics":{},"children":['
    root = head.replace('"f"', '"ROOT"')
    text = "[" + root + head * levels + compact(kernel("leaf", 7)).decode() + "]}" * levels
    return (text + "]}," + compact(DEVICES).decode() + "]").encode()


def deep_msgpack(levels: int) -> bytes:
    packer = msgpack.Packer(autoreset=False)
    packer.pack_array_header(2)
    for level in range(levels):
        packer.pack_map_header(3)
        packer.pack("frame")
        packer.pack({"name": "f" if level else "ROOT", "type": "function"})
        packer.pack("metrics")
        packer.pack({})
        packer.pack("children")
        packer.pack_array_header(1)
    packer.pack(kernel("leaf", 7))
    packer.pack(DEVICES)
    return bytes(packer.bytes())


def part(phase: int) -> bytes:
    step = node(
        "step", {"loss": 1.0 / (phase + 1), "tokens": 1024}, kernel("matmul", 1000 + phase, 2)
    )
    root = node("ROOT", {"count": 0, "time (ns)": 0}, step)
    if phase == 3:
        root["children"].append(node("checkpoint", {"tokens": 1}))
    kinds = "rsks"[: 3 + (phase == 3)]
    root["proton"] = {
        "format": 1,
        "session": "train",
        "phase": phase,
        "kinds": kinds,
        "losses": {"late_records": 1},
        "metric_kinds": {"loss": "property"},
    }
    return compact([root, DEVICES])


def name_event(event: str, tid: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": event, "pid": 0, "tid": tid, "args": args}


def activity_trace() -> Any:
    """GPU activity as Triton 3.9 writes it: host, graph and stream lanes, flows, metrics."""
    events: list[dict[str, Any]] = [
        name_event("process_name", 0, name="Trace"),
        name_event("process_sort_index", 0, sort_index=0),
    ]
    for index, (tid, name) in enumerate(
        [(0, "CPU Thread 0"), (100007, "Graph: Stream 7"), (200007, "GPU Stream 7")]
    ):
        events += [
            name_event("thread_name", tid, name=name),
            name_event("thread_sort_index", tid, sort_index=index),
        ]

    def span(cat: str, name: str, tid: int, ts: float, dur: float, **args: Any) -> None:
        events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": dur}
            | ({"args": args} if args else {})
        )

    def flow(ph: str, tid: int, ts: float, number: int) -> None:
        events.append(
            {
                "ph": ph,
                "cat": "flow",
                "name": "launch->kernel",
                "id": number,
                "pid": 0,
                "tid": tid,
                "ts": ts,
                "bp": "e",
            }
        )

    span("scope", "step", 0, 0.0, 90.5, call_stack=["ROOT", "step"], scope_id=1)
    span(
        "metric",
        "load: <elements, 1024>, <ratio, 0.500000>",
        0,
        4.25,
        20.0,
        call_stack=["ROOT", "step", "load"],
        scope_id=2,
        metrics={"elements": "1024", "ratio": "0.500000"},
    )
    span(
        "kernel",
        "copy",
        200007,
        31.007,
        4.128,
        call_stack=["ROOT", "step", "load", "copy"],
        metrics={"bytes": 4096},
    )
    flow("s", 0, 5.0, 2)
    flow("f", 200007, 31.007, 2)
    span("scope", "replay", 0, 40.0, 12.0, call_stack=["ROOT", "step", "replay"], scope_id=3)
    span("scope", "captured", 100007, 60.0, 9.5)
    span(
        "kernel",
        "matmul",
        200007,
        60.0,
        9.5,
        call_stack=["ROOT", "step", "replay", "<captured_at>", "captured", "matmul"],
    )
    flow("s", 0, 41.0, 3)
    flow("f", 200007, 60.0, 3)
    return {
        "displayTimeUnit": "us",
        "baseTimeNanoseconds": 1_763_000_000_000_000_000,
        "traceEvents": events,
    }


def foreign_trace() -> Any:
    """A list of events with absolute times, as other profilers write them."""
    base = 1_763_000_000_000_000
    where = {"pid": 311, "tid": 312}
    stream = {"pid": 311, "tid": 7}
    return [
        {"ph": "M", "name": "process_name", "args": {"name": "python"}} | where,
        {"ph": "M", "name": "thread_name", "args": {"name": "stream 7"}} | stream,
        {"ph": "B", "name": "main", "ts": base} | where,
        {"ph": "B", "name": "load", "cat": "io", "ts": base + 10.5} | where,
        {"ph": "E", "ts": base + 20.25} | where,
        {"ph": "X", "name": "mm", "cat": "cpu_op", "ts": base + 30, "dur": 5.125} | where,
        {"ph": "X", "name": "sgemm", "cat": "kernel", "ts": base + 40, "dur": 2.0} | stream,
        {"ph": "b", "name": "fetch", "cat": "net", "id": "0x1", "ts": base + 1} | where,
        {"ph": "e", "name": "fetch", "cat": "net", "id": "0x1", "ts": base + 9} | where,
        {"ph": "i", "name": "mark", "s": "g", "ts": base + 50} | where,
        {"ph": "C", "name": "memory", "ts": base + 51, "args": {"bytes": 10}} | where,
        {"ph": "E", "ts": base + 60} | where,
        {"ph": "E", "ts": base + 61} | where,
    ]  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    recordings = {
        "gpt.hatchet": compact(gpt()),
        "gpt.hatchet_msgpack": msgpack.packb(gpt()),
        "values.hatchet": compact(values()),
        "values.hatchet_msgpack": msgpack.packb(values()),
        "samples.hatchet": pretty(samples()),
        "graph.hatchet": pretty(graph()),
        "graph.hatchet_msgpack": msgpack.packb(graph()),
        "interpreter.hatchet": compact(interpreter()),
        "python.hatchet": compact(python_context()),
        "root_only.hatchet": compact([node("ROOT")]),
        "deep.hatchet": deep(1200),
        "deep.hatchet_msgpack": deep_msgpack(1200),
        "train.part_0.hatchet": part(0),
        "train.part_1.hatchet": part(1),
        "train.part_3.hatchet": part(3),
        "activity.chrome_trace": compact(activity_trace()),
        "foreign_trace.json": pretty(foreign_trace()),
        "empty.chrome_trace": compact({"displayTimeUnit": "us", "traceEvents": []}),
    }
    for name, content in recordings.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
