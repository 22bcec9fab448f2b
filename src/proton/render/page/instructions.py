"""The kernels of the source part with their hottest instructions, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proton.analysis.source_lines import name_reasons, other_names
from proton.model.profile import Profile
from proton.model.sampling import SampledKernel, Sampling
from proton.render.display_names import display_name, printable
from proton.render.nvdisasm import Disassembly, disassemble_all
from proton.render.page.numbering import Numbering
from proton.render.text.sample_texts import kernel_remark

MOST_DISASSEMBLED = 40  # kernels, those with the most samples
_ONLY_NAMES = "only names of instructions: the page has the text of the kernels with most samples"


def kernel_objects(
    profile: Profile, samples: Mapping[str, int], numbers: Numbering, tool: str | None
) -> list[dict[str, Any]]:
    """The kernels of `samples`, which are those of the tree, in that order.

    A kernel has several codes where Triton compiled it more than once.
    """
    codes = _codes(profile, samples)
    texts = _texts(codes, tool)
    sampling = profile.sampling
    objects = []
    for name, count in samples.items():
        remarks = dict.fromkeys(kernel_remark(kernel) for kernel in codes[name])
        objects.append(
            {
                "name": name,
                "title": display_name(name),
                "samples": count,
                "remark": "; ".join(filter(None, remarks)),
                "codes": [
                    _code(sampling, kernel, texts[id(kernel)], numbers)
                    for kernel in codes[name]
                    if sampling is not None and kernel.instructions
                ],
            }
        )
    return objects


def _codes(profile: Profile, names: Mapping[str, int]) -> dict[str, list[SampledKernel]]:
    """What was sampled by the name that it has in the tree, which launches may have changed."""
    found: dict[str, list[SampledKernel]] = {name: [] for name in names}
    if profile.sampling is None:
        return found
    others = other_names(profile)
    for kernel in sorted(profile.sampling.kernels, key=lambda one: -one.samples):
        for name in dict.fromkeys((kernel.symbol, *others.get(kernel.symbol, ()))):
            if name in found:
                found[name].append(kernel)
    return found


def _texts(
    codes: Mapping[str, Sequence[SampledKernel]], tool: str | None
) -> dict[int, Disassembly]:
    """Identity of a kernel -> the text of its instructions."""
    kernels = list({id(one): one for found in codes.values() for one in found}.values())
    kernels.sort(key=lambda one: -one.samples)
    given = [({i.offset: i.code for i in one.instructions}, one.arch) for one in kernels]
    results = disassemble_all(given[:MOST_DISASSEMBLED], tool)
    results += [
        found._replace(remark=_ONLY_NAMES)
        for found in disassemble_all(given[MOST_DISASSEMBLED:], None)
    ]
    return {id(one): result for one, result in zip(kernels, results, strict=True)}


def _code(
    sampling: Sampling, kernel: SampledKernel, found: Disassembly, numbers: Numbering
) -> dict[str, Any]:
    """Instructions by address: offset, text, places, samples, latency, reasons."""
    instructions = []
    for one in sorted(kernel.instructions, key=lambda one: one.offset):
        lines = [sampling.lines[at] for at in sampling.stack(one.line)]
        instructions.append(
            [
                one.offset,
                printable(found.texts[one.offset]),
                numbers.places_of((line.file, line.line) for line in lines),
                one.samples,
                one.latency,
                numbers.reasons_of(name_reasons(sampling.reasons, one.reasons)),
            ]
        )
    return {
        "symbol": kernel.symbol,
        "arch": kernel.arch,
        "samples": kernel.samples,
        "contexts": kernel.contexts,
        "remark": found.remark,
        "instructions": instructions,
    }
