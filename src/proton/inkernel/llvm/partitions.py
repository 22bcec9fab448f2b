"""Which warps of a specialised kernel are a partition, as its LLVM text says.

Triton pads partitions to whole groups of four warps and numbers larger ones first, so that one of a
single warp may begin anywhere in a group. Workers read a byte of shared memory of their own, by
which a `switch` sends them into their partition; the other warps store those bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proton.inkernel.llvm.module import Block, Kernel

_MOST_WARPS = 32  # of a CTA
_OFFSET = r"i(?:32|64) (-?\d+|%[-\w.$]+)"
_PLACE = rf"getelementptr [\w ]*\(i8, ptr addrspace\(3\) @[\w.$]+, {_OFFSET}\)|@[\w.$]+|%[-\w.$]+"
_SWITCH = re.compile(r"\s*switch i8 (%[-\w.$]+), label ")
_CASE = re.compile(r'\s*i8 (-?\d+), label %([-\w.$]+|"[^"]*")')
_LOAD = re.compile(rf"load i8, ptr addrspace\(3\) ({_PLACE})")
_STORE = re.compile(rf"\s*store i8 (-?\d+), ptr addrspace\(3\) ({_PLACE}), align")
_STEP = re.compile(rf"getelementptr [\w ]*?i8, ptr addrspace\(3\) ({_PLACE}), {_OFFSET}")
# jumps, waits, and calls of functions, in which nothing is recorded
_CALL = r"(?:tail )?call void @(?:llvm\.nvvm\.(?:barrier|setmaxnreg)|(?!llvm\.))"
_IDLE = re.compile(rf"\s*(?:$|;|br |{_CALL}|%[-\w.$]+ = phi )")


@dataclass(frozen=True, order=True)
class Partition:
    """Warps `start` to `start + warps - 1` of a CTA, which run the same code."""

    start: int
    warps: int


def find_partitions(kernel: Kernel) -> tuple[Partition, ...]:
    """The partitions of a kernel, by their first warp; none where it is not specialised.

    The one that begins at warp 0 is what the kernel runs without workers. Those that only fill up a
    group of four warps are left out. A kernel that specialises several times has those of each, so
    that some may overlap.
    """
    found: set[Partition] = set()
    for block in kernel.blocks:
        if (jump := _read_switch(block)) is not None:
            value, targets = jump
            if (base := _base(kernel, value)) is not None:
                found.update(_partitions(kernel, block.name, base, targets))
    return tuple(sorted(found))


def _read_switch(block: Block) -> tuple[str, dict[str, str]] | None:
    """What a block chooses its next one by, and number -> block; None where it has no switch."""
    for at, line in enumerate(block.lines):
        if found := _SWITCH.match(line):
            cases = (_CASE.match(each) for each in block.lines[at + 1 :])
            return found[1], {case[1]: case[2] for case in cases if case}
    return None


def _base(kernel: Kernel, value: str) -> int | None:
    """Where in shared memory the byte of warp 0 would be, if `value` is that of the own warp."""
    place = _defined(kernel, value, _LOAD)
    offset, indices = 0, 0
    while place is not None:
        if (last := _offset_in(place[1])) is not None:
            return offset + last if indices == 1 else None
        place = _defined(kernel, place[1], _STEP)
        if place is not None:
            step = place[3]
            indices += step.startswith("%")
            offset += 0 if step.startswith("%") else int(step)
    return None


def _defined(kernel: Kernel, value: str, kind: re.Pattern[str]) -> re.Match[str] | None:
    start = f"{value} = "
    for block in kernel.blocks:
        for line in block.lines:
            if (text := line.lstrip()).startswith(start):
                return kind.match(text[len(start) :])
    return None


def _offset_in(place: str) -> int | None:
    """The offset of an address that is known; None for others."""
    if place.startswith("@"):
        return 0
    last = place.rpartition(" ")[2].rstrip(")")
    return int(last) if last.lstrip("-").isdigit() else None


def _partitions(
    kernel: Kernel, hub: str, base: int, targets: Mapping[str, str]
) -> Iterator[Partition]:
    blocks = {block.name: block for block in kernel.blocks}
    working = {state for state, name in targets.items() if _works(blocks, name, hub)}
    lowest: int | None = None
    for states in _rounds(kernel, base):
        if working.isdisjoint(states.values()):
            continue
        lowest = min(states) if lowest is None else min(lowest, *states)
        for start, warps, state in _runs(states):
            if state in working:
                yield Partition(start, warps)
    if lowest:
        yield Partition(0, lowest)


def _works(blocks: Mapping[str, Block], start: str, hub: str) -> bool:
    """Whether warps have something to do between `start` and the `hub`, which they come back to."""
    seen, pending = {hub}, [start]
    while pending:
        if (name := pending.pop()) in seen:
            continue
        seen.add(name)
        if blocks[name].returns_at() is not None:  # they end
            continue
        if not all(map(_IDLE.match, blocks[name].lines)):
            return True
        pending += blocks[name].successors()
    return False


def _rounds(kernel: Kernel, base: int) -> Iterator[dict[int, str]]:
    """Warp -> number, each time that workers are told where to go."""
    for block in kernel.blocks:
        states: dict[int, str] = {}
        for line in block.lines:
            store = _STORE.match(line)
            place = _offset_in(store[2]) if store else None
            if store is None or place is None or not 0 < place - base < _MOST_WARPS:
                continue
            if place - base in states:
                yield states
                states = {}
            states[place - base] = store[1]
        if states:
            yield states


def _runs(states: Mapping[int, str]) -> Iterable[tuple[int, int, str]]:
    """First warp, number of warps and state, of warps in a row that have one state."""
    runs: list[tuple[int, int, str]] = []
    for warp in sorted(states):
        start, warps, state = runs[-1] if runs else (0, 0, "")
        if runs and state == states[warp] and start + warps == warp:
            runs[-1] = (start, warps + 1, state)
        else:
            runs.append((warp, 1, states[warp]))
    return runs


def first_warps(num_warps: int, unit: int, partitions: Sequence[Partition]) -> tuple[int, ...]:
    """The first warp of every `unit` warps; each partition begins with one."""
    ranges = partitions or (Partition(0, num_warps),)
    return tuple(
        sorted(
            {warp for each in ranges for warp in range(each.start, each.start + each.warps, unit)}
        )
    )
