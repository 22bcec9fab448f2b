"""The kernels of the source part with their instructions, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proton.analysis.source_lines import name_reasons, other_names
from proton.analysis.statement_lines import Begin
from proton.model.profile import Profile
from proton.model.sampling import SampledKernel, Sampling
from proton.render.display_names import display_name, printable
from proton.render.nvdisasm import Disassembly, disassemble_all
from proton.render.page.pack import record_of
from proton.render.statement_places import statements_of
from proton.render.text.sample_texts import kernel_remark, listed_remark

MOST_DISASSEMBLED = 40  # kernels, those with the most samples
_ONLY_NAMES = "only names of instructions: the page has the text of the kernels with most samples"

FileLine = tuple[str, int]


class ReasonCount(NamedTuple):
    """Samples with one reason, by its number."""

    reason: int
    samples: int


class InstructionRow(NamedTuple):
    """One instruction; `places` are numbers of source lines, the innermost first."""

    offset: int
    text: str
    places: Sequence[int]
    samples: int
    latency: int
    reasons: Sequence[ReasonCount]


@dataclass(frozen=True, slots=True)
class CodeOfKernel:
    """One compiled code of a kernel with its instructions, by offset; all, or the hottest."""

    symbol: str
    arch: int | None
    samples: int
    contexts: int | None
    remark: str
    listed: str  # how many of its instructions these are, and why; empty: all
    instructions: Sequence[InstructionRow]


@dataclass(frozen=True, slots=True)
class KernelSamples:
    """A sampled kernel; `remark` says why its lines are not known, and is empty where they are."""

    name: str  # as in the file
    title: str
    samples: int
    remark: str
    codes: Sequence[CodeOfKernel]


class Numbering:
    """Files, places and reasons in the order in which they came up; their places are numbers."""

    def __init__(self, reasons: Iterable[str] = ()) -> None:
        """`reasons`: those that come first."""
        self.files: dict[str, int] = {}
        self.places: dict[FileLine, int] = {}
        self.reasons: dict[str, int] = {name: number for number, name in enumerate(reasons)}

    def places_of(self, stack: Iterable[FileLine]) -> list[int]:
        """The numbers of a stack's places."""
        numbers = []
        for place in stack:
            self.files.setdefault(place[0], len(self.files))
            numbers.append(self.places.setdefault(place, len(self.places)))
        return numbers

    def reasons_of(self, counts: Mapping[str, int]) -> list[ReasonCount]:
        """Numbers of reasons with their samples, the most frequent first."""
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [
            ReasonCount(self.reasons.setdefault(name, len(self.reasons)), count)
            for name, count in ranked
            if count
        ]


def kernel_samples(
    profile: Profile, samples: Mapping[str, int], numbers: Numbering, tool: str | None
) -> list[KernelSamples]:
    """The kernels of `samples`, which are those of the tree, in that order.

    A kernel has several codes where Triton compiled it more than once.
    """
    codes = _codes(profile, samples)
    texts = _texts(codes, tool)
    sampling = profile.sampling
    begin = statements_of(profile)
    kernels = []
    for name, count in samples.items():
        remarks = dict.fromkeys(kernel_remark(kernel) for kernel in codes[name])
        kernels.append(
            KernelSamples(
                name=name,
                title=display_name(name),
                samples=count,
                remark="; ".join(filter(None, remarks)),
                codes=[
                    _code(sampling, kernel, texts[id(kernel)], numbers, begin)
                    for kernel in codes[name]
                    if sampling is not None and kernel.instructions
                ],
            )
        )
    return kernels


def _codes(profile: Profile, names: Mapping[str, int]) -> dict[str, list[SampledKernel]]:
    """What was sampled by the name that it has in the tree, which launches may have changed."""
    codes: dict[str, list[SampledKernel]] = {name: [] for name in names}
    if profile.sampling is None:
        return codes
    others = other_names(profile)
    for kernel in sorted(profile.sampling.kernels, key=lambda one: -one.samples):
        for name in dict.fromkeys((kernel.symbol, *others.get(kernel.symbol, ()))):
            if name in codes:
                codes[name].append(kernel)
    return codes


def _texts(
    codes: Mapping[str, Sequence[SampledKernel]], tool: str | None
) -> dict[int, Disassembly]:
    """Identity of a kernel -> the text of its instructions."""
    kernels = list({id(one): one for same in codes.values() for one in same}.values())
    kernels.sort(key=lambda one: -one.samples)
    sources = [({i.offset: i.code for i in one.instructions}, one.arch) for one in kernels]
    results = disassemble_all(sources[:MOST_DISASSEMBLED], tool)
    results += [
        text._replace(remark=_ONLY_NAMES)
        for text in disassemble_all(sources[MOST_DISASSEMBLED:], None)
    ]
    return {id(one): result for one, result in zip(kernels, results, strict=True)}


def _code(
    sampling: Sampling,
    kernel: SampledKernel,
    text: Disassembly,
    numbers: Numbering,
    begin: Begin,
) -> CodeOfKernel:
    instructions = []
    for one in sorted(kernel.instructions, key=lambda one: one.offset):
        lines = [sampling.lines[at] for at in sampling.stack(one.line)]
        instructions.append(
            InstructionRow(
                one.offset,
                printable(text.texts[one.offset]),
                numbers.places_of(begin((line.file, line.line)) for line in lines),
                one.samples,
                one.latency,
                numbers.reasons_of(name_reasons(sampling.reasons, one.reasons)),
            )
        )
    return record_of(
        CodeOfKernel,
        kernel,
        remark=text.remark,
        listed=listed_remark(kernel),
        instructions=instructions,
    )
