"""The parts `folds` and `library`: which contexts a page shows as one.

A number tells them apart, or some of them are frames of libraries that somebody wants to hide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from proton.analysis.folding.fold_contexts import Folding, fold_contexts
from proton.analysis.folding.library_frames import library_rows
from proton.model.profile import TreeProfile, kind_of
from proton.render.page.pack import ColumnId, Columns


@dataclass(frozen=True, slots=True)
class FoldsPart:
    """Contexts in groups, which are a tree again: depth first, group 0 that of the root."""

    group: ColumnId  # of each row
    titles: Mapping[str, str]  # number of a group -> `step_*`, where several names stand in it


@dataclass(frozen=True, slots=True)
class LibraryPart:
    """Groups for those who hide frames of libraries: each is in the group of what is above it."""

    frames: int  # how many contexts that hides
    plain: FoldsPart  # numbered siblings as recorded
    folded: FoldsPart  # numbered siblings as one


def folds_part(profile: TreeProfile, columns: Columns) -> FoldsPart | None:
    """The groups of a profile; None where each context stands by itself."""
    folding = fold_contexts(profile.tree)
    return None if folding is None else _part(folding, columns)


def library_part(profile: TreeProfile, columns: Columns) -> LibraryPart | None:
    """The groups of a profile without frames of libraries; None where it has none."""
    hidden = library_rows(profile.tree, partial(kind_of, profile))
    plain = fold_contexts(profile.tree, numbered=False, hidden=hidden)
    folded = fold_contexts(profile.tree, hidden=hidden)
    if plain is None or folded is None:
        return None
    return LibraryPart(sum(hidden), _part(plain, columns), _part(folded, columns))


def _part(folding: Folding, columns: Columns) -> FoldsPart:
    return FoldsPart(
        group=columns.add("u32", folding.group),
        titles={str(group): title for group, title in folding.titles.items()},
    )
