"""A profile with samples, read from its file: what stands where, and whether it adds up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Line = tuple[str, ...]  # names of line nodes, the user's first
UNTIMED = "<sampled without a timed launch>"


class Kernel:
    """All rows of one kernel together."""

    def __init__(self) -> None:
        self.rows = 0
        self.time_ns = 0
        self.runs = 0
        self.paths: list[tuple[str, ...]] = []
        self.reasons: Counter[str] = Counter()  # `stalled_...` without its front
        self.samples = self.stalled = self.latency = 0
        self.lines: Counter[Line] = Counter()  # samples in these lines alone; (): in no line

    def inside(self, *names: str) -> int:
        """Samples in lines whose path has a name with each of these parts, in this order."""
        return sum(count for line, count in self.lines.items() if _has_parts(line, names))

    def hottest(self) -> Line:
        """The outermost line with most samples, with what is below it."""
        outer: Counter[Line] = Counter()
        for line, count in self.lines.items():
            outer[line[:1]] += count
        return outer.most_common(1)[0][0]

    def share(self, reason: str) -> float:
        """The part of all samples that a reason has."""
        return self.reasons[reason] / max(self.samples, 1)


class SampledProfile:
    """The tree and the `sampling` object of a file."""

    def __init__(self, path: Path) -> None:
        root = json.loads(path.read_bytes())[0]
        self.header: dict[str, Any] = root["proton"]
        self.sampling: dict[str, Any] = self.header.get("sampling", {})
        self.kernels: dict[str, Kernel] = {}
        self.samples = 0
        kinds = iter(self.header["kinds"])
        pending: list[tuple[tuple[str, ...], Kernel | None, Line, Any]] = [((), None, (), root)]
        while pending:
            path_, kernel, line, node = pending.pop()
            kind, metrics = next(kinds), node["metrics"]
            if kind == "k":
                kernel, line = self.kernels.setdefault(path_[-1], Kernel()), ()
                kernel.rows += 1
                kernel.paths.append(path_)
                kernel.time_ns += metrics.get("time (ns)", 0)
                kernel.runs += metrics.get("count", 0)
            elif kind == "l":
                line = (*line, path_[-1])
            if kernel is not None:
                self._add(kernel, line, metrics)
            below = [(*path_, child["frame"]["name"]) for child in node["children"]]
            pending += [
                (name, kernel, line, child)
                for name, child in zip(reversed(below), reversed(node["children"]), strict=True)
            ]

    def _add(self, kernel: Kernel, line: Line, metrics: dict[str, Any]) -> None:
        count = metrics.get("num_samples", 0)
        self.samples += count
        kernel.samples += count
        kernel.stalled += metrics.get("num_stalled_samples", 0)
        kernel.latency += metrics.get("num_latency_samples", 0)
        if count:
            kernel.lines[line] += count
        for key, value in metrics.items():
            if key.startswith("stalled_"):
                kernel.reasons[key.removeprefix("stalled_")] += value

    def entries(self, symbol: str) -> list[dict[str, Any]]:
        """What the `sampling` object says of a kernel."""
        return [each for each in self.sampling["kernels"] if each["symbol"] == symbol]

    def check(self) -> SampledProfile:
        """Everything adds up; with the numbers, where not."""
        assert self.samples == self.sampling["samples"], self.describe()
        for name, kernel in self.kernels.items():
            where = f"{name} of {self.describe()}"
            assert sum(kernel.reasons.values()) == kernel.samples, where
            assert kernel.samples - kernel.reasons["selected"] == kernel.stalled, where
            assert kernel.latency <= kernel.samples, where
        return self

    def describe(self) -> str:
        """The whole in a few lines, for messages."""
        keys = ("samples", "dropped", "non_user", "overflows", "left_out", "period_cycles")
        texts = [", ".join(f"{key} {self.sampling.get(key)}" for key in keys)]
        texts.append(f"losses {self.header.get('losses')}, warnings {self.header.get('warnings')}")
        for name, kernel in self.kernels.items():
            found = [
                each.get("lines")
                for each in self.sampling.get("kernels", [])
                if each["symbol"] == name
            ]
            texts.append(
                f"{name}: {kernel.samples} samples, {kernel.rows} rows, {kernel.runs} runs, lines "
                f"{found}: {kernel.lines.most_common(4)}, {kernel.reasons.most_common(4)}"
            )
        return "\n".join(texts)


def _has_parts(line: Line, parts: tuple[str, ...]) -> bool:
    names = iter(line)
    return all(any(part in name for name in names) for part in parts)
