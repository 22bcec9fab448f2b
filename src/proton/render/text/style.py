"""How text may look where it goes: colours, width, and which characters can be drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

RESET = "\x1b[0m"
BOLD = "\x1b[1m"
DIM = "\x1b[2m"
RED = "\x1b[31m"  # for problems and losses only
MORE = "\x1b[33m"
LESS = "\x1b[36m"

# Share of the total from which a look applies, smallest first. The sixteen basic colours, because
# the reader's own theme gives them contrast; no red and green, so that everybody can tell them.
SHARES: tuple[tuple[float, str, str], ...] = (
    (0.0, DIM, "<1 %"),
    (0.01, "", ">=1 %"),
    (0.05, "\x1b[36m", ">=5 %"),
    (0.20, "\x1b[33m", ">=20 %"),
    (0.50, "\x1b[1;33m", ">=50 %"),
)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The pieces a tree is drawn with."""

    branch: str = "├─ "
    last: str = "└─ "
    pass_by: str = "│  "
    empty: str = "   "
    deeper: str = "⋯"
    swatch: str = "■"
    at_least: str = "≥"


UNICODE = Glyphs()
ASCII = Glyphs("|- ", "`- ", "|  ", "   ", "...", "#", ">=")


@dataclass(frozen=True, slots=True)
class Style:
    """What the place that text goes to can show. `width` None: no line is cut."""

    color: bool = False
    width: int | None = None
    glyphs: Glyphs = UNICODE

    def paint(self, text: str, look: str) -> str:
        """`text` in a look; as it is where there are no colours."""
        return f"{look}{text}{RESET}" if self.color and look else text


def looks_of_shares(values: Sequence[object], total: float) -> list[str]:
    """The look of every row by its share of `total`; rows without a number are dim."""
    limits = [limit * abs(total) for limit, _, _ in SHARES[1:]]
    looks = [look for _, look, _ in SHARES]
    return [
        looks[bisect_right(limits, value)] if isinstance(value, (int, float)) else DIM
        for value in values
    ]


def looks_of_differences(values: Sequence[object]) -> list[str]:
    """The look of every row by whether it grew or shrank."""
    return [_look_of_difference(value) for value in values]


def _look_of_difference(value: object) -> str:
    if not isinstance(value, (int, float)) or value == 0:
        return DIM
    return MORE if value > 0 else LESS


def legend(style: Style, *, is_difference: bool, of_what: str) -> str:
    """One line that says what the colours mean; empty without colours."""
    if not style.color:
        return ""
    glyphs = style.glyphs
    if is_difference:
        more, less = f"{glyphs.swatch} more", f"{glyphs.swatch} less"
        return f"{of_what}  {style.paint(more, MORE)}  {style.paint(less, LESS)}"
    marks = [
        style.paint(f"{glyphs.swatch} {text.replace('>=', glyphs.at_least)}", look)
        for _, look, text in reversed(SHARES)
    ]
    return f"share of {of_what}  " + "  ".join(marks)
