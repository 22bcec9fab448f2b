"""A whole view of a profile as lines: head, tree or sorted list, legend, what is not shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from proton.analysis import select
from proton.analysis.derive import NOT_KNOWN, derive
from proton.analysis.measurements import find_metric, plain_name, raw_metrics
from proton.analysis.tuning_runs import tuning_runs
from proton.model.profile import TreeProfile
from proton.model.sampling import NUM_SAMPLES
from proton.model.tree import Tree
from proton.render.display_names import name_formatter, printable
from proton.render.text.head import head_lines
from proton.render.text.row_labels import LineLabels, RegionLabels
from proton.render.text.style import DIM, Style, legend, looks_of_differences, looks_of_shares
from proton.render.text.table import autotune_lines, sorted_lines
from proton.render.text.terminal import Label, draw_tree
from proton.render.text.view_content import (
    Content,
    ViewOptions,
    content_of,
    hidden_share,
    select_rows,
)
from proton.render.units import Notation, format_count, format_number

TRACE_NOTE = "a trace: spans of one path are summed here; proton report shows the timeline"


def view_lines(
    profile: TreeProfile, options: ViewOptions, style: Style, against: TreeProfile | None = None
) -> list[str]:
    """The lines of a view.

    Args:
        profile: What to show, as `prepare` returns it.
        options: What of it.
        style: How.
        against: Show the difference to this profile (also prepared): `profile` minus `against`.

    Raises:
        UsageError: An option does not fit the profile; the message says which and why.
    """
    if options.full:
        style = replace(style, width=None)
    name = name_formatter(options.frame_format, full=options.full)
    content = content_of(profile, options, against, name)
    mask = select_rows(content, options, name)
    lines = head_lines(profile, style)
    if against is not None:
        lines.append(f"minus {printable(against.source)}")
    if profile.trace is not None:
        lines.append(style.paint(TRACE_NOTE, DIM))
    lines.append("")
    looks, of_what = _looks(content) if style.color else (None, "")
    notes: list[str] = []
    if not any(mask[1:]) and (options.is_sorted or not mask[0]):
        lines.append(_nothing(content.tree, options, name))
    elif options.is_sorted:
        lines += sorted_lines(
            content.tree, mask, content.columns, name, style, looks, content.marks
        )
    else:
        labels = LineLabels(profile, content.hot_lines, content.lineless, style, full=options.full)
        is_plain = content.is_difference or bool(options.metrics)
        regions = RegionLabels(profile, content.tree, style, marks_only=is_plain)
        drawing = draw_tree(
            content.tree,
            mask,
            content.columns,
            name,
            style,
            looks,
            content.marks,
            _either(labels, regions),
        )
        lines += drawing.lines
        notes += [*labels.explained(mask), *regions.explained(mask)]
        if drawing.is_capped:
            deeper = f"{style.glyphs.deeper}N"
            notes.append(
                f"{deeper} is a context at depth N, below the {drawing.levels} drawn levels"
            )
    if options.autotune:
        lines += autotune_lines(tuning_runs(profile), style) or ["", "no autotuning was recorded"]
    notes += _notes(profile, content, options)
    if hidden := _hidden(content, mask, options):
        notes.append(hidden)
    notes = [style.paint(note, DIM) for note in notes]
    if looks is not None:
        notes.insert(0, legend(style, is_difference=content.is_difference, of_what=of_what))
    return [*lines, "", *notes] if notes else lines


def _either(lines: LineLabels, regions: RegionLabels) -> Label | None:
    """Writes rows that are source lines or regions; None where there are none."""
    if not regions:
        return lines.label if lines else None
    return lambda row, name, room: lines.label(row, name, room) or regions.label(row, name, room)


def _nothing(tree: Tree, options: ViewOptions, name: Callable[[str], str]) -> str:
    """What stands in place of rows, with the likely reason."""
    text = "nothing to show"
    if options.include and not options.is_sorted:
        found = re.compile(options.include).search
        if any(found(name(frame.name)) for frame in tree.frames):
            wider = printable(f".*{options.include}")
            text += f": -i matches names from their start; -i {wider!r} finds more"
    return text


def _looks(content: Content) -> tuple[list[str] | None, str]:
    """The look of each row, and what it is a share of; None where nothing adds up."""
    if content.is_difference:
        column = content.columns[0]
        return looks_of_differences(column.values), column.title
    candidates = [column for column in content.columns[:1] if column.is_additive]
    if not candidates and find_metric("time", raw_metrics(content.tree)):
        candidates = derive(content.profile, ["time"])
    if not candidates or not candidates[0].total:
        return None, ""
    column = candidates[0]
    looks = looks_of_shares(column.values, column.total or 1.0)
    samples = next((each for each in content.columns if each.base == NUM_SAMPLES), None)
    if samples is not None and samples.total:
        by_samples = looks_of_shares(samples.values, samples.total)
        looks = [
            by_samples[row] if row in content.hot_lines else look for row, look in enumerate(looks)
        ]
    return looks, f"total {column.title}"


def _notes(profile: TreeProfile, content: Content, options: ViewOptions) -> list[str]:
    notes: list[str] = []
    if not content.columns:
        notes.append("no metrics were recorded in these contexts")
    if any(NOT_KNOWN in column.values for column in content.columns):
        notes.append(f"{NOT_KNOWN}: the peak rates of this device are not known")
    if profile.autotune and not options.autotune:
        times = len(profile.autotune)
        notes.append(
            f"autotuned {format_count(times)} time{'s' * (times != 1)}; --autotune lists the tries"
        )
    return notes


def _hidden(content: Content, mask: select.Mask, options: ViewOptions) -> str:
    """How much the filters took away; empty where they took nothing."""
    causes = _causes(options)
    has_other_cause = len(causes) > (
        options.depth is not None
    )  # depth hides parts of what is shown
    share = hidden_share(content, mask) if has_other_cause else None
    amounts = []
    if share is not None:
        base = plain_name(content.columns[0].base or "")
        amounts.append(f"{format_number(share, Notation(1))} % of {printable(base)}")
    if not options.is_sorted:
        hidden = len(mask) - sum(mask)
        if not hidden:
            return ""
        amounts.insert(0, f"{format_count(hidden)} of {format_count(len(mask))} contexts")
    if not causes or not amounts:
        return ""
    return f"hidden by {', '.join(causes)}: {', '.join(amounts)}"


def _causes(options: ViewOptions) -> list[str]:
    causes = []
    if options.include is not None:
        causes.append(f"-i {options.include!r}")
    if options.exclude is not None:
        causes.append(f"-e {options.exclude!r}")
    if options.threshold is not None:
        causes.append(f"-t {options.threshold:g}")
    if options.depth is not None:
        causes.append(f"-d {options.depth}")
    return causes
