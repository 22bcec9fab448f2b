"""What a view draws of two profiles: contexts of both, and what one has more than the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from proton.analysis import diff, select
from proton.analysis.derive import derive
from proton.analysis.folding.fold_contexts import fold_profile
from proton.analysis.folding.fold_two import fold_two
from proton.analysis.source_lines import is_sampled
from proton.errors import UsageError
from proton.model.metric import TIME_NS
from proton.model.profile import TreeProfile
from proton.model.sampling import NUM_SAMPLES
from proton.render.text.turn_labels import Turns
from proton.render.text.verdicts import NO_VERDICTS, NOTE, changes_of, verdict_columns
from proton.render.text.view_content import (
    Content,
    ViewOptions,
    default_words,
    flatten,
    shown_columns,
)

# Rows that stand for several contexts, in one profile and in the other.
_TurnsOfBoth = tuple[Mapping[int, Turns], Mapping[int, Turns]]


def difference_of(
    profile: TreeProfile,
    against: TreeProfile,
    options: ViewOptions,
    name: Callable[[str], str],
) -> Content:
    """What to draw of the difference of `profile` to `against`."""
    words = options.metrics or default_words(profile)
    if not options.metrics and not is_sampled(against):
        words = [word for word in words if word != NUM_SAMPLES]
    turns: _TurnsOfBoth = ({}, {})
    if options.fold_numbered and not options.is_sorted:
        profile, against, turns = _fold_turns(profile, against, words)
    wholes = profile, against
    if options.is_sorted:
        profile = flatten(profile, words, options, name)[0]
    columns = shown_columns(profile, words)
    with _naming(against):
        if options.is_sorted:
            against = flatten(against, words, options, name)[0]
        others = shown_columns(against, words)
    union = diff.unite(profile.tree, against.tree)
    if options.sort is not None:
        union = _union_by_size(union, profile, against, options.sort or next(iter(words), ""))
    differences = [diff.subtract(union, a, b) for a, b in zip(columns, others, strict=True)]
    notes = []
    if not options.metrics and any(column.base == TIME_NS for column in columns):
        judged = verdict_columns(changes_of(*wholes, union, by_name=options.is_sorted))
        differences += judged
        notes = [NOTE if judged else NO_VERDICTS]
    return Content(
        profile,
        union.tree,
        differences,
        True,
        _marks(union),
        turns=_turns_of(union, turns),
        notes=notes,
    )


def _fold_turns(
    profile: TreeProfile, against: TreeProfile, words: Sequence[str]
) -> tuple[TreeProfile, TreeProfile, _TurnsOfBoth]:
    """Both profiles with a row for the turns of each loop, and what these rows stand for."""
    union = diff.unite(profile.tree, against.tree)
    folded = fold_two(union, profile.tree, against.tree)
    if folded is None:
        return profile, against, ({}, {})
    columns = derive(profile, words[:1])
    with _naming(against):
        others = derive(against, words[:1])
    changes = [diff.subtract(union, a, b).values for a, b in zip(columns, others, strict=True)]
    values = changes[0] if changes else [None] * len(union.tree)
    turns: tuple[dict[int, Turns], dict[int, Turns]] = ({}, {})
    for ours, theirs, rows in folded.members:
        known = [value for row in rows if isinstance(value := values[row], (int, float))]
        for side, row in zip(turns, (ours, theirs), strict=True):
            if row is not None:
                side[row] = Turns(len(rows), known)
    return fold_profile(profile, folded.first), fold_profile(against, folded.second), turns


@contextmanager
def _naming(against: TreeProfile) -> Iterator[None]:
    """Say of an error that it is the other profile that lacks what was asked for."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{against.source}: {error}") from None


def _turns_of(union: diff.Union, turns: _TurnsOfBoth) -> dict[int, Turns]:
    """What rows of `union` stand for, by what those of either profile do."""
    rows = zip(union.first_rows, union.second_rows, strict=True)
    found = [turns[0].get(ours) or turns[1].get(theirs) for ours, theirs in rows]
    return {row: each for row, each in enumerate(found) if each is not None}


def _union_by_size(
    union: diff.Union, profile: TreeProfile, against: TreeProfile, word: str
) -> diff.Union:
    """The contexts of two profiles with the largest difference of each parent first."""
    if not word:
        return union
    (first,) = derive(profile, [word])
    with _naming(against):
        (second,) = derive(against, [word])
    change = diff.subtract(union, first, second)
    order = select.by_size(union.tree, change.values)
    return diff.Union(
        select.reordered(union.tree, order),
        [union.first_rows[row] for row in order],
        [union.second_rows[row] for row in order],
    )


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
