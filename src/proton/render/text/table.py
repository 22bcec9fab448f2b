"""Flat listings: contexts by size, the metrics of a profile, what autotuning tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap

from proton.analysis.derive import Column, derivable_families
from proton.analysis.measurements import plain_name, raw_metrics, unit_of
from proton.analysis.select import Mask
from proton.analysis.tuning_runs import TunedConfig, TuningRun
from proton.model.profile import TreeProfile, kind_of
from proton.model.tree import Tree
from proton.render.display_names import cut_middle, cut_name, printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.head import head_lines
from proton.render.text.style import BOLD, DIM, Style
from proton.render.text.terminal import aligned_cells
from proton.render.units import MISSING, column_time_unit, format_count, format_number

_LEAST_NAME_ROOM = 16
_CONFIG_LINES = 4
_GAP = "   "
_LISTING_WIDTH = 100  # of lists of words that go to a file


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
    tree = profile.tree
    measured = [
        (
            printable(plain_name(metric)),
            printable(unit_of(metric)),
            kind_of(profile, metric).value,
            format_count(sum(metric in own for own in tree.own[1:])),
        )
        for metric in raw_metrics(tree)
    ]
    titles = ("measured", "unit", "adds up", "contexts")
    lines = table_lines(titles, measured, style, align="<<<>", gap=_GAP)
    families = derivable_families(profile)
    margin = max(map(len, ("derived", *families))) + len(_GAP)
    room = max((style.width or _LISTING_WIDTH) - margin, _LEAST_NAME_ROOM)
    lines += ["", style.paint("derived", BOLD)]
    for family, words in families.items():
        parts = wrap(printable("  ".join(words)), room, break_on_hyphens=False)
        heads = [family, *[""] * (len(parts) - 1)]
        lines += (f"{head:<{margin}}{part}" for head, part in zip(heads, parts, strict=True))
    return [*head_lines(profile, style), "", *lines]


def autotune_lines(runs: Sequence[TuningRun], style: Style) -> list[str]:
    """Every tuned kernel: what was tried, how long it took, which one won."""
    return [line for run in runs for line in ("", *_tuned_kernel(run, style))]


def _tuned_kernel(run: TuningRun, style: Style) -> list[str]:
    title = f"autotune {run.kernel or '?'}" + (f" [{', '.join(run.key)}]" if run.key else "")
    if run.path:
        title += " in " + " / ".join(run.path)
    if run.interpreted:
        title += " (interpreted)"
    times = [config.time_ns for config in run.configs]
    unit, length = column_time_unit(max((time for time in times if time is not None), default=0))
    cells = [MISSING if time is None else format_number(time / length) for time in times]
    width = max([len(unit), *map(len, cells)])
    lines = [style.paint(printable(title), BOLD), f"  {unit:>{width}}"]
    for index, (config, cell) in enumerate(zip(run.configs, cells, strict=True)):
        is_winner = index == run.winner
        note = f" failed: {config.error}" if config.error else " <- winner" if is_winner else ""
        text = printable(f"{config.config or '?'}{_resources(config)}{note}")
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


def _resources(config: TunedConfig) -> str:
    """What a configuration's kernel needs, where the recording knows."""
    needs = {
        "registers": config.registers,
        "spills": config.spills,
        "bytes shared": config.shared_bytes,
    }
    known = [f"{amount} {text}" for text, amount in needs.items() if amount is not None]
    return f" ({', '.join(known)})" if known else ""
