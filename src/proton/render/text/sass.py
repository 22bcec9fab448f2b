"""The hottest instructions of a kernel in the order of their addresses, with lines and reasons."""

from __future__ import annotations

from collections.abc import Sequence

from proton.analysis.source_lines import Samples, Seen, name_reasons, other_names
from proton.errors import FormatError
from proton.model.profile import Profile
from proton.model.sampling import Instruction, SampledKernel, Sampling
from proton.render.display_names import cell_width, cut_end, cut_middle, display_name, printable
from proton.render.nvdisasm import disassemble
from proton.render.text.aligned_table import table_lines
from proton.render.text.bars import BAR_ROOM, bar
from proton.render.text.choose_by_name import choose_kernel
from proton.render.text.head import program_head
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.sample_texts import (
    kernel_remark,
    legend_lines,
    listed_remark,
    reasons_in,
    reasons_text,
)
from proton.render.text.style import BOLD, DIM, Style, looks_of_shares
from proton.render.units import format_count

_MOST_INSTRUCTIONS = 40
_MOST_REASONS = 2
_LEAST_ROOM = 16
_INSTRUCTION = "instruction"
_INSTRUCTION_ROOM = 40  # columns that instructions keep before other columns go


def hot_instructions(
    profile: Profile,
    wanted: str,
    style: Style,
    *,
    full: bool,
    without_autotune: bool = False,
    tool: str | None = "",
) -> list[str]:
    """The instructions of the kernel that `wanted` means.

    Args:
        profile: What was recorded.
        wanted: A kernel's symbol or name, or a part of one.
        style: How.
        full: Every instruction that the file has, with all lines of its inline stack.
        without_autotune: The head tells of the program alone.
        tool: The nvdisasm to run, as `disassemble` takes it.

    Raises:
        UsageError: No sampled kernel or several are meant; the message lists them.
        FormatError: The profile has no samples of instructions.
    """
    sampling = profile.sampling
    if sampling is None or not sampling.kernels:
        raise FormatError(
            f"{profile.source}: has no samples of instructions; "
            'record with mode="pcsampling" in this version of Proton'
        )
    ranked = sorted(sampling.kernels, key=lambda kernel: -kernel.samples)
    symbols = list(dict.fromkeys(kernel.symbol for kernel in ranked))
    names = other_names(profile)
    chosen = choose_kernel(
        wanted,
        [(symbol, *names.get(symbol, ()), display_name(symbol)) for symbol in symbols],
    )
    variants = [kernel for kernel in ranked if kernel.symbol == symbols[chosen]]
    if full:
        style = Style(style.color, None, style.glyphs)
    lines = program_head(profile, style, without_autotune=without_autotune)
    shown: list[Samples] = []
    remarks: list[str] = []
    for number, kernel in enumerate(variants, 1):
        count = f"variant {number} of {len(variants)}" if len(variants) > 1 else ""
        view = _KernelView(sampling, kernel, style, full=full, tool=tool)
        lines += ["", *view.lines(count)]
        shown += view.samples
        remarks += [remark for remark in (view.remark, kernel_remark(kernel)) if remark]
    notes = [part for remark in dict.fromkeys(remarks) for part in wrapped(remark, style)]
    notes += legend_lines(shown, style, full=full)
    return [*lines, "", *(style.paint(note, DIM) for note in notes)] if notes else lines


class _KernelView:
    """One kernel: its hottest instructions as lines, and what those lines need explained."""

    def __init__(
        self,
        sampling: Sampling,
        kernel: SampledKernel,
        style: Style,
        *,
        full: bool,
        tool: str | None,
    ) -> None:
        self._sampling = sampling
        self._kernel = kernel
        self._style = style
        self._full = full
        hottest = list(kernel.instructions)
        if not full:
            sampled = [one for one in hottest if one.samples]
            hottest = sorted(sampled, key=lambda one: -one.samples)[:_MOST_INSTRUCTIONS]
        self._instructions = sorted(hottest, key=lambda one: one.offset)
        self.samples = [self._samples_of(one) for one in self._instructions]
        result = disassemble(
            {one.offset: one.code for one in self._instructions}, kernel.arch, tool
        )
        self._texts = result.texts
        self.remark = result.remark if self._instructions else ""

    def lines(self, count: str) -> list[str]:
        """The title, the table, and what is not in it."""
        kernel, shown = self._kernel, sum(one.samples for one in self._instructions)
        parts = [
            f"sm_{kernel.arch}" if kernel.arch else "",
            count,
            f"{format_count(kernel.samples)} samples",
            f"launched from {kernel.contexts} contexts" if (kernel.contexts or 0) > 1 else "",
            f"({kernel.lines})" if kernel_remark(kernel) else "",
        ]
        facts = "".join(f"   {part}" for part in parts if part)
        name = display_name(kernel.symbol, full=self._full)
        if self._style.width is not None:
            name = cut_middle(name, max(self._style.width - len(facts), _LEAST_ROOM))
        lines = [self._style.paint(name, BOLD) + facts, "", *self._table()]
        remarks = []
        if (rest := kernel.samples - shown) > 0:
            remarks.append(f"{format_count(rest)} samples in instructions that are not shown")
        if hidden := len(kernel.instructions) - len(self._instructions):
            remarks.append(f"{format_count(hidden)} more instructions; --full shows all")
        elif (remark := listed_remark(kernel)) and kernel.instruction_count:
            remarks.append(remark)
        said = (line for remark in remarks for line in wrapped(remark, self._style))
        return lines + [self._style.paint(line, DIM) for line in said]

    def _table(self) -> list[str]:
        """The widest table that fits: bars go first, then reasons stand below their instruction."""
        whole = max(self._kernel.samples, 1)
        counts = [one.samples for one in self._instructions]
        rows = [
            (
                f"{one.offset:x}",
                str(one.samples),
                f"{100 * one.samples / whole:.1f}",
                bar(one.samples / whole, BAR_ROOM, self._style.glyphs),
                reasons_text(samples, _MOST_REASONS),
                self._place(one),
                printable(self._texts[one.offset]),
            )
            for one, samples in zip(self._instructions, self.samples, strict=True)
        ]
        looks = looks_of_shares(counts, whole)
        width = self._style.width
        drawn: list[str] = []
        for kept in (range(7), (0, 1, 2, 4, 5, 6), (0, 1, 2, 5, 6)):
            drawn = self._drawn(rows, kept)
            longest = max(map(cell_width, drawn))
            room = drawn[0].index(_INSTRUCTION) + _INSTRUCTION_ROOM
            if width is None or min(longest, room) <= width:
                break
        reasons = [""] * len(rows)
        if 4 not in kept:
            indent = drawn[0].index(_INSTRUCTION)
            reasons = [self._below(samples, indent) for samples in self.samples]
        lines = [self._style.paint(drawn[0], BOLD)]
        for line, below, look in zip(drawn[1:], reasons, looks, strict=True):
            line = line if width is None else cut_end(line, width)
            lines += [self._style.paint(part, look) for part in (line, below) if part]
        return lines

    def _drawn(self, rows: Sequence[Sequence[str]], kept: Sequence[int]) -> list[str]:
        """The columns `kept` of the table, as wide as they are and without colours."""
        titles = ("offset", "samples", "share %", " " * BAR_ROOM, "top reasons", "line")
        return table_lines(
            [(*titles, _INSTRUCTION)[at] for at in kept],
            [[row[at] for at in kept] for row in rows],
            Style(),
            align="".join(">>><<<<"[at] for at in kept),
        )

    def _below(self, samples: Samples, indent: int) -> str:
        """The reasons of an instruction for a line of their own."""
        room = max((self._style.width or 0) - indent, _LEAST_ROOM)
        text = reasons_in(samples, room, _MOST_REASONS)
        return " " * indent + cut_end(text, room) if text else ""

    def _samples_of(self, one: Instruction) -> Samples:
        samples = Samples()
        reasons = name_reasons(self._sampling.reasons, one.reasons)
        samples.add(Seen(self._kernel.symbol, (), one.samples, one.latency, reasons))
        return samples

    def _place(self, one: Instruction) -> str:
        """The user's line; with `full` all lines of the inline stack, the innermost first."""
        stack: Sequence[int] = list(self._sampling.stack(one.line))
        if not stack:
            return "-"
        places = [self._sampling.lines[at] for at in (stack if self._full else stack[-1:])]
        return " < ".join(
            f"{printable(line.file if self._full else line.file.rsplit('/', 1)[-1])}:{line.line}"
            for line in places
        )
