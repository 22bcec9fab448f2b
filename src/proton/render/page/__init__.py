"""The data of pages: what a page shows of profiles is computed here and only drawn there.

A page has parts, one module of this room each: a function `NAME_part(profile, columns)` returns a
frozen dataclass, or None where the profile has nothing for it. The profile is as `prepare` returns
it: it has a tree in any case, and its rows are those of the part `tree`. Long lists of numbers go
to `columns`, which returns the id that the part then names. `tools/schema.py` makes the page's
types, web/src/schema.ts, from these dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton._version import __version__
from proton.analysis.prepare import prepare
from proton.analysis.tuning_runs import TuningRun, tuning_runs
from proton.model.profile import Profile, TreeProfile
from proton.render.page.diff import DiffPart, diff_part
from proton.render.page.in_kernel import InKernelPart, in_kernel_part
from proton.render.page.kernels import KernelsPart, kernels_part
from proton.render.page.names import ShownName, names_part
from proton.render.page.pack import ColumnId, Columns, pack_page
from proton.render.page.ranks import RanksPart, ranks_part
from proton.render.page.roofline import RooflinePart, roofline_part
from proton.render.page.source import SourcePart, source_part
from proton.render.page.summary import SummaryPart, summary_part
from proton.render.page.trace import TracePart, trace_part
from proton.render.page.tree import TreePart, tree_part

FORMAT = "proton-page/2"


@dataclass(frozen=True, slots=True)
class AutotunePart:
    """The autotuning runs of a profile, in the order in which they were made."""

    runs: Sequence[TuningRun]


@dataclass(frozen=True, slots=True)
class ProfileParts:
    """All that a page has of one profile; null where the profile has nothing for a part."""

    source: str
    tree: TreePart
    names: Mapping[str, ShownName]
    summary: SummaryPart
    kernels: KernelsPart | None
    roofline: RooflinePart | None
    autotune: AutotunePart | None
    trace: TracePart | None
    sampled: SourcePart | None
    in_kernel: InKernelPart | None
    ranks: RanksPart | None


@dataclass(frozen=True, slots=True)
class PageData:
    """The JSON of a page's container."""

    format: str
    made_by: str
    profiles: Sequence[ProfileParts]
    diff: DiffPart | None  # of two profiles: the second against the first
    columns: Mapping[ColumnId, tuple[str, int, int]]  # type, offset, length


def page_data(profiles: Sequence[Profile]) -> bytes:
    """The data of a page that shows `profiles`, packed; with two, their difference too.

    Raises:
        FormatError: In one of them nothing was recorded.
    """
    shown = [prepare(profile) for profile in profiles]
    columns = Columns()
    parts = [_parts(profile, columns) for profile in shown]
    diff = diff_part(shown[0], shown[1]) if len(shown) == 2 else None
    return pack_page(PageData(FORMAT, __version__, parts, diff, columns.table), columns)


def _parts(profile: TreeProfile, columns: Columns) -> ProfileParts:
    return ProfileParts(
        source=profile.source,
        tree=tree_part(profile, columns),
        names=names_part(profile),
        summary=summary_part(profile),
        kernels=kernels_part(profile),
        roofline=roofline_part(profile),
        autotune=AutotunePart(runs) if (runs := tuning_runs(profile)) else None,
        trace=trace_part(profile, columns),
        sampled=source_part(profile),
        in_kernel=in_kernel_part(profile, columns),
        ranks=ranks_part(profile, columns),
    )
