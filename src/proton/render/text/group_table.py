"""The work of a program by module, operator, kernel or line: what `--group-by` prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from proton.analysis.folding.fold_contexts import fold_contexts, fold_profile
from proton.analysis.folding.work_groups import (
    PHASES,
    By,
    GroupRow,
    Work,
    group_entries,
    group_rows,
    sum_of,
    work_entry,
    work_places,
)
from proton.analysis.select import Mask
from proton.analysis.tuning_work import TuningCost, drop_tuning
from proton.errors import UsageError
from proton.model.profile import TreeProfile
from proton.render.display_names import cell_width, cut_names, name_formatter
from proton.render.text.aligned_table import table_lines
from proton.render.text.digest import tuning_entry
from proton.render.text.digest_markdown import code, markdown_table
from proton.render.text.head import head_lines, tuning_line, work_time
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.style import DIM, Style
from proton.render.text.view_content import ViewOptions, named_rows
from proton.render.units import MISSING, Notation, column_time_unit, format_count, format_number

SCHEMA = "proton-groups/1"
_OUTSIDE = {
    "module": "(outside of modules)",
    "op": "(outside of operators)",
    "kernel": "",
    "line": "(outside of the program's lines)",
}
_MISSING = {
    "module": "no modules were recorded; proton -c blame SCRIPT records them",
    "op": "no operators were recorded; proton -c ops SCRIPT records them",
    "kernel": "no kernel ran; --group-by op, module and line have the time of the host",
    "line": "no lines of the program were recorded; proton -c blame SCRIPT records them",
}
_NAME_ROOM = 28  # columns that names keep, where other columns can give way
_GIVE_WAY = ("kernels", "share %", "operator calls", "calls", "recompute")  # the first first
_GAP = 2


@dataclass(frozen=True, slots=True)
class Groups:
    """One table, as `groups_of` makes it."""

    by: By
    rows: Sequence[GroupRow]
    whole: Work
    names: Mapping[str, str]  # in files -> as people read them
    work_title: str  # of the time of kernels


def group_view(
    whole: TreeProfile, by: By, options: ViewOptions, style: Style, form: str = "text"
) -> list[str]:
    """The lines of a table by module, operator, kernel or line.

    Args:
        whole: A profile as `prepare` returns it.
        by: What a row stands for.
        options: Filters by name, whether layers are one, and how names read.
        style: Colours and width.
        form: `text`, `json` or `markdown`.

    Raises:
        UsageError: Nothing to group by was recorded.
    """
    profile, tuning = drop_tuning(whole) if options.without_autotune else (whole, None)
    if options.fold_numbered and (folding := fold_contexts(profile.tree)) is not None:
        profile = fold_profile(profile, folding)
    frames = [frame.name for frame in profile.tree.frames]
    name = name_formatter(options.frame_format, full=options.full, names=frames)
    groups = groups_of(profile, by, named_rows(profile.tree, options, name), name)
    if form == "json":
        return [json.dumps(_digest(profile, groups, tuning), indent=2, allow_nan=False)]
    if form == "markdown":
        return _markdown(profile, groups, tuning)
    style = replace(style, width=None) if options.full else style
    return [*head_lines(profile, style, tuning), "", *_lines(groups, style)]


def groups_of(
    profile: TreeProfile,
    by: By,
    mask: Mask | None = None,
    name: Callable[[str], str] = str,
) -> Groups:
    """The table of a prepared profile.

    Args:
        profile: What to show.
        by: What a row stands for.
        mask: Which contexts count; None: all.
        name: How names of files read.

    Raises:
        UsageError: Nothing to group by was recorded.
    """
    rows = group_rows(work_places(profile.tree, mask), by)
    if not any(row.name for row in rows):
        raise UsageError(f"{profile.source}: {_MISSING[by]}")
    names = {row.name: name(row.name) if row.name else _OUTSIDE[by] for row in rows}
    title = work_time(is_interpreted=True) if profile.is_interpreted else "GPU"
    return Groups(by, rows, sum_of(row.work for row in rows), names, title)


def _lines(groups: Groups, style: Style) -> list[str]:
    """A line a row, the largest first; the last is all of them."""
    titles, cells = _cells(groups)
    names = [groups.names[row.name] for row in groups.rows]
    if style.width is not None:
        titles, cells, room = _fitting(titles, cells, max(map(cell_width, names)), style.width)
        names = cut_names(names, room)
    rows = [(name, *cell) for name, cell in zip((*names, "all"), cells, strict=True)]
    lines = table_lines((groups.by, *titles), rows, style, align="<" + ">" * len(titles))
    notes = [style.paint(part, DIM) for note in _notes(groups) for part in wrapped(note, style)]
    return [*lines, "", *notes] if notes else lines


def _fitting(
    titles: list[str], cells: list[list[str]], longest: int, width: int
) -> tuple[list[str], list[list[str]], int]:
    """The columns for which there is room beside names, and the room that names then have."""
    rooms = [max(map(cell_width, column)) for column in zip(titles, *cells, strict=True)]
    kept = list(range(len(titles)))
    room = width - sum(rooms) - _GAP * len(rooms)
    for title in _GIVE_WAY:
        if room < min(longest, _NAME_ROOM) and title in titles:
            at = titles.index(title)
            kept.remove(at)
            room += rooms[at] + _GAP
    shown = [[row[at] for at in kept] for row in cells]
    return [titles[at] for at in kept], shown, max(room, 12)


def _notes(groups: Groups) -> list[str]:
    """What the table means, where that is not plain."""
    if groups.by == "kernel":
        return []
    said = f"work counts at the innermost {_WORDS[groups.by]} around it"
    has_backward = any(row.time_ns[1] or row.cpu_ns[1] for row in groups.rows)
    return [f"{said}, backward work where its forward path leads to" if has_backward else said]


_WORDS = {"module": "module", "op": "operator", "line": "line of the program"}


def _cells(groups: Groups) -> tuple[list[str], list[list[str]]]:
    """The titles and cells behind the names: a row each, then all together."""
    works = [*(row.work for row in groups.rows), groups.whole]
    columns: list[tuple[str, list[str]]] = []
    if groups.whole.time_ns:
        columns += _times(groups.work_title, groups, [work.time_ns for work in works], "time_ns")
        columns.append(("kernels", [_count(work.count) for work in works]))
    if groups.whole.cpu_ns:
        columns += _times("CPU", groups, [work.cpu_ns for work in works], "cpu_ns")
    if groups.whole.calls:
        title = "calls" if groups.by == "op" else "operator calls"
        columns.append((title, [_count(work.calls) for work in works]))
    cells = [[cells[at] for _, cells in columns] for at in range(len(works))]
    return [title for title, _ in columns], cells


def _times(
    where: str, groups: Groups, times_ns: Sequence[float], key: str
) -> list[tuple[str, list[str]]]:
    """A time, its share, and what of it is forward, backward and recomputed, where it is split.

    Time of the host is split where there is no other.
    """
    unit, length = column_time_unit(times_ns[-1])
    whole = times_ns[-1]
    columns = [(f"{where} {unit}", [_in(time, length) for time in times_ns])]
    if where == "CPU" and groups.whole.time_ns:
        return columns
    columns.append(("share %", [_in(time, whole / 100, 1) for time in times_ns]))
    phases = list(zip(*(getattr(row, key) for row in groups.rows), strict=True))
    if any(phases[1]) or any(phases[2]):
        columns += [
            (title, [_in(time, length) for time in (*each, sum(each))])
            for title, each in zip(PHASES, phases, strict=True)
            if any(each)
        ]
    return columns


def _in(value: float, length: float, decimals: int = 3) -> str:
    return format_number(value / length, Notation(decimals)) if value else MISSING


def _count(count: float) -> str:
    return format_count(count) if count else MISSING


def _markdown(profile: TreeProfile, groups: Groups, tuning: TuningCost | None) -> list[str]:
    """The same as a table of Markdown."""
    titles, cells = _cells(groups)
    names = [*(code(groups.names[row.name]) for row in groups.rows), "all"]
    rows = [(name, *cell) for name, cell in zip(names, cells, strict=True)]
    title = f"# Profile {code(profile.source)} by {_WORDS.get(groups.by, groups.by)}"
    lines = [title, "", *markdown_table((groups.by, *titles), rows)]
    notes = [*_notes(groups), *([] if tuning is None else [tuning_line(tuning)])]
    return [*lines, *(line for note in notes for line in ("", note))]


def _digest(profile: TreeProfile, groups: Groups, tuning: TuningCost | None) -> dict[str, object]:
    """The same as an object for scripts: times in nanoseconds, shares 0 to 1."""
    return {
        "schema": SCHEMA,
        "source": profile.source,
        "group_by": groups.by,
        "total": work_entry(groups.whole),
        "autotuning": tuning_entry(tuning),
        "rows": [
            {"name": row.name or None, "shown": groups.names[row.name], **entry}
            for row, entry in zip(groups.rows, group_entries(groups.rows), strict=True)
        ],
    }
