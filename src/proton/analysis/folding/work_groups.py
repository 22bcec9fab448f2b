"""The work of a program by module, operator, kernel or line: one table each, with equal sums.

Every kernel and the own time of every operator and scope on the host stand in one row of each
table: that of the innermost module, operator or line around it. Backward work counts where its
forward path leads to, so that a row has both; what checkpointing did again is told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from proton.analysis.folding.library_frames import is_library, python_file
from proton.analysis.select import Mask, everything
from proton.model.frame import Frame, FrameKind
from proton.model.host_time import RECOMPUTE, self_times
from proton.model.metric import CALLS, COUNT, TIME_NS
from proton.model.tree import Tree

By = Literal["module", "op", "kernel", "line"]
BY: tuple[By, ...] = ("module", "op", "kernel", "line")
PHASES = ("forward", "backward", "recompute")
FORWARD, BACKWARD, RECOMPUTED = range(3)
_WORK = (FrameKind.KERNEL, FrameKind.COPY)


class WorkPlace(NamedTuple):
    """Where work was done; a name is empty where nothing of its kind is around."""

    module: str = ""
    op: str = ""
    kernel: str = ""
    line: str = ""
    phase: int = FORWARD


@dataclass(slots=True)
class Work:
    """What was done in one place, or in several."""

    time_ns: float = 0  # of kernels and copies
    count: float = 0  # how often they ran
    cpu_ns: float = 0  # of operators and scopes, without those inside
    calls: float = 0  # of operators

    def add(self, other: Work) -> None:
        """Take in what was done elsewhere."""
        self.time_ns += other.time_ns
        self.count += other.count
        self.cpu_ns += other.cpu_ns
        self.calls += other.calls


@dataclass(frozen=True, slots=True)
class GroupRow:
    """All work of one module, operator, kernel or line."""

    name: str  # empty: what has none
    work: Work
    time_ns: tuple[float, float, float]  # forward, backward, recomputed
    cpu_ns: tuple[float, float, float]


def work_places(tree: Tree, mask: Mask | None = None) -> dict[WorkPlace, Work]:
    """What was done, by every place in which something was; of the rows that `mask` keeps."""
    kept = everything(tree) if mask is None else mask
    self_ns = self_times(tree)
    is_line = cache(_is_line)
    places = [WorkPlace()] * len(tree)
    found: dict[WorkPlace, Work] = {}
    for row in range(1, len(tree)):
        frame, own = tree.frames[row], tree.own[row]
        above = places[tree.parents[row]]
        place = places[row] = _inside(above, frame, is_line(frame))
        if not kept[row]:
            continue
        work = Work(_number(own.get(TIME_NS)), _number(own.get(COUNT)), self_ns[row] or 0)
        if frame.kind is FrameKind.OPERATOR:
            # What backward work calls is no call of the operator that it belongs to.
            is_called = place.phase != BACKWARD or place != above
            work.calls = _number(own.get(CALLS)) if is_called else 0
        if work != Work():
            found.setdefault(place, Work()).add(work)
    return found


def _inside(above: WorkPlace, frame: Frame, is_line: bool) -> WorkPlace:
    """The place of a frame, given that of the one above it."""
    kind, is_backward = frame.kind, above.phase == BACKWARD
    if kind in _WORK:
        return above._replace(kernel=frame.name)
    if kind is FrameKind.BACKWARD:
        again = frame.name == RECOMPUTE
        return above._replace(phase=RECOMPUTED, op="") if again else above._replace(phase=BACKWARD)
    # Backward work belongs to what is known of its forward path.
    if kind is FrameKind.MODULE and not (is_backward and above.module):
        return above._replace(module=frame.name)
    if kind is FrameKind.OPERATOR and not (is_backward and above.op):
        return above._replace(op=frame.name)
    if is_line and not (is_backward and above.line):
        return above._replace(line=frame.name)
    return above


def _is_line(frame: Frame) -> bool:
    return python_file(frame) is not None and not is_library(frame)


def _number(value: object) -> float:
    return value if isinstance(value, (int, float)) else 0


def group_rows(places: Mapping[WorkPlace, Work], by: By) -> list[GroupRow]:
    """The rows of one table, those with the most time first: on GPUs, or on the host without."""
    sums: dict[str, list[Work]] = {}
    for place, work in places.items():
        phases = sums.setdefault(getattr(place, by), [Work(), Work(), Work()])
        phases[place.phase].add(work)
    if by == "kernel":
        sums.pop("", None)  # operators around are no kernel
    rows = [
        GroupRow(name, sum_of(phases), _each(phases, "time_ns"), _each(phases, "cpu_ns"))
        for name, phases in sums.items()
    ]
    rows.sort(key=lambda row: (-row.work.time_ns, -row.work.cpu_ns, row.name))
    return rows


def _each(phases: Sequence[Work], what: str) -> tuple[float, float, float]:
    forward, backward, again = (getattr(work, what) for work in phases)
    return forward, backward, again


def sum_of(works: Iterable[Work]) -> Work:
    """All of `works` together."""
    whole = Work()
    for work in works:
        whole.add(work)
    return whole


def work_entry(work: Work) -> dict[str, object]:
    """Work as a plain object: times in nanoseconds."""
    return {
        "time_ns": work.time_ns,
        "kernels": work.count,
        "cpu_ns": work.cpu_ns,
        "calls": work.calls,
    }


def group_entries(rows: Sequence[GroupRow]) -> list[dict[str, object]]:
    """The rows of a table as plain objects; shares are of GPU time, or of the host's without."""
    whole = sum_of(row.work for row in rows)
    total = whole.time_ns or whole.cpu_ns
    times = [row.work.time_ns if whole.time_ns else row.work.cpu_ns for row in rows]
    return [
        {
            **work_entry(row.work),
            "share": time / total if total else None,
            **{f"{name}_ns": each for name, each in zip(PHASES, row.time_ns, strict=True)},
            **{f"cpu_{name}_ns": each for name, each in zip(PHASES, row.cpu_ns, strict=True)},
        }
        for row, time in zip(rows, times, strict=True)
    ]
