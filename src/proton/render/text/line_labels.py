"""The rows of a tree that are source lines, and kernels that have none, with what was sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proton.analysis.fold_lines import HotLine
from proton.analysis.kernel_names import symbol_of
from proton.analysis.source_lines import Samples, samples_in
from proton.files.source_text import SourceText, TextState, read_source
from proton.model.frame import FrameKind
from proton.model.profile import Profile
from proton.model.sampling import NUM_SAMPLES
from proton.model.tree import Tree
from proton.render.display_names import cell_width, cut_end, cut_middle, pad, printable
from proton.render.text.bars import bar
from proton.render.text.sample_texts import (
    BAR_ROOM,
    MOST_REASONS,
    WITHOUT_LINES,
    choices_of_reasons,
    fitting,
    legend_lines,
    reasons_text,
    text_remark,
)
from proton.render.text.style import Style

_PLACE_ROOM = 28
_NAME_ROOM = 16  # columns that a kernel keeps, whatever its reasons take
_WIDE = 60  # columns from which bars have all of their room
_LEAST_TEXT_ROOM = 12
_TEXT_ROOM = 30  # columns that source text should have; reasons give way


class Lineless(NamedTuple):
    """A kernel without lines: why it has none, as far as known, and what was sampled in it."""

    status: str
    samples: Samples


def kernels_without_lines(profile: Profile, tree: Tree) -> dict[int, Lineless]:
    """The rows of `tree` that were sampled and are no lines nor have any."""
    kernels = [] if profile.sampling is None else profile.sampling.kernels
    statuses = {kernel.symbol: kernel.lines for kernel in kernels}
    return {
        row: Lineless(statuses.get(symbol_of(tree, row), ""), samples_in(own))
        for row, own in enumerate(tree.own)
        if row and own.get(NUM_SAMPLES) and tree.frames[row].kind is not FrameKind.SAMPLE
    }


class LineLabels:
    """Writes the lines of a folded tree (place, share, bar, reasons, source text) and its kernels.

    A kernel without lines has its reasons behind its name.
    """

    def __init__(
        self,
        profile: Profile,
        lines: Mapping[int, HotLine],
        kernels: Mapping[int, Lineless],
        style: Style,
        *,
        full: bool,
    ) -> None:
        self._profile = profile
        self._style = style
        self._full = full
        self._texts: dict[str, SourceText] = {}
        self._lines = lines
        self._kernels = kernels
        self._reasons = choices_of_reasons({row: line.samples for row, line in lines.items()})
        self._places = {row: self._place(line) for row, line in lines.items()}
        self._place_room = max(map(cell_width, self._places.values()), default=0)

    def __bool__(self) -> bool:
        return bool(self._lines or self._kernels)

    def label(self, row: int, name: str, room: int | None) -> str | None:
        """The text of `row` in `room` columns; None where its `name` is all there is to say."""
        if row in self._kernels:
            return self._kernel(self._kernels[row], name, room)
        line = self._lines.get(row)
        if line is None:
            return None
        place = pad(self._places[row], self._place_room)
        bar_room = BAR_ROOM if room is None or room >= _WIDE else BAR_ROOM // 2
        drawn = bar(line.share, bar_room, self._style.glyphs)
        front = f"{place}  {100 * line.share:5.1f} % {drawn} "
        left = None if room is None else room - cell_width(front)
        reasons = fitting(self._reasons, left, _TEXT_ROOM)
        text = f"{front}{pad(reasons.texts[row], reasons.room)}"
        source = self._source(line)
        if room is None or room - cell_width(text) > _LEAST_TEXT_ROOM:
            text += f"  {source}"
        return text.rstrip() if room is None else cut_end(text.rstrip(), room)

    def _kernel(self, kernel: Lineless, name: str, room: int | None) -> str:
        status = f" ({kernel.status})" if kernel.status in WITHOUT_LINES else ""
        tail = ""
        for most in range(MOST_REASONS, 0, -1):
            tail = f"{status}  {reasons_text(kernel.samples, most)}".rstrip()
            if room is None or cell_width(name) + len(tail) <= room:
                return name + tail
        assert room is not None
        return cut_middle(name, max(room - len(tail), _NAME_ROOM)) + tail

    def explained(self, mask: Sequence[int]) -> list[str]:
        """What is to be known about the rows that `mask` keeps: files, lines that are not known."""
        statuses = {kernel.status for row, kernel in self._kernels.items() if mask[row]}
        notes = [text_remark(file, text) for file, text in self._texts.items()]
        notes += [note for status, note in WITHOUT_LINES.items() if status in statuses]
        shown = [line.samples for row, line in self._lines.items() if mask[row]]
        shown += [kernel.samples for row, kernel in self._kernels.items() if mask[row]]
        return [*filter(None, notes), *legend_lines(shown, self._style, full=self._full)]

    def _place(self, line: HotLine) -> str:
        if not line.is_line:
            return line.file
        name = line.file if self._full else line.file.rsplit("/", 1)[-1]
        number = f":{line.line}" if line.line else ""
        place = f"{printable(name)}{number}"
        return place if self._full else cut_middle(place, _PLACE_ROOM)

    def _source(self, line: HotLine) -> str:
        if not line.is_line:
            return ""
        if line.file not in self._texts:
            sampling = self._profile.sampling
            recorded = None if sampling is None else sampling.files.get(line.file)
            self._texts[line.file] = read_source(line.file, recorded, self._profile.source)
        text = self._texts[line.file]
        if text.state is TextState.GONE:
            return "(file gone)"
        found = printable((text.line(line.line) or "").strip().expandtabs(4))
        return f"(file changed) {found}" if text.state is TextState.CHANGED else found
