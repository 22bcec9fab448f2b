"""A source file with its samples in the margin: how many, what share, a bar, the top reasons."""

from __future__ import annotations

from collections.abc import Mapping

from proton.analysis.source_lines import Samples, samples_by_file, samples_of_file
from proton.errors import FormatError
from proton.files.source_text import SourceText, TextState, read_source
from proton.model.profile import Profile
from proton.render.display_names import cell_width, cut_end, cut_middle, display_name, printable
from proton.render.statement_places import statements_of
from proton.render.text.bars import BAR_ROOM, bar
from proton.render.text.choose_by_name import choose_file
from proton.render.text.head import program_head
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.sample_texts import (
    choices_of_reasons,
    fitting,
    legend_lines,
    reasons_in,
    text_remark,
)
from proton.render.text.style import BOLD, DIM, RED, Style, looks_of_shares
from proton.render.units import format_count

_SHORT_FILE = 60  # lines that are shown whole
_AROUND = 3  # lines shown before and after one with samples
_MOST_KERNELS = 4
_MARGIN = 38  # columns in front of the text, but for the reasons
_TEXT_ROOM = 60  # columns that source text should have; reasons give way
_LEAST_CODE = 50  # columns that it has at least


def annotated_source(
    profile: Profile, wanted: str, style: Style, *, full: bool, without_autotune: bool = False
) -> list[str]:
    """The file that `wanted` means, line by line.

    Args:
        profile: What was recorded.
        wanted: A path, or the end of one.
        style: How.
        full: All of the file, however long, and lines as long as they are.
        without_autotune: The head tells of the program alone.

    Raises:
        UsageError: No sampled file or several are meant; the message lists them.
        FormatError: The profile has no samples of source lines.
    """
    files = samples_by_file(profile, statements_of(profile))
    if not files:
        raise FormatError(
            f"{profile.source}: has no samples of source lines; "
            'record with mode="pcsampling", and compile CUDA C++ with -lineinfo'
        )
    totals = {file: sum(one.count for one in lines.values()) for file, lines in files.items()}
    file = choose_file(wanted, sorted(files, key=lambda name: (-totals[name], name)))
    lines = files[file]
    sampling = profile.sampling
    recorded = None if sampling is None else sampling.files.get(file)
    text = read_source(file, recorded, profile.source)
    whole = samples_of_file(profile, file)
    output = [
        *program_head(profile, style, without_autotune=without_autotune),
        "",
        *_title(file, whole, style),
    ]
    if remark := text_remark(file, text):
        output += [style.paint(line, RED) for line in wrapped(f"! {remark}", style)]
    margin = _Margin(lines, whole.count, style if not full else Style(style.color, None))
    output += ["", *margin.drawn(text, _shown(lines, text, full=full))]
    legend = legend_lines(lines.values(), style, full=full)
    return [*output, "", *(style.paint(line, DIM) for line in legend)]


def _title(file: str, whole: Samples, style: Style) -> list[str]:
    """The file with its kernels beside it or, where there is no room, below it."""
    kernels = [
        f"{display_name(name)} {format_count(count)}"
        for name, count in whole.kernels.most_common(_MOST_KERNELS)
    ]
    if (more := len(whole.kernels) - len(kernels)) > 0:
        kernels.append(f"{more} more")
    name = printable(file)
    counted = f"{format_count(whole.count)} samples in {', '.join(kernels)}"
    if style.width is None or cell_width(name) + 3 + cell_width(counted) <= style.width:
        return [f"{style.paint(name, BOLD)}   {counted}"]
    return [style.paint(cut_middle(name, style.width), BOLD), *wrapped(counted, style)]


def _shown(lines: Mapping[int, Samples], text: SourceText, *, full: bool) -> list[int]:
    """The numbers of the lines to draw, in order."""
    sampled = {line for line in lines if line > len(text.lines) or line == 0}
    if text.state is TextState.GONE:
        return sorted(lines)
    if full or len(text.lines) <= _SHORT_FILE:
        return sorted({*range(1, len(text.lines) + 1), *sampled})
    near = {
        around
        for line in lines
        for around in range(line - _AROUND, line + _AROUND + 1)
        if 0 < around <= len(text.lines)
    }
    return sorted(near | sampled)


class _Margin:
    """Draws lines of a file with what was sampled on each in front."""

    def __init__(self, lines: Mapping[int, Samples], whole: int, style: Style) -> None:
        self._lines = lines
        self._whole = max(whole, 1)
        self._style = style
        left = None if style.width is None else style.width - _MARGIN
        reasons = fitting(choices_of_reasons(lines), left, _TEXT_ROOM)
        self._reasons = reasons.texts
        self._reason_room = max(reasons.room, len("top reasons"))
        self._count_room = max([len("samples"), *(len(str(one.count)) for one in lines.values())])
        # Where the code would get too little, the bar goes and reasons stand below their line.
        taken = self._count_room + 7 + BAR_ROOM + self._reason_room + 5 + 10
        self._is_narrow = style.width is not None and style.width - taken < _LEAST_CODE
        looks = looks_of_shares([one.count for one in lines.values()], self._whole)
        self._looks = dict(zip(lines, looks, strict=True))

    def drawn(self, text: SourceText, numbers: list[int]) -> list[str]:
        """The lines called `numbers` below their titles, with a mark where some are left out."""
        number_room = max(len("line"), len(str(max(numbers, default=0))))
        titles = f"{'samples':>{self._count_room}}  {'share %':>7}  "
        if not self._is_narrow:
            titles += f"{'':{BAR_ROOM}}  {'top reasons':<{self._reason_room}}  "
        titles += f"{'line':>{number_room}}"
        output = [self._style.paint(titles, BOLD)]
        before = 0
        for number in numbers:
            if text.state is not TextState.GONE and number > before + 1:
                skipped = number - before - 1
                mark = f"{self._style.glyphs.deeper} {skipped} line{'s' * (skipped != 1)}"
                indent = " " * (len(titles) + 2)
                output.append(self._style.paint(f"{indent}{mark}", DIM))
            output.append(self._line(number, number_room, text))
            if self._is_narrow and number in self._lines:
                room = (self._style.width or 0) - len(titles) - 2
                below = " " * (len(titles) + 2) + reasons_in(self._lines[number], room)
                output += [self._style.paint(self._cut(below), DIM)] if below.strip() else []
            before = number
        return output

    def _line(self, number: int, number_room: int, text: SourceText) -> str:
        one = self._lines.get(number)
        source = printable((text.line(number) or "").rstrip().expandtabs(4))
        if one is None:
            front = " " * (self._count_room + 2 + 7)
            if not self._is_narrow:
                front += " " * (2 + BAR_ROOM + 2 + self._reason_room)
            return self._cut(f"{front}  {number:>{number_room}}  {source}".rstrip())
        share = one.count / self._whole
        front = f"{one.count:>{self._count_room}}  {100 * share:7.1f}"
        if not self._is_narrow:
            drawn = bar(share, BAR_ROOM, self._style.glyphs)
            front += f"  {drawn}  {self._reasons[number]:<{self._reason_room}}"
        line = self._cut(f"{front}  {number:>{number_room}}  {source}".rstrip())
        return self._style.paint(line, self._looks[number])

    def _cut(self, line: str) -> str:
        return line if self._style.width is None else cut_end(line, self._style.width)
