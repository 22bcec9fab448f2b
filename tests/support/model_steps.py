"""A profile of a model's training steps as Proton records them on a GPU, for tests of pages.

Its numbers are invented but hang together: counts, sums, spreads, work and launches fit each other.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STEPS = 20
DEVICE = {
    "arch": "90",
    "name": "NVIDIA H200",
    "num_sms": 132,
    "clock_rate": 1_980_000,
    "memory_clock_rate": 3_201_000,
    "bus_width": 6144,
}
_ADD = (
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE"
    "St5arrayIPcLm3EEEEviT0_T1_"
)
# Kernel -> microseconds of a run, flops16 and bytes of it, registers, shared bytes, grid.
_FORWARD = {
    "layer_norm_fwd": (11.2, 0.0, 25e6, 40, 0, (4096, 1, 1)),
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT": (58.0, 2.9e10, 38e6, 168, 213_056, (132, 1, 1)),
    "flash_fwd": (96.0, 3.9e10, 26e6, 255, 164_864, (64, 12, 1)),
    _ADD: (9.4, 0.0, 37e6, 32, 0, (6144, 1, 1)),
    "gelu_kernel": (23.0, 5e7, 100e6, 48, 0, (8192, 1, 1)),
}
_BACKWARD = {
    "nvjet_tst_256x128_64x4_2x1_v_bz_coopB_NNT": (121.0, 5.8e10, 71e6, 168, 213_056, (132, 1, 1)),
    "flash_bwd": (271.0, 9.8e10, 60e6, 255, 196_608, (64, 12, 1)),
    "layer_norm_bwd": (46.0, 0.0, 50e6, 96, 16_384, (528, 1, 1)),
    "gelu_bwd_kernel": (38.0, 1e8, 150e6, 56, 0, (8192, 1, 1)),
}
_OPTIMIZER = {"adamw_kernel": (880.0, 0.0, 3.4e9, 64, 0, (16384, 1, 1))}

Kernels = Mapping[str, tuple[float, float, float, int, int, tuple[int, int, int]]]


def write_steps(
    path: Path,
    *,
    seed: int = 1,
    layers: int = 12,
    steps: int = STEPS,
    slower: Mapping[str, float] | None = None,
    leave_out: tuple[str, ...] = (),
    more: Kernels | None = None,
) -> Path:
    """Write the profile; kernels in `slower` take that many times as long."""
    maker = _Maker(random.Random(seed), slower or {}, leave_out, steps)
    root = maker.scope("ROOT", {"count": 0, "time (ns)": 0, "flops16": 0, "bytes": 0})
    forward = maker.child(root, "forward")
    for layer in range(layers):
        maker.layer(forward, f"h.{layer}", _FORWARD)
    backward = maker.child(root, "backward")
    for layer in reversed(range(layers)):
        maker.layer(backward, f"h.{layer}", _BACKWARD)
    optimizer = maker.child(root, "optimizer")
    for name, kernel in {**_OPTIMIZER, **(more or {})}.items():
        maker.kernel(optimizer, name, kernel)
    kinds, details = _number(root)
    root["proton"] = {
        "format": 1,
        "version": "0.1.0",
        "session": path.stem,
        "context": "shadow",
        "data": "tree",
        "backends": ["cupti"],
        "command": ["train.py", "--layers", str(layers)],
        "host": "node-3",
        "start_time_ns": 1_763_200_000_000_000_000,
        "end_time_ns": 1_763_200_003_100_000_000,
        "losses": {},
        "kinds": kinds,
        "kernels": details,
        "autotune": [_tuning(maker.chance, at) for at in range(3)],
    }
    path.write_text(json.dumps([root, {"CUDA": {"0": DEVICE}}]))
    return path


class _Maker:
    def __init__(
        self,
        chance: random.Random,
        slower: Mapping[str, float],
        leave_out: tuple[str, ...],
        steps: int,
    ) -> None:
        self._steps = steps
        self.chance = chance
        self._slower = slower
        self._leave_out = leave_out

    def scope(self, name: str, metrics: dict[str, Any]) -> dict[str, Any]:
        return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": []}

    def child(self, above: dict[str, Any], name: str) -> dict[str, Any]:
        above["children"].append(self.scope(name, {}))
        made: dict[str, Any] = above["children"][-1]
        return made

    def layer(self, above: dict[str, Any], name: str, kernels: Kernels) -> None:
        layer = self.child(above, name)
        places = {"flash": self.child(layer, "attn"), "nvjet": self.child(layer, "mlp")}
        for kernel, numbers in kernels.items():
            self.kernel(places.get(kernel.partition("_")[0], layer), kernel, numbers)

    def kernel(self, above: dict[str, Any], name: str, numbers: Any) -> None:
        if name in self._leave_out:
            return
        microseconds, flops, size, registers, shared, grid = numbers
        steps = self._steps
        middle = 1000 * microseconds * self._slower.get(name, 1.0)
        times = sorted(round(middle * self.chance.lognormvariate(0, 0.02)) for _ in range(steps))
        metrics = {"time (ns)": sum(times), "count": steps, "device_id": "0", "device_type": "CUDA"}
        if flops:
            metrics["flops16"] = flops * steps
        metrics["bytes"] = round(size * steps)
        node = self.scope(name, metrics)
        node["detail"] = [
            times[0],
            times[-1],
            times[steps // 2 - 1],
            times[-1],
            {
                "grid": grid,
                "block": (256, 1, 1),
                "registers": registers,
                "static_shared_bytes": 0,
                "dynamic_shared_bytes": shared,
                "occupancy": round(min(1.0, 65_536 / (registers * 2048)), 3),
                "stream": 7,
            },
        ]
        above["children"].append(node)


def _number(root: dict[str, Any]) -> tuple[str, list[Any]]:
    """Kinds and details by number, as files have them; details leave the nodes."""
    kinds: list[str] = []
    details: list[Any] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if (detail := node.pop("detail", None)) is not None:
            details.append([len(kinds), *detail])
        kinds.append("r" if node is root else "k" if "count" in node["metrics"] else "s")
        pending.extend(reversed(node["children"]))
    return "".join(kinds), details


def _tuning(chance: random.Random, at: int) -> dict[str, Any]:
    configs: list[dict[str, Any]] = []
    for block_m, block_n in ((64, 64), (64, 128), (128, 128), (128, 256), (256, 128)):
        for warps in (4, 8):
            shared = 3 * 64 * 2 * (block_m + block_n)
            registers = min(255, 16 + block_m * block_n // (32 * warps))
            config: dict[str, Any] = {
                "config": f"BLOCK_M: {block_m}, BLOCK_N: {block_n}, num_warps: {warps}",
                "kwargs": {"BLOCK_M": block_m, "BLOCK_N": block_n},
                "num_warps": warps,
                "num_stages": 3,
            }
            if shared > 140_000 and warps == 4:
                config |= {"time_ns": None, "error": "out of resource: shared memory"}
            else:
                time_ns = round(60_000 * chance.uniform(0.9, 2.4) * (1 + at))
                spills = max(0, block_m * block_n // (32 * warps) - 239)
                config |= {"time_ns": time_ns, "registers": registers, "spills": spills}
                config["shared_bytes"] = shared
            configs.append(config)
    timed = [index for index, config in enumerate(configs) if config["time_ns"] is not None]
    return {
        "kernel": "matmul_kernel" if at < 2 else "attention_kernel",
        "key": [4096, 4096 >> at, 768],
        "path": ["forward", f"h.{at}"],
        "configs": configs,
        "winner": min(timed, key=lambda index: configs[index]["time_ns"]),
        "interpreted": False,
    }
