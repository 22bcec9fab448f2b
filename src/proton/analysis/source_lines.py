"""Samples by source line, for each sampled file and for the lines below each kernel.

A sample belongs to the line of its instruction and to every line that it was inlined into, so the
user's line counts what library functions did for it. A line counts a sample once. Lines are those
at which statements begin, where their text is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proton.analysis.reasons import NO_REASON, reason_of_metric
from proton.analysis.statement_lines import Begin, as_recorded
from proton.model.frame import Frame, FrameKind
from proton.model.metric import Metrics
from proton.model.profile import Profile, TreeProfile
from proton.model.sampling import (
    NUM_LATENCY,
    NUM_SAMPLES,
    Instruction,
    LineSamples,
    SampledKernel,
    Sampling,
)
from proton.model.tree import Tree


@dataclass(slots=True)
class Samples:
    """How many samples were taken somewhere, why warps waited, and in which kernels."""

    count: int = 0
    latency: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    kernels: Counter[str] = field(default_factory=Counter)

    def add(self, seen: Seen) -> None:
        """Count what was `seen`."""
        self.count += seen.samples
        self.latency += seen.latency
        for reason, count in seen.reasons.items():
            self.reasons[reason] += count
        self.kernels[seen.kernel] += seen.samples

    def top_reasons(self, most: int) -> list[tuple[str, float]]:
        """The `most` frequent reasons with their shares of all samples, largest first."""
        ranked = sorted(self.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        whole = max(self.count, 1)
        return [(name, count / whole) for name, count in ranked[:most] if count]


class Seen(NamedTuple):
    """Samples of one kernel on one stack of lines, the innermost line first."""

    kernel: str
    stack: tuple[tuple[str, int], ...]  # (file, line)
    samples: int
    latency: int
    reasons: Mapping[str, int]


def is_sampled(profile: Profile) -> bool:
    """Whether instructions were sampled, by us or by another tool."""
    return profile.sampling is not None or (
        isinstance(profile, TreeProfile) and any(NUM_SAMPLES in own for own in profile.tree.own)
    )


def samples_by_file(profile: Profile, begin: Begin = as_recorded) -> dict[str, dict[int, Samples]]:
    """File -> line -> what was sampled there and in what was inlined there."""
    files: dict[str, dict[int, Samples]] = {}
    for seen in samples_of(profile, begin):
        for file, line in dict.fromkeys(seen.stack):
            files.setdefault(file, {}).setdefault(line, Samples()).add(seen)
    return files


def samples_by_user_line(
    profile: Profile, begin: Begin = as_recorded
) -> dict[tuple[str, int], Samples]:
    """File and line -> what was sampled there; each sample once, at the kernel's own line.

    What was inlined counts at the line that it was inlined into, as people wrote that one.
    """
    found: dict[tuple[str, int], Samples] = {}
    for seen in samples_of(profile, begin):
        if seen.stack:
            found.setdefault(seen.stack[-1], Samples()).add(seen)
    return found


def samples_of_file(profile: Profile, file: str) -> Samples:
    """All that was sampled on lines of `file`, each sample once."""
    total = Samples()
    for seen in samples_of(profile):
        if any(place[0] == file for place in seen.stack):
            total.add(seen)
    return total


def samples_of(profile: Profile, begin: Begin = as_recorded) -> Iterator[Seen]:
    """Everything that was sampled, with the lines it belongs to.

    The contexts of a tree have it all; a trace has it by kernel. `begin` tells the line of a
    statement from one inside it.
    """
    has_lines = isinstance(profile, TreeProfile) and any(
        frame.kind is FrameKind.SAMPLE for frame in profile.tree.frames
    )
    found: Iterator[Seen] = iter(())
    if isinstance(profile, TreeProfile) and has_lines:
        found = _seen_in_tree(profile.tree)
    elif profile.sampling is not None:
        found = _seen_in_kernels(profile.sampling)
    for seen in found:
        reasons = with_rest(seen.reasons, seen.samples)
        yield seen._replace(stack=tuple(map(begin, seen.stack)), reasons=reasons)


def with_rest(reasons: Mapping[str, int], samples: int) -> dict[str, int]:
    """The reasons of so many samples, with those that have none under a name of their own."""
    rest = samples - sum(reasons.values())
    return {**reasons, NO_REASON: rest} if rest > 0 else dict(reasons)


def _seen_in_tree(tree: Tree) -> Iterator[Seen]:
    kernels: list[str] = []  # of every row, the kernel that it is or lies in
    for frame, parent in zip(tree.frames, tree.parents, strict=True):
        is_line = frame.kind is FrameKind.SAMPLE and parent >= 0
        kernels.append(kernels[parent] if is_line else frame.name)
    for row, own in enumerate(tree.own):
        if tree.frames[row].kind is FrameKind.SAMPLE and NUM_SAMPLES in own:
            yield Seen(
                kernels[row],
                _stack(tree, row),
                _whole(own, NUM_SAMPLES),
                _whole(own, NUM_LATENCY),
                reasons_of(own),
            )


def _stack(tree: Tree, row: int) -> tuple[tuple[str, int], ...]:
    stack = []
    while row >= 0 and (frame := tree.frames[row]).kind is FrameKind.SAMPLE:
        stack.append(place_of(frame))
        row = tree.parents[row]
    return tuple(stack)


def place_of(frame: Frame) -> tuple[str, int]:
    """File and line of a sampled line; a name that spells none out is a file with line 0."""
    if frame.file is None or frame.line is None:
        return frame.name, 0
    return frame.file, frame.line


def reasons_of(own: Metrics) -> dict[str, int]:
    """Reason -> samples, of the metrics of one context; those that are zero are left out."""
    found: dict[str, int] = {}
    for metric, value in own.items():
        reason = reason_of_metric(metric)
        if reason is not None and isinstance(value, (int, float)) and value:
            found[reason] = found.get(reason, 0) + int(value)
    return found


def samples_in(own: Metrics) -> Samples:
    """What the metrics of one context say."""
    samples = Samples(_whole(own, NUM_SAMPLES), _whole(own, NUM_LATENCY))
    samples.reasons.update(with_rest(reasons_of(own), samples.count))
    return samples


def _whole(own: Metrics, metric: str) -> int:
    value = own.get(metric, 0)
    return int(value) if isinstance(value, (int, float)) else 0


def _seen_in_kernels(sampling: Sampling) -> Iterator[Seen]:
    for kernel in sampling.kernels:
        for one in sampled_lines(kernel):
            places = [sampling.lines[at] for at in sampling.stack(one.line)]
            yield Seen(
                kernel.symbol,
                tuple((line.file, line.line) for line in places),
                one.samples,
                one.latency,
                name_reasons(sampling.reasons, one.reasons),
            )


def sampled_lines(kernel: SampledKernel) -> Sequence[LineSamples | Instruction]:
    """What a kernel tells of its lines: every line, else the instructions that have samples."""
    return kernel.line_samples or [one for one in kernel.instructions if one.samples]


def name_reasons(names: Sequence[str], counts: Mapping[int, int]) -> dict[str, int]:
    """Counts by the number of a reason as counts by its name."""
    return {names[number]: count for number, count in counts.items() if count}


def symbol_of(tree: Tree, row: int) -> str:
    """The symbol of the kernel of a row: what the recording says, else its name."""
    detail = tree.details.get(row)
    symbol = detail.attributes.get("symbol") if detail is not None else None
    return symbol if isinstance(symbol, str) else tree.frames[row].name


def other_names(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Symbol -> the other names that its kernel has in the tree.

    A context whose symbol is not said is that of the kernel whose source lines it has.
    """
    sampling = profile.sampling
    if sampling is None or not isinstance(profile, TreeProfile):
        return {}
    tree = profile.tree
    symbols = {kernel.symbol for kernel in sampling.kernels}
    by_place = _symbols_by_place(sampling)
    found: dict[str, dict[str, None]] = {}
    for row, frame in enumerate(tree.frames):
        if frame.kind is FrameKind.KERNEL and (symbol := symbol_of(tree, row)) != frame.name:
            found.setdefault(symbol, {})[frame.name] = None
        above = tree.parents[row]
        if frame.kind is not FrameKind.SAMPLE or above <= 0:
            continue
        name = tree.frames[above].name
        if tree.frames[above].kind is FrameKind.KERNEL and name not in symbols:
            for symbol in by_place.get(place_of(frame), ()):
                found.setdefault(symbol, {})[name] = None
    return {symbol: tuple(names) for symbol, names in found.items()}


def _symbols_by_place(sampling: Sampling) -> dict[tuple[str, int], set[str]]:
    """The user's lines of all kernels -> the kernels that have them."""
    symbols: dict[tuple[str, int], set[str]] = {}
    for kernel in sampling.kernels:
        for one in kernel.instructions:
            stack = list(sampling.stack(one.line))
            if stack:
                line = sampling.lines[stack[-1]]
                symbols.setdefault((line.file, line.line), set()).add(kernel.symbol)
    return symbols
