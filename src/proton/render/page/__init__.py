"""The data of pages: what a page shows of profiles is computed here and only drawn there.

A page has parts, one module of this room each: a function `NAME_part(profile, columns)` returns a
frozen dataclass, or None where the profile has nothing for it. The profile is as `prepare` returns
it: it has a tree in any case, and its rows are those of the part `tree`. Long lists of numbers go
to `columns`, which returns the id that the part then names. `tools/schema.py` makes the page's
types, web/src/schema.ts, from these dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from proton._version import __version__
from proton.analysis.prepare import prepare
from proton.analysis.tuning_runs import TuningRun, tuning_runs
from proton.analysis.tuning_work import TuningCost, tuning_ranges, without_tuning
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.render.page.diff import DiffPart, diff_part
from proton.render.page.folds import FoldsPart, LibraryPart, folds_part, library_part
from proton.render.page.in_kernel import InKernelPart, in_kernel_part
from proton.render.page.kernels import KernelsPart, kernels_part
from proton.render.page.names import ShownName, names_part
from proton.render.page.pack import ColumnId, Columns, pack_page
from proton.render.page.ranks import RanksPart, ranks_part
from proton.render.page.roofline import RooflinePart, roofline_part
from proton.render.page.source import SourcePart, source_part
from proton.render.page.steps import StepsPart, steps_part
from proton.render.page.summary import SummaryPart, summary_part
from proton.render.page.trace import TracePart, trace_part
from proton.render.page.tree import TreePart, tree_part
from proton.render.page.work import WorkPart, work_part
from proton.render.units import format_count

FORMAT = "proton-page/2"


@dataclass(frozen=True, slots=True)
class AutotunePart:
    """The autotuning runs of a profile, in the order in which they were made."""

    runs: Sequence[TuningRun]


@dataclass(frozen=True, slots=True)
class TuningPart:
    """What autotuning took, which the other parts leave out, and those parts with it counted.

    `rows` are those of the tree: the first of each stretch, and one past its last.
    """

    time_ns: float
    share: float  # of the whole profile, 0 to 1
    runs: float | None  # of kernels
    rows: Sequence[tuple[int, int]]
    summary: SummaryPart
    kernels: KernelsPart | None
    roofline: RooflinePart | None


@dataclass(frozen=True, slots=True)
class ProfileParts:
    """All that a page has of one profile; null where the profile has nothing for a part.

    `summary`, `kernels`, `work` and `roofline` are of the program: without `tuning`.
    """

    source: str
    tree: TreePart
    folds: FoldsPart | None
    library: LibraryPart | None
    names: Mapping[str, ShownName]
    summary: SummaryPart
    kernels: KernelsPart | None
    work: WorkPart | None
    roofline: RooflinePart | None
    tuning: TuningPart | None
    autotune: AutotunePart | None
    trace: TracePart | None
    sampled: SourcePart | None
    in_kernel: InKernelPart | None
    ranks: RanksPart | None
    steps: StepsPart | None


@dataclass(frozen=True, slots=True)
class PageData:
    """The JSON of a page's container."""

    format: str
    made_by: str
    profiles: Sequence[ProfileParts]
    diff: DiffPart | None  # of two profiles: the second against the first
    columns: Mapping[ColumnId, tuple[str, int, int]]  # type, offset, length


def page_data(profiles: Sequence[Profile], on_step: Callable[[str], None] | None = None) -> bytes:
    """The data of a page that shows `profiles`, packed; with two, their difference too.

    Args:
        profiles: What the page shows.
        on_step: Told what is done next, for those who wait.

    Raises:
        FormatError: In one of them nothing was recorded.
    """
    tell = on_step or (lambda _: None)
    shown = []
    for profile in profiles:
        tell(f"adding up {_amount(profile)}")
        shown.append(prepare(profile))
    columns = Columns()
    parts = []
    for profile in shown:
        tell(f"laying out {_amount(profile)}")
        parts.append(_parts(profile, columns))
    programs = [without_tuning(profile).profile for profile in shown]
    diff = diff_part(programs[0], programs[1]) if len(shown) == 2 else None
    tell("packing the page")
    return pack_page(PageData(FORMAT, __version__, parts, diff, columns.table), columns)


def _amount(profile: Profile) -> str:
    """How much there is of a profile, and whose it is."""
    if isinstance(profile, TraceProfile | TreeProfile) and profile.trace is not None:
        return f"{format_count(len(profile.trace.spans))} spans of {profile.source}"
    return profile.source


def _parts(profile: TreeProfile, columns: Columns) -> ProfileParts:
    program, cost = without_tuning(profile)
    return ProfileParts(
        source=profile.source,
        tree=tree_part(profile, columns),
        folds=folds_part(profile, columns),
        library=library_part(profile, columns),
        names=names_part(profile),
        summary=summary_part(program),
        kernels=kernels_part(program),
        work=work_part(program, columns),
        roofline=roofline_part(program),
        tuning=None if cost is None else _tuning(profile, cost),
        autotune=AutotunePart(runs) if (runs := tuning_runs(profile)) else None,
        trace=trace_part(profile, columns),
        sampled=source_part(profile),
        in_kernel=in_kernel_part(profile, columns),
        ranks=ranks_part(profile, columns),
        steps=steps_part(profile, columns),
    )


def _tuning(profile: TreeProfile, cost: TuningCost) -> TuningPart:
    return TuningPart(
        time_ns=cost.time_ns,
        share=cost.share,
        runs=cost.runs,
        rows=tuning_ranges(profile.tree),
        summary=summary_part(profile),
        kernels=kernels_part(profile),
        roofline=roofline_part(profile),
    )
