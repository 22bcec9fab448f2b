"""A whole view of a profile as lines: head, tree or sorted list, legend, what is not shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from proton.analysis import catalog, diff, select
from proton.analysis.aggregate import merge_by_name, tree_of_trace
from proton.analysis.derive import NOT_KNOWN, Column, default_word, derive
from proton.analysis.fold_lines import HotLine, absorb_lines, fold_lines, is_of_samples
from proton.analysis.source_lines import is_sampled
from proton.analysis.spread import SPREAD
from proton.analysis.totals import whole_of
from proton.analysis.trace_samples import book_samples
from proton.errors import FormatError, UsageError
from proton.model.kinds import kind_of
from proton.model.metric import CPU_TIME_NS, CYCLES, TIME_NS
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.sampling import NUM_SAMPLES
from proton.model.tree import Tree
from proton.render.display_names import name_formatter, printable
from proton.render.text.head import head_lines, is_interpreted
from proton.render.text.line_labels import LineLabels, Lineless, kernels_without_lines
from proton.render.text.ranks import rank_words
from proton.render.text.region_labels import RegionLabels
from proton.render.text.style import DIM, Style, legend, looks_of_differences, looks_of_shares
from proton.render.text.table import autotune_lines, sorted_lines
from proton.render.text.terminal import Label, draw_tree
from proton.render.units import Notation, format_count, format_number, readable_time_unit

TRACE_NOTE = "a trace: spans of one path are summed here; proton report shows the timeline"


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What to show of a profile and how. Nothing is hidden unless one of these says so."""

    metrics: Sequence[str] = ()
    include: str | None = None
    exclude: str | None = None
    threshold: float | None = None
    depth: int | None = None
    frame_format: str = "full"
    full: bool = False
    is_sorted: bool = False
    autotune: bool = False


@dataclass(frozen=True, slots=True)
class _Content:
    """What is to be drawn. `profile` is flat where a sorted list was asked for."""

    profile: TreeProfile
    tree: Tree
    columns: Sequence[Column]
    is_difference: bool = False
    marks: Sequence[str] | None = None  # a word behind the names of new and gone contexts
    hot_lines: Mapping[int, HotLine] = field(default_factory=dict)  # rows that are source lines
    lineless: Mapping[int, Lineless] = field(default_factory=dict)  # sampled, but without lines


def prepare(profile: Profile) -> TreeProfile:
    """The profile as viewers show it: a tree in any case, without the cost of launch metadata.

    Raises:
        FormatError: Nothing was recorded.
    """
    if isinstance(profile, TraceProfile):
        profile = book_samples(tree_of_trace(profile))
    if not isinstance(profile, TreeProfile) or _is_empty(profile.tree):
        raise FormatError(
            f"{profile.source}: nothing was recorded: no scopes, no kernels, no metrics; "
            "was the session active while the program ran?"
        )
    return select.drop_metadata(profile)


def _is_empty(tree: Tree) -> bool:
    return len(tree) <= 1 and not any(tree.own[0].values())


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
    content = _content(profile, options, against, name)
    mask = _selection(content, options, name)
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
        lines += autotune_lines(profile.autotune, style) or ["", "no autotuning was recorded"]
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


def _content(
    profile: TreeProfile,
    options: ViewOptions,
    against: TreeProfile | None,
    name: Callable[[str], str],
) -> _Content:
    words = options.metrics or _default_words(profile)
    if not options.metrics and against is None:
        words = [*words, *rank_words(profile)]
    if against is not None and not options.metrics and not is_sampled(against):
        words = [word for word in words if word != NUM_SAMPLES]
    if not (options.metrics or options.is_sorted or against) and is_sampled(profile):
        return _folded(profile, words)
    if options.is_sorted:
        profile = _flatten(profile, words, options, name)
    columns = _derive(profile, words)
    if against is None:
        return _Content(profile, profile.tree, columns)
    try:
        if options.is_sorted:
            against = _flatten(against, words, options, name)
        others = _derive(against, words)
    except UsageError as error:
        raise UsageError(f"{against.source}: {error}") from None
    union = diff.unite(profile.tree, against.tree)
    differences = [diff.subtract(union, a, b) for a, b in zip(columns, others, strict=True)]
    return _Content(profile, union.tree, differences, True, _marks(union))


def _folded(profile: TreeProfile, words: Sequence[str]) -> _Content:
    """The hottest lines only below each kernel, which is what to see unless told otherwise."""
    tree, lines = fold_lines(profile.tree)
    profile = replace(profile, tree=tree)
    lineless = kernels_without_lines(profile, tree)
    return _Content(profile, tree, _derive(profile, words), hot_lines=lines, lineless=lineless)


def _marks(union: diff.Union) -> list[str]:
    """A word for each context that only one profile has, but not again for what is below it."""
    states = [
        "(gone)" if first == diff.ABSENT else "(new)" if second == diff.ABSENT else ""
        for first, second in zip(union.first_rows, union.second_rows, strict=True)
    ]
    return [
        "" if parent >= 0 and states[parent] == state else state
        for state, parent in zip(states, union.tree.parents, strict=True)
    ]


def _default_words(profile: TreeProfile) -> list[str]:
    """The time in the unit in which its total reads best, and samples; else the first metric."""
    if (time_ns := whole_of(profile.tree, TIME_NS)) is not None:
        words = [f"time/{readable_time_unit(time_ns)[0]}"]
    else:
        words = [word for word in (default_word(profile),) if word is not None]
    if words == [CPU_TIME_NS]:
        times = [own.get(CPU_TIME_NS) for own in profile.tree.own]
        largest = max((time for time in times if isinstance(time, (int, float))), default=0)
        words = [f"cpu_time/{readable_time_unit(largest)[0]}"]
    if profile.in_kernel and whole_of(profile.tree, CYCLES) is not None:
        words = [*(word for word in words if word.startswith("time")), CYCLES]
    if is_sampled(profile) and whole_of(profile.tree, NUM_SAMPLES) is not None:
        words = [*(word for word in words if word.startswith("time")), NUM_SAMPLES]
    return words


def _derive(profile: TreeProfile, words: Sequence[str]) -> list[Column]:
    columns = derive(profile, words)
    if not is_interpreted(profile):
        return columns
    return [
        replace(column, title=f"{column.title} (interpreted)")
        if column.title in ("time", "avg_time", *SPREAD) and column.unit != "%"
        else column
        for column in columns
    ]


def _flatten(
    profile: TreeProfile, words: Sequence[str], options: ViewOptions, name: Callable[[str], str]
) -> TreeProfile:
    """One row a name, of the contexts that pass the filters by name and depth."""
    tree = profile.tree
    columns = derive(profile, words[:1])
    base = (columns[0].base if columns else None) or TIME_NS
    if not is_of_samples(base):  # lines have nothing else, so their kernels take them in
        tree = absorb_lines(tree)
        profile = replace(profile, tree=tree)
    mask = _named(tree, options, name)
    return merge_by_name(profile, base, mask, partial(kind_of, profile))


def _named(tree: Tree, options: ViewOptions, name: Callable[[str], str]) -> select.Mask:
    """The rows that pass the filters by name and depth."""
    mask = select.everything(tree)
    if options.include is not None:
        pattern = select.compile_pattern(options.include, "--include")
        mask = select.both(mask, select.include(tree, pattern, name))
    if options.exclude is not None:
        pattern = select.compile_pattern(options.exclude, "--exclude")
        mask = select.both(mask, select.exclude(tree, pattern, name))
    if options.depth is not None:
        mask = select.both(mask, select.within_depth(tree, options.depth))
    return mask


def _selection(content: _Content, options: ViewOptions, name: Callable[[str], str]) -> select.Mask:
    tree, columns = content.tree, content.columns
    mask = select.everything(tree) if options.is_sorted else _named(tree, options, name)
    if options.threshold is not None and columns:
        values = columns[0].values
        if content.is_difference:  # a large loss matters as much as a large gain
            values = [abs(value) if isinstance(value, (int, float)) else None for value in values]
        if content.hot_lines:  # lines have samples, not time: they stay with their kernels
            parents = tree.parents
            values = [
                values[parents[row]] if row in content.hot_lines else value
                for row, value in enumerate(values)
            ]
        mask = select.both(mask, select.at_least(tree, values, options.threshold))
    if options.is_sorted:
        mask[0] = 0  # the root holds what is not listed
    return mask


def _nothing(tree: Tree, options: ViewOptions, name: Callable[[str], str]) -> str:
    """What stands in place of rows, with the likely reason."""
    text = "nothing to show"
    if options.include and not options.is_sorted:
        found = re.compile(options.include).search
        if any(found(name(frame.name)) for frame in tree.frames):
            wider = printable(f".*{options.include}")
            text += f": -i matches names from their start; -i {wider!r} finds more"
    return text


def _looks(content: _Content) -> tuple[list[str] | None, str]:
    """The look of each row, and what it is a share of; None where nothing adds up."""
    if content.is_difference:
        column = content.columns[0]
        return looks_of_differences(column.values), column.title
    candidates = [column for column in content.columns[:1] if column.is_additive]
    if not candidates and catalog.find_metric("time", catalog.raw_metrics(content.tree)):
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


def _notes(profile: TreeProfile, content: _Content, options: ViewOptions) -> list[str]:
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


def _hidden(content: _Content, mask: select.Mask, options: ViewOptions) -> str:
    """How much the filters took away; empty where they took nothing."""
    causes = _causes(options)
    has_other_cause = len(causes) > (
        options.depth is not None
    )  # depth hides parts of what is shown
    amounts = _hidden_shares(content, mask) if has_other_cause else []
    if not options.is_sorted:
        hidden = len(mask) - sum(mask)
        if not hidden:
            return ""
        amounts.insert(0, f"{format_count(hidden)} of {format_count(len(mask))} contexts")
    if not causes or not amounts:
        return ""
    return f"hidden by {', '.join(causes)}: {', '.join(amounts)}"


def _hidden_shares(content: _Content, mask: select.Mask) -> list[str]:
    if content.is_difference or not content.columns:
        return []
    column = content.columns[0]
    if column.base is None or not column.total:
        return []
    total = derive(content.profile, [column.base])[0].total
    own = content.tree.own_numbers(column.base)
    lost = sum(value for value, kept in zip(own, mask, strict=True) if value and not kept)
    if not total or not lost:
        return []
    share = format_number(100.0 * lost / total, Notation(1))
    return [f"{share} % of {printable(catalog.plain_name(column.base))}"]


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
