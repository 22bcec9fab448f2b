"""Rows that stand for the turns of a loop, `step_*`: how many there are and how they spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import NamedTuple

from proton.analysis.derive import Column
from proton.model.tree import Tree
from proton.render.display_names import cell_width, cut_middle, printable
from proton.render.units import Notation, format_count, format_number

_LEAST_ROOM = 16
NOTE = "{}: siblings that differ in a number, how many and how they spread; --fold none shows each"
SOME = "N of M: the others have no value"


class Turns(NamedTuple):
    """The contexts that one row stands for."""

    amount: int
    values: Sequence[float]  # of the first column, of those that have one


class TurnLabels:
    """Writes rows that stand for several contexts: `step_* (991: 0.710 to 1.204, median 0.801)`."""

    def __init__(self, turns: Mapping[int, Turns], columns: Sequence[Column]) -> None:
        column = columns[0] if columns else None
        self._notation = Notation()
        if column is not None:
            self._notation = Notation(
                column.decimals, column.is_raw, column.is_difference, column.is_grouped
            )
        self._turns = turns

    def __bool__(self) -> bool:
        return bool(self._turns)

    def label(self, row: int, name: str, room: int | None) -> str | None:
        """The text of `row` in `room` columns; None where its `name` is all there is to say."""
        turns = self._turns.get(row)
        if turns is None:
            return None
        texts = self._texts(turns)
        for text in texts:
            if room is None or cell_width(name) + 1 + len(text) <= room:
                return f"{name} {text}"
        assert room is not None
        return f"{cut_middle(name, max(room - len(texts[-1]) - 1, _LEAST_ROOM))} {texts[-1]}"

    def _texts(self, turns: Turns) -> list[str]:
        """What to say of the turns, the longest first."""
        count = format_count(turns.amount)
        if not turns.values:
            return [f"({count})"]
        if len(turns.values) < turns.amount:  # a spread is that of those with a value
            count = f"{format_count(len(turns.values))} of {count}"
        least, middle, largest = (
            format_number(value, self._notation)
            for value in (min(turns.values), median_low(turns.values), max(turns.values))
        )
        if len(turns.values) == 1:
            return [f"({count}: {middle})", f"({count})"]
        return [
            f"({count}: {least} to {largest}, median {middle})",
            f"({count}: median {middle})",
            f"({count})",
        ]

    def explained(self, mask: Sequence[int], tree: Tree) -> list[str]:
        """What the rows that `mask` keeps stand for."""
        shown = [row for row in self._turns if mask[row]]
        if not shown:
            return []
        some = any(0 < len(self._turns[row].values) < self._turns[row].amount for row in shown)
        note = NOTE.format(printable(tree.frames[min(shown)].name))
        return [f"{note}; {SOME}" if some else note]
