"""What a view draws: contexts, columns and selected rows, as its options ask for.

Nothing here writes a line of text; `view` does. What two profiles differ in is `view_difference`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from proton.analysis import select
from proton.analysis.aggregate import merge_by_name
from proton.analysis.derive import Column, default_word, derive
from proton.analysis.folding.fold_contexts import fold_contexts, fold_profile
from proton.analysis.folding.fold_lines import (
    HotLine,
    Lineless,
    absorb_lines,
    fold_lines,
    is_of_samples,
    kernels_without_lines,
)
from proton.analysis.measurements import shown_values, whole_of
from proton.analysis.source_lines import is_sampled
from proton.analysis.spread import RANK_TIMES, SLOWEST, SPREAD, times_metric
from proton.analysis.union_quantiles import with_quantiles
from proton.model.metric import CPU_TIME_NS, CYCLES, TIME_NS
from proton.model.profile import TreeProfile, kind_of
from proton.model.sampling import NUM_SAMPLES
from proton.model.tree import Tree
from proton.render.statement_places import statements_of
from proton.render.text.terminal import aligned_cells
from proton.render.text.turn_labels import Turns
from proton.render.units import column_time_unit

QUANTILES = ("p50_time", "p99_time")
SPARE = ("rank_median", "rank_min")  # columns that nobody asked for, the first to go first
_NAME_ROOM = 36  # columns of a line that names, with the tree in front, should have
ESTIMATED = (
    "p50_time and p99_time of a name in several contexts are estimated from those of each context"
)


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
    sort: str | None = None  # the metric by which contexts of one parent stand; None: as recorded
    without_autotune: bool = False  # what autotuning ran is not shown, and said to be left out
    says_autotune: bool = False  # what autotuning ran is shown, and said to be counted
    without_library: bool = False  # frames of libraries stand in the rows above them
    fold_numbered: bool = False  # `step_0` to `step_990` are one row
    is_for_people: bool = False  # digits in groups; what else could be asked for is said


@dataclass(frozen=True, slots=True)
class Content:
    """What is to be drawn. `profile` is flat where a sorted list was asked for."""

    profile: TreeProfile
    tree: Tree
    columns: Sequence[Column]
    is_difference: bool = False
    marks: Sequence[str] | None = None  # a word behind the names of new and gone contexts
    hot_lines: Mapping[int, HotLine] = field(default_factory=dict)  # rows that are source lines
    lineless: Mapping[int, Lineless] = field(default_factory=dict)  # sampled, but without lines
    turns: Mapping[int, Turns] = field(default_factory=dict)  # rows that stand for several
    notes: Sequence[str] = ()  # what the columns mean


def content_of(profile: TreeProfile, options: ViewOptions, name: Callable[[str], str]) -> Content:
    """What to draw of `profile`."""
    words = options.metrics or [*default_words(profile), *rank_words(profile)]
    turns: Mapping[int, Turns] = {}
    if options.fold_numbered and not options.is_sorted:
        profile, turns = _fold_turns(profile, words)
    if options.sort is not None:
        profile, moved = _ordered(profile, options.sort or next(iter(words), ""))
        turns = {moved[row]: each for row, each in turns.items()}
    if not (options.metrics or options.is_sorted) and is_sampled(profile):
        return _folded(profile, words, turns)
    estimated: set[str] = set()
    if options.is_sorted:
        profile, estimated = flatten(profile, words, options, name)
    columns = shown_columns(profile, words)
    if options.is_sorted and not options.metrics:  # regions of kernels have cycles, names have none
        columns = [each for each in columns if any(value is not None for value in each.values[1:])]
    has_quantiles = any(column.title.startswith(QUANTILES) for column in columns)
    notes = [ESTIMATED] if estimated and has_quantiles else []
    return Content(profile, profile.tree, columns, turns=turns, notes=notes)


def without_spare(content: Content, width: int | None) -> Content:
    """`content` without columns that would leave too little of `width` to names."""
    kept = list(content.columns)
    if width is None or not any(column.title in SPARE for column in kept):
        return content
    rows = range(len(content.tree))
    gone: list[str] = []
    for title in SPARE:
        if width - len(aligned_cells(kept, rows, pad=True)[1]) >= _NAME_ROOM:
            break
        kept = [column for column in kept if column.title != title]
        gone.append(title)
    if not gone:
        return content
    note = f"no room for {' and '.join(gone)}; -m shows what you name"
    return replace(content, columns=kept, notes=[*content.notes, note])


def _fold_turns(
    profile: TreeProfile, words: Sequence[str]
) -> tuple[TreeProfile, Mapping[int, Turns]]:
    """The profile with a row for the turns of each loop, and what these rows stand for."""
    folding = fold_contexts(profile.tree)
    if folding is None:
        return profile, {}
    columns = derive(profile, words[:1])
    values = columns[0].values if columns else [None] * len(profile.tree)
    rows: dict[int, list[int]] = {group: [] for group in folding.titles}
    for row, group in enumerate(folding.group):
        if group in rows:
            rows[group].append(row)
    turns = {
        group: Turns(
            len(each),
            [value for row in each if isinstance(value := values[row], (int, float))],
        )
        for group, each in rows.items()
    }
    return fold_profile(profile, folding), turns


def _ordered(profile: TreeProfile, word: str) -> tuple[TreeProfile, Mapping[int, int]]:
    """The profile with the largest contexts of each parent first, and where each row went."""
    tree = profile.tree
    columns = derive(profile, [word]) if word else []
    order = select.by_size(tree, columns[0].values) if columns else range(len(tree))
    moved = {before: after for after, before in enumerate(order)}
    return replace(profile, tree=select.reordered(tree, order)), moved


def _folded(profile: TreeProfile, words: Sequence[str], turns: Mapping[int, Turns]) -> Content:
    """The hottest lines only below each kernel, which is what to see unless told otherwise."""
    tree, lines, moved = fold_lines(profile.tree, begin=statements_of(profile))
    profile = replace(profile, tree=tree)
    return Content(
        profile,
        tree,
        shown_columns(profile, words),
        hot_lines=lines,
        lineless=kernels_without_lines(profile, tree),
        turns={moved[row]: each for row, each in turns.items()},
    )


def default_words(profile: TreeProfile) -> list[str]:
    """The time in the unit in which its total reads best, and samples; else the first metric."""
    if (time_ns := whole_of(profile.tree, TIME_NS)) is not None:
        words = [f"time/{column_time_unit(time_ns)[0]}"]
    else:
        words = [word for word in (default_word(profile),) if word is not None]
    if words == [CPU_TIME_NS]:
        times = shown_values(profile.tree, CPU_TIME_NS, kind_of(profile, CPU_TIME_NS))
        largest = max((time for time in times if isinstance(time, (int, float))), default=0)
        words = [f"cpu_time/{column_time_unit(largest)[0]}"]
    if profile.in_kernel and whole_of(profile.tree, CYCLES) is not None:
        words = [*(word for word in words if word.startswith("time")), CYCLES]
    if is_sampled(profile) and whole_of(profile.tree, NUM_SAMPLES) is not None:
        words = [*(word for word in words if word.startswith("time")), NUM_SAMPLES]
    return words


def rank_words(profile: TreeProfile) -> list[str]:
    """The columns that show the spread over ranks, in the unit in which they read best."""
    metric = times_metric(name for own in profile.tree.own for name in own)
    if metric is None or not profile.ranks:
        return []
    times = [float(rank.time_ns) for rank in profile.ranks if rank.time_ns is not None]
    if not times:  # without kernels ranks have no time of their own, but their scopes do
        values = (own.get(metric) for own in profile.tree.own)
        times = [max(value) for value in values if isinstance(value, (list, tuple)) and value]
    unit = column_time_unit(max(times, default=0.0))[0]
    return [*(f"{word}/{unit}" for word in RANK_TIMES), SLOWEST]


def shown_columns(profile: TreeProfile, words: Sequence[str]) -> list[Column]:
    """The columns that `words` ask for; times of the interpreter say so."""
    columns = derive(profile, words)
    if not profile.is_interpreted:
        return columns
    return [
        replace(column, title=f"{column.title} (interpreted)")
        if column.title in ("time", "avg_time", *SPREAD) and column.unit != "%"
        else column
        for column in columns
    ]


def flatten(
    profile: TreeProfile, words: Sequence[str], options: ViewOptions, name: Callable[[str], str]
) -> tuple[TreeProfile, set[str]]:
    """One row a name, of the contexts that pass the filters by name and depth.

    Besides the names whose quantiles are estimated.
    """
    tree = profile.tree
    columns = derive(profile, words[:1])
    base = (columns[0].base if columns else None) or TIME_NS
    if not is_of_samples(base):  # lines have nothing else, so their kernels take them in
        tree = absorb_lines(tree)
        profile = replace(profile, tree=tree)
    mask = named_rows(tree, options, name)
    flat = merge_by_name(profile, base, mask, partial(kind_of, profile))
    if not all(mask):  # spans do not know which contexts were left out
        kept = {row: detail for row, detail in tree.details.items() if mask[row]}
        profile = replace(profile, tree=replace(tree, details=kept), trace=None)
    return with_quantiles(flat, profile)


def named_rows(tree: Tree, options: ViewOptions, name: Callable[[str], str]) -> select.Mask:
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


def select_rows(content: Content, options: ViewOptions, name: Callable[[str], str]) -> select.Mask:
    """The rows of `content` that pass the filters of `options`."""
    tree, columns = content.tree, content.columns
    mask = select.everything(tree) if options.is_sorted else named_rows(tree, options, name)
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


def hidden_share(content: Content, mask: select.Mask) -> float | None:
    """Percent of the first column's metric in rows that are not kept; None where that is none."""
    if content.is_difference or not content.columns:
        return None
    column = content.columns[0]
    if column.base is None or not column.total or column.base == CPU_TIME_NS:
        return None  # times of the host lie in each other
    total = derive(content.profile, [column.base])[0].total
    own = content.tree.own_numbers(column.base)
    lost = sum(value for value, kept in zip(own, mask, strict=True) if value and not kept)
    return 100.0 * lost / total if total and lost else None
