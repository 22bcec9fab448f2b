"""Flat listings: contexts by size, the metrics of a profile, what autotuning tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from textwrap import wrap
from typing import Any

from proton.analysis import catalog
from proton.analysis.derive import Column, derivable_families
from proton.analysis.select import Mask
from proton.model.kinds import kind_of
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.display_names import cut_middle, cut_name, printable
from proton.render.text.head import head_lines
from proton.render.text.style import BOLD, DIM, Style
from proton.render.text.terminal import aligned_cells
from proton.render.units import MISSING, format_count, format_number, readable_time_unit

_LEAST_NAME_ROOM = 16
_CONFIG_LINES = 4


def sorted_lines(
    tree: Tree,
    mask: Mask,
    columns: Sequence[Column],
    name: Callable[[str], str],
    style: Style,
    looks: Sequence[str] | None = None,
    marks: Sequence[str] | None = None,
) -> list[str]:
    """The rows below the root, the largest value of the first column on top; dashes last."""
    values = columns[0].values if columns else [None] * len(tree)

    def size(row: int) -> tuple[bool, float]:
        value = values[row]
        return (True, abs(value)) if isinstance(value, (int, float)) else (False, 0.0)

    rows = sorted((row for row in range(1, len(tree)) if mask[row]), key=size, reverse=True)
    cells, header = aligned_cells(columns, rows, pad=True)
    lines = [style.paint(f"{header}name", BOLD)]
    room = None if style.width is None else max(style.width - len(header), _LEAST_NAME_ROOM)
    for row, cell in zip(rows, cells, strict=True):
        text = name(tree.frames[row].name)
        if marks is not None and marks[row]:
            text = f"{text} {marks[row]}"
        line = cell + (text if room is None else cut_name(text, room))
        lines.append(style.paint(line, looks[row]) if looks is not None else line)
    return lines


def metric_lines(profile: TreeProfile, style: Style) -> list[str]:
    """What can be asked for with -m: the metrics measured, then the ones derived from them."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    tree = profile.tree
    measured = Table("measured", "unit", "adds up", box=SIMPLE_HEAD, pad_edge=False)
    measured.add_column("contexts", justify="right")
    for metric in catalog.raw_metrics(tree):
        cells = (
            catalog.plain_name(metric),
            catalog.unit_of(metric),
            kind_of(profile, metric).value,
            format_count(sum(metric in own for own in tree.own[1:])),
        )
        measured.add_row(*(Text(printable(cell)) for cell in cells))
    derived = Table("derived", "", box=SIMPLE_HEAD, pad_edge=False)
    for family, words in derivable_families(profile).items():
        derived.add_row(family, Text(printable("  ".join(words))))
    out = StringIO()
    console = Console(
        file=out,
        width=style.width or 100,
        force_terminal=style.color,
        color_system="standard" if style.color else None,
        legacy_windows=False,
    )
    console.print(measured)
    console.print(derived)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return [*head_lines(profile, style), *lines]


def autotune_lines(records: Sequence[Mapping[str, Any]], style: Style) -> list[str]:
    """Every tuned kernel: what was tried, how long it took, which one won."""
    lines: list[str] = []
    for record in records:
        lines += ["", *_tuned_kernel(record, style)]
    return lines


def _tuned_kernel(record: Mapping[str, Any], style: Style) -> list[str]:
    key = ", ".join(map(str, _listed(record, "key")))
    title = f"autotune {record.get('kernel', '?')}" + (f" [{key}]" if key else "")
    if path := _listed(record, "path"):
        title += " in " + " / ".join(map(str, path))
    if record.get("interpreted"):
        title += " (interpreted)"
    configs = [each for each in _listed(record, "configs") if isinstance(each, Mapping)]
    times = [config.get("time_ns") for config in configs]
    known = [time for time in times if isinstance(time, (int, float))]
    unit, length = readable_time_unit(max(known, default=0))
    cells = [
        format_number(time / length) if isinstance(time, (int, float)) else MISSING
        for time in times
    ]
    width = max([len(unit), *map(len, cells)])
    lines = [style.paint(printable(title), BOLD), f"  {unit:>{width}}"]
    for index, (config, cell) in enumerate(zip(configs, cells, strict=True)):
        is_winner = index == record.get("winner")
        note = " <- winner" if is_winner else ""
        if error := config.get("error"):
            note = f" failed: {error}"
        text = printable(f"{config.get('config', '?')}{_resources(config)}{note}")
        look = BOLD if is_winner else DIM
        if style.width is None:
            lines.append(style.paint(f"  {cell:>{width}}  {text}", look))
            continue
        # Wrapped, not cut: what tells two configurations apart may stand anywhere in them.
        room = max(style.width - width - 4, _LEAST_NAME_ROOM)
        parts = wrap(cut_middle(text, _CONFIG_LINES * room), room, subsequent_indent="  ")
        for part in parts or [""]:
            lines.append(style.paint(f"  {cell:>{width}}  {part}", look))
            cell = ""
    return lines


def _resources(config: Mapping[str, Any]) -> str:
    """What a configuration's kernel needs, where the recording knows."""
    named = {"registers": "registers", "spills": "spills", "shared_bytes": "bytes shared"}
    known = [f"{config[key]} {text}" for key, text in named.items() if key in config]
    return f" ({', '.join(known)})" if known else ""


def _listed(record: Mapping[str, Any], key: str) -> Sequence[Any]:
    """A field that should be a list; records come from files, so it may be anything."""
    value = record.get(key)
    return value if isinstance(value, (list, tuple)) else ()
