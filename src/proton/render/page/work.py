"""The part `work`: what a program did, by module, operator, kernel and line at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.folding.work_groups import work_places
from proton.model.frame import FrameKind
from proton.model.profile import TreeProfile
from proton.render.page.pack import ColumnId, Columns

_FRAMEWORK = (FrameKind.MODULE, FrameKind.OPERATOR)


@dataclass(frozen=True, slots=True)
class WorkPart:
    """Work by place: a list each, with an entry for every place in which something was done.

    `module`, `op`, `kernel` and `line` are places in `names`, of which the first is empty: nothing
    of that kind is around. `phase` is 0 forward, 1 backward, 2 recomputed.
    """

    names: Sequence[str]
    module: ColumnId
    op: ColumnId
    kernel: ColumnId
    line: ColumnId
    phase: ColumnId
    time_ns: ColumnId  # of kernels and copies
    count: ColumnId  # how often they ran
    cpu_ns: ColumnId  # of operators and scopes, without those inside
    calls: ColumnId  # of operators


def work_part(profile: TreeProfile, columns: Columns) -> WorkPart | None:
    """The work of a program whose modules or operators were recorded; None for others."""
    tree = profile.tree
    if not any(frame.kind in _FRAMEWORK for frame in tree.frames):
        return None
    places = work_places(tree)
    numbers = {"": 0}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    works = places.values()
    return WorkPart(
        module=columns.add("u32", [number(place.module) for place in places]),
        op=columns.add("u32", [number(place.op) for place in places]),
        kernel=columns.add("u32", [number(place.kernel) for place in places]),
        line=columns.add("u32", [number(place.line) for place in places]),
        phase=columns.add("u32", [place.phase for place in places]),
        time_ns=columns.add("f64", [work.time_ns for work in works]),
        count=columns.add("f64", [work.count for work in works]),
        cpu_ns=columns.add("f64", [work.cpu_ns for work in works]),
        calls=columns.add("f64", [work.calls for work in works]),
        names=list(numbers),
    )
