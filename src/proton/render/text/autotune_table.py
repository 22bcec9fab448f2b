"""What autotuning tried: a table for each tuned kernel, the fastest configuration first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from proton.analysis.tuning_runs import TunedConfig, TuningRun
from proton.render.display_names import cell_width, cut_middle, printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.style import BOLD, DIM, Style
from proton.render.units import MISSING, Notation, column_time_unit, format_count, format_number

_INDENT = "  "
_GAP = "  "
_LEAST_ROOM = 16
_MOST_LINES = 4  # of one configuration, or of what is equal in all
_TITLES = {"num_warps": "warps", "num_stages": "stages"}
_WINNER = "<- winner"


def autotune_lines(runs: Sequence[TuningRun], style: Style) -> list[str]:
    """Every tuned kernel: what was tried, how long it took, which one won."""
    return [line for run in runs for line in ("", *_tuned_kernel(run, style))]


def _tuned_kernel(run: TuningRun, style: Style) -> list[str]:
    title = f"autotune {run.kernel or '?'}" + (f" [{', '.join(run.key)}]" if run.key else "")
    if run.path:
        title += " in " + " / ".join(run.path)
    if run.interpreted:
        title += " (interpreted)"
    lines = [style.paint(printable(title), BOLD)]
    if not run.configs:
        return lines
    order = sorted(range(len(run.configs)), key=lambda at: _time_of(run.configs[at]))
    settings = [_settings(run.configs[at]) for at in order]
    same = _same(settings)
    lines += _wrapped(_about(run, same), style, _INDENT)
    names = [
        name for name in dict.fromkeys(n for each in settings for n in each) if name not in same
    ]
    unit, length = column_time_unit(max((c.time_ns or 0 for c in run.configs), default=0))
    notation = Notation(3 if length > 1 else 0)
    table = [
        [
            MISSING if config.time_ns is None else format_number(config.time_ns / length, notation),
            *(each.get(name, MISSING) for name in names),
            _over(config),
        ]
        for config, each in zip((run.configs[at] for at in order), settings, strict=True)
    ]
    titles = [unit, *(_TITLES.get(name, name) for name in names), "over best"]
    looks = [BOLD if at == run.winner else DIM for at in order]
    remarks = [_remark(run, at) for at in order]
    if not _fits(titles, table, remarks, style):
        return lines + _listed(unit, table, names, remarks, looks, style)
    plain = Style(color=False, width=None, glyphs=style.glyphs)
    drawn = table_lines(titles, table, plain, align=">" * len(titles), gap=_GAP)
    lines.append(style.paint(_INDENT + drawn[0], BOLD))
    for line, remark, look in zip(drawn[1:], remarks, looks, strict=True):
        lines += _with_remark(line, remark, look, style)
    return lines


def _time_of(config: TunedConfig) -> tuple[bool, float]:
    """Sorts the fastest first, and last what has no time."""
    return (config.time_ns is None, config.time_ns or 0.0)


def _settings(config: TunedConfig) -> dict[str, str]:
    """What a configuration set, and what its kernel needs where the recording knows."""
    found: dict[str, str] = {}
    for part in filter(None, config.config.split(", ")):
        name, colon, value = part.partition(": ")
        if not colon:  # no list of settings
            found = {"configuration": config.config}
            break
        found[name] = value
    needs = {"regs": config.registers, "spills": config.spills, "shared": config.shared_bytes}
    found |= {name: f"{amount:.0f}" for name, amount in needs.items() if amount is not None}
    return {printable(name): printable(value) for name, value in found.items()}


def _same(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The settings that are equal in all of several configurations."""
    if len(settings) < 2:
        return {}
    return {
        name: value
        for name, value in settings[0].items()
        if all(other.get(name) == value for other in settings[1:])
    }


def _about(run: TuningRun, same: Mapping[str, str]) -> str:
    text = f"{format_count(len(run.configs))} tried"
    if run.failed:
        text += f", {format_count(run.failed)} failed"
    if same:
        text += "; in all: " + ", ".join(f"{name}: {value}" for name, value in same.items())
    return text


def _over(config: TunedConfig) -> str:
    """How much longer than the winner."""
    over = config.over_best
    return "" if over is None or over == 1 else f"{100 * (over - 1):+.1f} %"


def _remark(run: TuningRun, at: int) -> str:
    if error := run.configs[at].error:
        return printable(f"failed: {error}")
    return _WINNER if at == run.winner else ""


def _fits(
    titles: Sequence[str], table: Sequence[Sequence[str]], remarks: Sequence[str], style: Style
) -> bool:
    if style.width is None:
        return True
    rooms = [max(map(cell_width, column)) for column in zip(titles, *table, strict=True)]
    mark = len(_GAP + _WINNER) if _WINNER in remarks else 0
    return len(_INDENT) + sum(rooms) + len(_GAP) * (len(rooms) - 1) + mark <= style.width


def _with_remark(line: str, remark: str, look: str, style: Style) -> list[str]:
    """A row with its remark behind it, or below it where there is no room."""
    whole = f"{_INDENT}{line}{_GAP}{remark}".rstrip()
    if style.width is None or cell_width(whole) <= style.width:
        return [style.paint(whole, look)]
    below = _wrapped(remark, style, 3 * _INDENT)
    return [style.paint(part, look) for part in (_INDENT + line.rstrip(), *below)]


def _listed(
    unit: str,
    table: Sequence[Sequence[str]],
    names: Sequence[str],
    remarks: Sequence[str],
    looks: Sequence[str],
    style: Style,
) -> list[str]:
    """The rows as text, where there are too many columns for the width."""
    width = max([len(unit), *(len(row[0]) for row in table)])
    lines = [style.paint(f"{_INDENT}{unit:>{width}}", BOLD)]
    for (time, *values, over), remark, look in zip(table, remarks, looks, strict=True):
        told = [f"{name}: {value}" for name, value in zip(names, values, strict=True)]
        front = f"{_INDENT}{time:>{width}}{_GAP}{remark if remark == _WINNER else over}"
        lines.append(style.paint(front.rstrip(), look))
        for text in filter(None, (", ".join(told), "" if remark == _WINNER else remark)):
            below = _wrapped(text, style, " " * (len(_INDENT) + width + len(_GAP)))
            lines += [style.paint(part, look) for part in below]
    return lines


def _wrapped(text: str, style: Style, indent: str) -> list[str]:
    """Wrapped, not cut: what tells two configurations apart may stand anywhere in them."""
    if style.width is None:
        return [indent + text]
    room = max(style.width - len(indent), _LEAST_ROOM)
    parts = wrap(cut_middle(text, _MOST_LINES * room), room, subsequent_indent=_INDENT)
    return [indent + part for part in parts]
