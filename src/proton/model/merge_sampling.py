"""The sampling of several parts of one recording as one: samples summed, lines and reasons once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

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
    kernels: dict[tuple[object, ...], list[_Kernel]] = {}
    files: dict[str, SourceFile] = {}
    for part in parts:
        here = lines.take(part)
        numbers = [reasons.index(name) for name in part.reasons]
        for kernel in part.kernels:
            alike = kernels.setdefault(identity(kernel), [])
            same = next((known for known in alike if known.may_be(kernel)), None)
            if same is None:
                same = _Kernel(kernel)
                alike.append(same)
            same.add(kernel, here, numbers)
        files.update(part.files)
    return merge_records(
        parts,
        reasons=tuple(reasons),
        lines=tuple(lines.all),
        kernels=tuple(kernel.merged() for alike in kernels.values() for kernel in alike),
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


@dataclass(slots=True)
class _Counts:
    samples: int = 0
    latency: int = 0
    reasons: Counter[int] = field(default_factory=Counter)

    def add(self, seen: Instruction | LineSamples, numbers: Sequence[int]) -> None:
        self.samples += seen.samples
        self.latency += seen.latency
        for number, count in seen.reasons.items():
            self.reasons[numbers[number]] += count


class _Kernel:
    """A kernel while the parts that saw it are added up."""

    def __init__(self, first: SampledKernel) -> None:
        self._first = first
        self._module = first.module
        self._samples = self._other = 0
        self._contexts: int | None = None
        self._statuses: list[str] = []
        self._codes: dict[int, bytes] = {}
        self._places: dict[int, int] = {}
        self._instructions: dict[int, _Counts] = {}
        self._totals: dict[int, _Counts] = {}

    def may_be(self, kernel: SampledKernel) -> bool:
        """Whether `kernel`, of the same symbol and device, has the same code as far as known."""
        if self._module and kernel.module:
            return self._module == kernel.module
        return all(
            not one.code or not (known := self._codes.get(one.offset)) or known == one.code
            for one in kernel.instructions
        )

    def add(self, kernel: SampledKernel, lines: Mapping[int, int], numbers: Sequence[int]) -> None:
        self._module = self._module or kernel.module
        self._samples += kernel.samples
        self._other += kernel.other_samples
        if kernel.contexts is not None:
            self._contexts = max(self._contexts or 0, kernel.contexts)
        self._statuses.append(kernel.lines)
        for one in kernel.instructions:
            if one.code or one.offset not in self._codes:
                self._codes[one.offset] = one.code
            if one.line != NO_LINE or one.offset not in self._places:
                self._places[one.offset] = lines[one.line]
            self._instructions.setdefault(one.offset, _Counts()).add(one, numbers)
        for total in kernel.line_samples:
            self._totals.setdefault(lines[total.line], _Counts()).add(total, numbers)

    def merged(self) -> SampledKernel:
        """The kernel with all that was added."""
        return SampledKernel(
            symbol=self._first.symbol,
            device_id=self._first.device_id,
            arch=self._first.arch,
            module=self._module,
            samples=self._samples,
            contexts=self._contexts,
            lines=min(self._statuses, key=_rank),
            instructions=tuple(
                Instruction(
                    offset,
                    self._codes[offset],
                    self._places[offset],
                    counts.samples,
                    counts.latency,
                    MappingProxyType(dict(sorted(counts.reasons.items()))),
                )
                for offset, counts in sorted(self._instructions.items())
            ),
            other_samples=self._other,
            line_samples=tuple(
                LineSamples(
                    line,
                    counts.samples,
                    counts.latency,
                    MappingProxyType(dict(sorted(counts.reasons.items()))),
                )
                for line, counts in sorted(self._totals.items())
            ),
        )


def _rank(status: str) -> int:
    return _KNOWLEDGE.index(status) if status in _KNOWLEDGE else len(_KNOWLEDGE)
