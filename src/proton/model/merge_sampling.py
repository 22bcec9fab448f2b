"""The sampling of several parts of one recording as one: samples summed, lines and reasons once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from proton.model.sampling import (
    FOUND,
    NO_CUBIN,
    NO_LINE,
    NO_LINE_TABLE,
    Instruction,
    LineSamples,
    SampledKernel,
    Sampling,
    SourceFile,
    SourceLine,
)
from proton.model.schema import identity, merge_records

_KNOWLEDGE = (FOUND, NO_LINE_TABLE, NO_CUBIN)  # what is known best of the lines of a kernel


def merge_sampling(parts: Sequence[Sampling]) -> Sampling | None:
    """One sampling of all `parts`, in their order; None where there are none.

    The fields say how numbers are merged: samples are summed, how they were taken is what the first
    part says that says it.
    """
    if len(parts) <= 1:
        return next(iter(parts), None)
    reasons = list(dict.fromkeys(name for part in parts for name in part.reasons))
    lines = _Lines()
    kernels: dict[tuple[object, ...], list[list[SampledKernel]]] = {}
    files: dict[str, SourceFile] = {}
    for part in parts:
        here = lines.take(part)
        numbers = [reasons.index(name) for name in part.reasons]
        for kernel in part.kernels:
            variants = kernels.setdefault(identity(kernel), [])
            same = next((known for known in variants if _may_be(known, kernel)), None)
            if same is None:
                variants.append(same := [])
            same.append(_renumbered(kernel, here, numbers))
        files.update(part.files)
    return merge_records(
        parts,
        reasons=tuple(reasons),
        lines=tuple(lines.all),
        kernels=tuple(_merge(same) for variants in kernels.values() for same in variants),
        files=MappingProxyType(files),
    )


class _Lines:
    """Lines of several parts, each once with the stack it was inlined into."""

    def __init__(self) -> None:
        self.all: list[SourceLine] = []
        self._places: dict[SourceLine, int] = {}

    def take(self, part: Sampling) -> dict[int, int]:
        """The lines of `part`: its number of a line -> ours."""
        here = {NO_LINE: NO_LINE}
        for number in range(len(part.lines)):
            for at in reversed([at for at in part.stack(number) if at not in here]):
                line = part.lines[at]
                moved = line._replace(parent=here[line.parent])
                place = self._places.setdefault(moved, len(self.all))
                if place == len(self.all):
                    self.all.append(moved)
                here[at] = place
        return here


_Seen = TypeVar("_Seen", Instruction, LineSamples)


def _renumbered(
    kernel: SampledKernel, lines: Mapping[int, int], numbers: Sequence[int]
) -> SampledKernel:
    """`kernel` with the numbers that lines and reasons have in the sum."""

    def moved(seen: _Seen) -> _Seen:
        reasons = {numbers[number]: count for number, count in seen.reasons.items()}
        return seen._replace(line=lines[seen.line], reasons=reasons)

    return replace(
        kernel,
        instructions=tuple(map(moved, kernel.instructions)),
        line_samples=tuple(map(moved, kernel.line_samples)),
    )


def _may_be(known: Sequence[SampledKernel], kernel: SampledKernel) -> bool:
    """Whether `kernel`, of the same symbol and device, has the same code as far as known."""
    module = next((one.module for one in known if one.module), "")
    if module and kernel.module:
        return module == kernel.module
    codes = {i.offset: i.code for one in known for i in one.instructions if i.code}
    return all(not i.code or codes.get(i.offset, i.code) == i.code for i in kernel.instructions)


def _merge(parts: Sequence[SampledKernel]) -> SampledKernel:
    instructions: dict[int, list[Instruction]] = {}
    line_samples: dict[int, list[LineSamples]] = {}
    for part in parts:
        for one in part.instructions:
            instructions.setdefault(one.offset, []).append(one)
        for total in part.line_samples:
            line_samples.setdefault(total.line, []).append(total)
    return merge_records(
        parts,
        lines=min((part.lines for part in parts), key=_rank),
        instructions=tuple(_one_instruction(same) for _, same in sorted(instructions.items())),
        line_samples=tuple(_summed(same) for _, same in sorted(line_samples.items())),
    )


def _one_instruction(same: Sequence[Instruction]) -> Instruction:
    """All of `same` as one, with the last code and line that are known."""
    code = next((one.code for one in reversed(same) if one.code), b"")
    line = next((one.line for one in reversed(same) if one.line != NO_LINE), NO_LINE)
    return _summed(same)._replace(code=code, line=line)


def _summed(same: Sequence[_Seen]) -> _Seen:
    reasons = Counter[int]()
    for one in same:
        reasons.update(one.reasons)
    return same[0]._replace(
        samples=sum(one.samples for one in same),
        latency=sum(one.latency for one in same),
        reasons=MappingProxyType(dict(sorted(reasons.items()))),
    )


def _rank(status: str) -> int:
    return _KNOWLEDGE.index(status) if status in _KNOWLEDGE else len(_KNOWLEDGE)
