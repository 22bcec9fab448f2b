"""The time of compiled kernels, and its shares of the lines that they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proton.analysis.origins.join_rows import FoundOrigins, origins_of_rows
from proton.model.metric import TIME_NS
from proton.model.origins import OriginLine, join_lines
from proton.model.profile import TreeProfile


@dataclass(frozen=True, slots=True)
class KernelTime:
    """The time of a kernel in all contexts that have the same origins."""

    kernel: str
    time_ns: float
    found: FoundOrigins

    @property
    def is_divided(self) -> bool:
        """Whether the time is shared out over several lines."""
        return len(self.found.lines) > 1

    @property
    def share_ns(self) -> float:
        """What each line gets: nobody measures which of them takes how long."""
        return self.time_ns / len(self.found.lines)


@dataclass(frozen=True, slots=True)
class LineTime:
    """A line with its shares of the kernels that were made of it."""

    line: OriginLine
    time_ns: float
    is_divided: bool  # whether one of the shares is not the whole kernel
    kernels: int


def kernel_times(profile: TreeProfile) -> list[KernelTime]:
    """Kernels that have origins, those with the most time first."""
    times = profile.tree.own_numbers(TIME_NS)
    sums: dict[tuple[str, tuple[tuple[str, int, str], ...]], KernelTime] = {}
    for row, found in origins_of_rows(profile).items():
        name, time_ns = profile.tree.frames[row].name, times[row] or 0
        key = name, tuple((line.file, line.line, line.function) for line in found.lines)
        known = sums.get(key)
        sums[key] = (
            KernelTime(name, time_ns, found)
            if known is None
            else replace(known, time_ns=known.time_ns + time_ns)
        )
    return sorted(sums.values(), key=lambda each: -each.time_ns)


def line_times(kernels: Sequence[KernelTime]) -> list[LineTime]:
    """Lines with the time of all kernels that come from them, those with the most time first."""
    shares: dict[tuple[str, int], list[tuple[KernelTime, OriginLine]]] = defaultdict(list)
    for kernel in kernels:
        for line in kernel.found.lines:
            shares[line.file, line.line].append((kernel, line))
    found = [
        LineTime(
            join_lines(line for _, line in each)[0],
            sum(kernel.share_ns for kernel, _ in each),
            any(kernel.is_divided for kernel, _ in each),
            len({kernel.kernel for kernel, _ in each}),
        )
        for each in shares.values()
    ]
    return sorted(found, key=lambda each: (-each.time_ns, each.line.file, each.line.line))
