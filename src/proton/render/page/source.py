"""The source part: every sample with its kernel, its stack of lines and its reasons, and the texts.

Regions that kernels recorded have lines too, and the part has those, with samples or without.
The page adds up what it is asked for (a file, a kernel, a line with what was inlined there); what
reasons mean, and which text is still the recorded one, is said here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from proton.analysis.folding.fold_lines import kernels_without_lines
from proton.analysis.measurements import whole_of
from proton.analysis.reasons import explain
from proton.analysis.regions import by_cycles, shares_of
from proton.analysis.source_lines import Samples, Seen, is_sampled, samples_of
from proton.files.source_text import SourceText, TextState, is_program, read_source
from proton.model.profile import TreeProfile
from proton.model.sampling import NUM_SAMPLES
from proton.render.display_names import cut_end, printable
from proton.render.page.instructions import (
    FileLine,
    KernelSamples,
    Numbering,
    ReasonCount,
    kernel_samples,
)
from proton.render.statement_places import statements_of
from proton.render.text.sample_texts import lost_samples, sample_count, text_remark

WHOLE_FILE = 3000  # lines of a file that is in the page whole
AROUND = 60  # lines before and after one with samples, of longer files
_MOST_LETTERS = 1000  # of a line of text

Stack = tuple[FileLine, ...]  # the innermost line first; empty where no line is known


@dataclass(frozen=True, slots=True)
class SamplingFacts:
    """How samples were taken and what was lost; null: the file does not say."""

    samples: float
    period_cycles: int | None
    window_ns: int | None  # samples are taken for so long of every `every_ns`
    every_ns: int | None
    dropped: int | None
    overflows: int | None  # of the hardware's buffer
    non_user: int | None  # outside the program's kernels
    left_out: int  # by `include`
    is_divided: bool  # among the contexts that launched a kernel, by its time in each


class SampledStack(NamedTuple):
    """Samples of one kernel in one stack of lines; `places` is empty where no line is known."""

    kernel: int
    places: Sequence[int]
    samples: int
    latency: int
    reasons: Sequence[ReasonCount]


class ReasonMeaning(NamedTuple):
    """Why a warp does not issue, in words."""

    name: str
    meaning: str
    remedy: str


class LinePlace(NamedTuple):
    """A line of a file, by its number."""

    file: int
    line: int


class RegionPlace(NamedTuple):
    """A region that a kernel recorded, at its line; `share` is of its kernel's outermost."""

    place: int
    kernel: str  # as in the file
    name: str
    share: float | None


class TextChunk(NamedTuple):
    """Lines of a file that follow each other."""

    first: int
    lines: list[str]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with samples or regions, and its text. Other than `is_user` ones are only inlined."""

    path: str
    state: TextState
    remark: str
    is_user: bool
    count: int  # lines of the file
    chunks: Sequence[TextChunk]


@dataclass(frozen=True, slots=True)
class SourcePart:
    """What was sampled, by kernel and stack of lines; lists are named by place elsewhere.

    `sampling` is null where the lines are those of regions alone.
    """

    sampling: SamplingFacts | None
    kernels: Sequence[KernelSamples]
    seen: Sequence[SampledStack]
    regions: Sequence[RegionPlace]
    reasons: Sequence[ReasonMeaning]
    places: Sequence[LinePlace]
    functions: Sequence[str]  # of each place; empty where it is not known
    files: Sequence[SourceFile]


def source_part(profile: TreeProfile, tool: str | None = "") -> SourcePart | None:
    """Samples by kernel and stack of lines, and regions; None where there is neither.

    `tool` is the nvdisasm to run, as `disassemble` takes it.
    """
    found = _summed(profile) if is_sampled(profile) else {}
    samples, reasons = Counter[str](), Counter[str]()
    for (kernel, _), one in found.items():
        samples[kernel] += one.count
        reasons.update(one.reasons)
    ranked = [name for name, _ in samples.most_common()]
    places = {name: place for place, name in enumerate(ranked)}
    numbers = Numbering(name for name, _ in reasons.most_common())
    seen = [
        SampledStack(
            places[kernel],
            numbers.places_of(stack),
            one.count,
            one.latency,
            numbers.reasons_of(one.reasons),
        )
        for (kernel, stack), one in found.items()
    ]
    kernels = kernel_samples(profile, {name: samples[name] for name in ranked}, numbers, tool)
    outermost = {stack[-1][0] for _, stack in found if stack} | _recorded_files(profile)
    regions = list(_regions(profile, numbers))
    if not seen and not numbers.places:
        return None
    return SourcePart(
        sampling=_sampling(profile) if found else None,
        kernels=kernels,
        seen=seen,
        regions=regions,
        reasons=[ReasonMeaning(name, *explain(name)) for name in numbers.reasons],
        places=[LinePlace(numbers.files[file], line) for file, line in numbers.places],
        functions=_functions(profile, numbers),
        files=_files(profile, numbers, outermost),
    )


def _recorded_files(profile: TreeProfile) -> set[str]:
    """Files that kernels recorded regions and accesses of."""
    regions = {one.file for kernel in profile.in_kernel for one in kernel.regions if one.line}
    return regions | {
        one.file for kernel in profile.in_kernel for one in kernel.accesses if one.line
    }


def _regions(profile: TreeProfile, numbers: Numbering) -> Iterator[RegionPlace]:
    """Regions with a known line, those of kernels with most cycles first.

    Accesses to memory get a place as well, so that their lines can be shown.
    """
    for kernel in by_cycles(profile.in_kernel):
        for region, share in zip(kernel.regions, shares_of(kernel), strict=True):
            if region.file and region.line:
                (place,) = numbers.places_of([(region.file, region.line)])
                yield RegionPlace(place, kernel.kernel, printable(region.name) or '""', share)
        numbers.places_of(
            (site.file, site.line) for site in kernel.accesses if site.file and site.line
        )


def _sampling(profile: TreeProfile) -> SamplingFacts:
    sampling = profile.sampling
    if sampling is None:
        count = whole_of(profile.tree, NUM_SAMPLES)
        return SamplingFacts(count or 0, None, None, None, None, None, None, 0, False)
    dropped, overflows, non_user = lost_samples(profile, sampling)
    return SamplingFacts(
        samples=sample_count(sampling),
        period_cycles=sampling.period_cycles or None,
        window_ns=sampling.window_ns or None,
        every_ns=sampling.every_ns or None,
        dropped=dropped or 0,
        overflows=overflows or 0,
        non_user=non_user,
        left_out=sampling.left_out or 0,
        is_divided=bool(sampling.is_split) and profile.trace is None,  # a trace has them by kernel
    )


def _summed(profile: TreeProfile) -> dict[tuple[str, Stack], Samples]:
    """Kernel and stack of lines -> what was sampled there.

    Samples without a line are those of the tree's kernels: instructions are not all recorded.
    """
    tree = profile.tree
    placed = (seen for seen in samples_of(profile, statements_of(profile)) if seen.stack)
    unplaced = (
        Seen(tree.frames[row].name, (), found.count, found.latency, found.reasons)
        for row, (_, found) in kernels_without_lines(profile, tree).items()
    )
    sums: dict[tuple[str, Stack], Samples] = {}
    for seen in chain(placed, unplaced):
        sums.setdefault((seen.kernel, seen.stack), Samples()).add(seen)
    return sums


def _functions(profile: TreeProfile, numbers: Numbering) -> list[str]:
    """The function that each place is in; empty where the recording does not know."""
    found: dict[FileLine, str] = {}
    tree, sampling = profile.tree, profile.sampling
    if sampling is not None:
        for line in sampling.lines:
            found.setdefault((line.file, line.line), line.function)
    for frame in tree.frames:
        if frame.file is not None and frame.line is not None and frame.function:
            found.setdefault((frame.file, frame.line), frame.function)
    return [found.get(place, "") for place in numbers.places]


def _files(profile: TreeProfile, numbers: Numbering, outermost: set[str]) -> list[SourceFile]:
    known = {path: file for kernel in profile.in_kernel for path, file in kernel.files.items()}
    known |= {} if profile.sampling is None else profile.sampling.files
    sampled: dict[str, set[int]] = {}
    for file, line in numbers.places:
        sampled.setdefault(file, set()).add(line)
    files = []
    for file in numbers.files:
        text = read_source(file, known.get(file), profile.source)
        if text.state is not TextState.SAME and not is_program(file):
            # Pages are sent to others: a profile may not name any file of its reader's for them.
            text = SourceText(TextState.GONE, remark="not the file of a program")
        files.append(
            SourceFile(
                path=file,
                state=text.state,
                remark=text_remark(file, text),
                is_user=file in outermost,
                count=len(text.lines),
                chunks=chunks_of(text, sampled[file]),
            )
        )
    return files


def chunks_of(text: SourceText, sampled: Collection[int]) -> list[TextChunk]:
    """The text in pieces, in order.

    One piece for all of a file that people write; of a longer one the lines around samples.
    """
    count = len(text.lines)
    if count <= WHOLE_FILE:
        return [TextChunk(1, [_shown(line) for line in text.lines])] if count else []
    chunks: list[TextChunk] = []
    after = 1  # the first line that is in no piece yet
    for line in sorted(sampled):
        first, last = max(line - AROUND, after), min(line + AROUND, count)
        if line < 1 or first > last:
            continue
        if not chunks or first > after:
            chunks.append(TextChunk(first, []))
        chunks[-1].lines.extend(_shown(one) for one in text.lines[first - 1 : last])
        after = last + 1
    return chunks


def _shown(line: str) -> str:
    return cut_end(printable(line.rstrip().expandtabs(4)), _MOST_LETTERS)
