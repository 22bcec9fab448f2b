"""A whole view of a profile as lines: head, tree or sorted list, legend, what is not shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from proton.analysis import select
from proton.analysis.derive import NOT_KNOWN, derive
from proton.analysis.folding.fold_contexts import without_library
from proton.analysis.folding.library_frames import library_rows
from proton.analysis.kernel_table import recorded_by_name
from proton.analysis.measurements import find_metric, plain_name, raw_metrics, whole_of
from proton.analysis.several_devices import device_marks
from proton.analysis.tuning_runs import tuning_runs
from proton.analysis.tuning_work import TuningCost, drop_tuning, without_tuning
from proton.model.metric import TIME_NS
from proton.model.profile import TreeProfile, kind_of
from proton.model.sampling import NUM_SAMPLES
from proton.model.tree import Tree
from proton.render.display_names import name_formatter, printable
from proton.render.text.autotune_table import autotune_lines
from proton.render.text.head import counted_line, head_lines, tuning_line
from proton.render.text.kernel_remarks import short_mark, wrapped
from proton.render.text.row_labels import LineLabels, RegionLabels
from proton.render.text.style import DIM, Style, legend, looks_of_differences, looks_of_shares
from proton.render.text.table import sorted_lines
from proton.render.text.terminal import Label, draw_tree
from proton.render.text.turn_labels import TurnLabels
from proton.render.text.view_content import (
    Content,
    ViewOptions,
    content_of,
    hidden_share,
    select_rows,
    without_spare,
)
from proton.render.text.view_difference import difference_of
from proton.render.units import Notation, format_count, format_number, format_time

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
    names = [frame.name for each in (profile, against) if each for frame in each.tree.frames]
    name = name_formatter(options.frame_format, full=options.full, names=names)
    tuning = subtracted = None
    if options.without_autotune:
        profile, tuning = drop_tuning(profile)
        if against is not None:
            against, subtracted = drop_tuning(against)
    library = _library(profile, options)
    if options.without_library:
        profile = without_library(profile)
        against = None if against is None else without_library(against)
    if options.autotune:
        tried = autotune_lines(tuning_runs(profile), style)
        return [*head_lines(profile, style, tuning), *(tried or ["", "no autotuning was recorded"])]
    if against is None:
        content = content_of(profile, options, name)
        if not options.metrics:
            content = without_spare(content, style.width)
    else:
        content = difference_of(profile, against, options, name)
    if options.is_for_people:
        grouped = [replace(column, is_grouped=True) for column in content.columns]
        content = replace(content, columns=grouped)
    mask = select_rows(content, options, name)
    lines = head_lines(profile, style, tuning)
    if against is not None:
        lines += _minus(against, subtracted, style)
    if profile.trace is not None:
        lines += [style.paint(line, DIM) for line in wrapped(TRACE_NOTE, style)]
    lines.append("")
    looks, of_what = _looks(content) if style.color else (None, "")
    notes: list[str] = []
    if not any(mask[1:]) and (options.is_sorted or not mask[0]):
        lines.append(_nothing(content.tree, options, name))
    elif options.is_sorted:
        marks = content.marks or _recorded_marks(profile, content.tree)
        lines += sorted_lines(content.tree, mask, content.columns, name, style, looks, marks)
    else:
        labels = LineLabels(profile, content.hot_lines, content.lineless, style, full=options.full)
        is_plain = content.is_difference or bool(options.metrics)
        regions = RegionLabels(content.profile, content.tree, style, marks_only=is_plain)
        turns = TurnLabels(content.turns, content.columns)
        drawing = draw_tree(
            content.tree,
            mask,
            content.columns,
            name,
            style,
            looks,
            content.marks or device_marks(content.tree),
            _first_of(turns, labels, regions),
        )
        lines += drawing.lines
        notes += [*labels.explained(mask), *regions.explained(mask)]
        for note in turns.explained(mask, content.tree):
            notes += wrapped(note, style)
        if drawing.is_capped:
            deeper = f"{style.glyphs.deeper}N"
            notes.append(
                f"{deeper} is a context at depth N, below the {drawing.levels} drawn levels"
            )
    said = [*_notes(profile, content), *content.notes, *library]
    if options.says_autotune and (counted := without_tuning(profile).cost) is not None:
        said.append(counted_line(counted))
    said += filter(None, [_hidden(content, mask, options)])
    notes += [part for note in said for part in wrapped(note, style)]
    notes = [style.paint(note, DIM) for note in notes]
    if looks is not None:
        notes.insert(0, legend(style, is_difference=content.is_difference, of_what=of_what))
    return [*lines, "", *notes] if notes else lines


def _minus(against: TreeProfile, tuning: TuningCost | None, style: Style) -> list[str]:
    """What is subtracted, with its total: differences say little without it."""
    time_ns = whole_of(against.tree, TIME_NS)
    total = "" if time_ns is None else f"   total {format_time(time_ns)}"
    lines = wrapped(f"minus {printable(against.source)}{total}", style)
    return lines if tuning is None else [*lines, *wrapped(tuning_line(tuning), style)]


def _recorded_marks(profile: TreeProfile, flat: Tree) -> list[str] | None:
    """A few words behind kernels that recording changed; None where there are none."""
    recorded = recorded_by_name(profile)
    marks = [short_mark(recorded.get(frame.name, ())) for frame in flat.frames]
    return marks if any(marks) else None


def _library(profile: TreeProfile, options: ViewOptions) -> list[str]:
    """How many contexts are frames of libraries, where they are hidden or could be."""
    if not (options.without_library or options.is_for_people):
        return []
    hidden = sum(library_rows(profile.tree, partial(kind_of, profile)))
    if not hidden:
        return []
    amount = f"{format_count(hidden)} of {format_count(len(profile.tree))} contexts"
    if not options.without_library:
        return [f"{amount} are frames of libraries; --hide library leaves them out"]
    return [f"--hide library left out {amount}; what they took stands in those above them"]


def _first_of(*labels: LineLabels | RegionLabels | TurnLabels) -> Label | None:
    """Writes rows as the first that knows them does; None where no row says more than a name."""
    known = [each.label for each in labels if each]
    if not known:
        return None
    return lambda row, name, room: next(
        (text for label in known if (text := label(row, name, room)) is not None), None
    )


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


def _notes(profile: TreeProfile, content: Content) -> list[str]:
    notes: list[str] = []
    if not content.columns:
        notes.append("no metrics were recorded in these contexts")
    if any(NOT_KNOWN in column.values for column in content.columns):
        notes.append(f"{NOT_KNOWN}: the peak rates of this device are not known")
    if profile.autotune:
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
