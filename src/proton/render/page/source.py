"""The source part: every sample with its kernel, its stack of lines and its reasons, and the texts.

The page adds up what it is asked for (a file, a kernel, a line with what was inlined there); what
reasons mean, and which text is still the recorded one, is said here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import chain
from typing import Any

from proton.analysis.fold_lines import kernels_without_lines
from proton.analysis.reasons import explain
from proton.analysis.source_lines import Samples, Seen, is_sampled, samples_of
from proton.files.source_text import SourceText, TextState, is_program, read_source
from proton.model.profile import TreeProfile
from proton.render.display_names import cut_end, printable
from proton.render.page.instructions import kernel_objects
from proton.render.page.numbering import Numbering, Place
from proton.render.page.pack import Columns
from proton.render.text.sample_texts import sampling_lines, text_remark
from proton.render.text.style import Style

WHOLE_FILE = 3000  # lines of a file that is in the page whole
AROUND = 60  # lines before and after one with samples, of longer files
_MOST_LETTERS = 1000  # of a line of text

Stack = tuple[Place, ...]  # the innermost line first; empty where no line is known


def source_part(
    profile: TreeProfile, columns: Columns, tool: str | None = ""
) -> dict[str, Any] | None:
    """Samples by kernel and stack of lines; None where nothing was sampled.

    `tool` is the nvdisasm to run, as `disassemble` takes it.
    """
    del columns  # texts and few numbers only
    found = _summed(profile) if is_sampled(profile) else {}
    if not found:
        return None
    samples, reasons = Counter[str](), Counter[str]()
    for (kernel, _), one in found.items():
        samples[kernel] += one.count
        reasons.update(one.reasons)
    ranked = [name for name, _ in samples.most_common()]
    places = {name: place for place, name in enumerate(ranked)}
    numbers = Numbering(name for name, _ in reasons.most_common())
    seen = [
        [
            places[kernel],
            numbers.places_of(stack),
            one.count,
            one.latency,
            numbers.reasons_of(one.reasons),
        ]
        for (kernel, stack), one in found.items()
    ]
    kernels = kernel_objects(profile, {name: samples[name] for name in ranked}, numbers, tool)
    return {
        "remarks": sampling_lines(profile, Style()),
        "kernels": kernels,
        "seen": seen,
        "reasons": [[name, *explain(name)] for name in numbers.reasons],
        "places": [[numbers.files[file], line] for file, line in numbers.places],
        "functions": _functions(profile, numbers),
        "files": _files(profile, numbers, {stack[-1][0] for _, stack in found if stack}),
    }


def _summed(profile: TreeProfile) -> dict[tuple[str, Stack], Samples]:
    """Kernel and stack of lines -> what was sampled there.

    Samples without a line are those of the tree's kernels: instructions are not all recorded.
    """
    tree = profile.tree
    placed = (seen for seen in samples_of(profile) if seen.stack)
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
    found: dict[Place, str] = {}
    tree, sampling = profile.tree, profile.sampling
    if sampling is not None:
        for line in sampling.lines:
            found.setdefault((line.file, line.line), line.function)
    for frame in tree.frames:
        if frame.file is not None and frame.line is not None and frame.function:
            found.setdefault((frame.file, frame.line), frame.function)
    return [found.get(place, "") for place in numbers.places]


def _files(profile: TreeProfile, numbers: Numbering, outermost: set[str]) -> list[dict[str, Any]]:
    sampling = profile.sampling
    sampled: dict[str, set[int]] = {}
    for file, line in numbers.places:
        sampled.setdefault(file, set()).add(line)
    files = []
    for file in numbers.files:
        recorded = None if sampling is None else sampling.files.get(file)
        text = read_source(file, recorded, profile.source)
        if text.state is not TextState.SAME and not is_program(file):
            # Pages are sent to others: a profile may not name any file of its reader's for them.
            text = SourceText(TextState.GONE, remark="not the file of a program")
        files.append(
            {
                "path": file,
                "state": text.state.value,
                "remark": text_remark(file, text),
                "is_user": file in outermost,  # others are inlined there only
                "count": len(text.lines),
                "chunks": chunks_of(text, sampled[file]),
            }
        )
    return files


def chunks_of(text: SourceText, sampled: Collection[int]) -> list[list[Any]]:
    """The text in pieces of `[number of the first line, lines]`, in order.

    One piece for all of a file that people write; of a longer one the lines around samples.
    """
    count = len(text.lines)
    if count <= WHOLE_FILE:
        return [[1, [_shown(line) for line in text.lines]]] if count else []
    chunks: list[list[Any]] = []
    after = 1  # the first line that is in no piece yet
    for line in sorted(sampled):
        first, last = max(line - AROUND, after), min(line + AROUND, count)
        if line < 1 or first > last:
            continue
        if not chunks or first > after:
            chunks.append([first, []])
        chunks[-1][1] += [_shown(one) for one in text.lines[first - 1 : last]]
        after = last + 1
    return chunks


def _shown(line: str) -> str:
    return cut_end(printable(line.rstrip().expandtabs(4)), _MOST_LETTERS)
