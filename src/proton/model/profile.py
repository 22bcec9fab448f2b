"""`Profile`: everything one recording holds, whichever file it came from. Immutable.

Two kinds: a `TreeProfile` has sums by calling context, a `TraceProfile` has single events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any

from proton.model.device import INTERPRETED, Device
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import CALLS, CPU_TIME_NS, DEVICE_ID, DEVICE_TYPE, MetricKind
from proton.model.origins import KernelOrigins
from proton.model.ranks import Rank
from proton.model.sampling import Sampling
from proton.model.steps import StepSeries
from proton.model.summary import Header as Header
from proton.model.trace import Trace
from proton.model.tree import Tree


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """What every recording holds. A file gives a `TreeProfile` or a `TraceProfile`."""

    source: str  # the path it was read from, for messages and titles
    _: KW_ONLY
    devices: Sequence[Device] = ()
    header: Header = field(default_factory=Header)
    metric_kinds: Mapping[str, MetricKind] = field(default_factory=_nothing)  # else inclusive
    losses: Mapping[str, int] = field(default_factory=_nothing)  # kind of loss -> events
    warnings: Sequence[str] = ()
    autotune: Sequence[Mapping[str, object]] = ()
    phases: Sequence[int] = (0,)  # the phases this profile was put together from
    sampling: Sampling | None = None  # of sessions that sampled instructions
    in_kernel: Sequence[RecordedKernel] = ()  # what instrumented kernels recorded
    steps: Sequence[StepSeries] = ()  # that the program marked; one for each process
    origins: Sequence[KernelOrigins] = ()  # of kernels that torch.compile made
    ranks: Sequence[Rank] = ()  # of merged profiles, by number

    @property
    def is_interpreted(self) -> bool:
        """Whether all times are those of Triton's interpreter, not of a GPU."""
        return bool(self.devices) and all(each.arch == INTERPRETED for each in self.devices)

    def __repr__(self) -> str:
        """One line; what is in it are `source`, `devices`, `tree` or `trace` and so on."""
        return f"<{type(self).__name__} {self.source!r}: {self._content()}>"

    def _content(self) -> str:
        return _counted(len(self.devices), "device")

    def table(self, sort_by: str = "time", row_limit: int | None = 100) -> str:
        """Kernels and copies by name as a table of text, the largest first.

        Args:
            sort_by: `"time"`, `"count"`, `"avg_time"`, `"min_time"`, `"p50_time"`, `"p99_time"`,
                `"max_time"`, `"util"` or `"headroom"`; `"cuda_time_total"` and the other names that
                torch.profiler has for the time of kernels mean `"time"`.
            row_limit: How many to list; None or -1: all.

        Raises:
            UsageError: There is nothing to sort by of this name, or `row_limit` is no number.
            FormatError: Nothing was recorded.

        Example:
            >>> print(open_profile("run.hatchet").table(sort_by="count"))  # doctest: +SKIP
        """
        # By name, when it is called: views are above the model, which knows nothing of them.
        text: str = import_module("proton.profile_table").table_of(self, sort_by, row_limit)
        return text

    def with_tree(self, tree: Tree) -> TreeProfile:
        """The same recording with `tree` for its events."""
        return TreeProfile(tree=tree, **_shared(self))

    def with_trace(self, trace: Trace) -> TraceProfile:
        """The same recording with `trace` for its events."""
        return TraceProfile(trace=trace, **_shared(self))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _shared(profile: Profile) -> dict[str, Any]:
    return {each.name: getattr(profile, each.name) for each in fields(Profile)}


@dataclass(frozen=True, slots=True, repr=False)
class TreeProfile(Profile):
    """A recording summed by calling context."""

    tree: Tree
    trace: Trace | None = field(default=None, kw_only=True)  # what viewers made the tree from

    def _content(self) -> str:
        return f"{_counted(len(self.tree), 'context')}, {_counted(len(self.devices), 'device')}"


@dataclass(frozen=True, slots=True, repr=False)
class TraceProfile(Profile):
    """A recording of single events on a timeline."""

    trace: Trace

    def _content(self) -> str:
        return f"{_counted(len(self.trace.spans), 'span')}, {_counted(len(self.devices), 'device')}"


LABELS = (DEVICE_ID, DEVICE_TYPE)


def kind_of(profile: Profile, metric: str) -> MetricKind:
    """How values of `metric` add up.

    Our files say so. In files of other tools the root carries a zero for each inclusive metric.
    """
    if (kind := profile.metric_kinds.get(metric)) is not None:
        return kind
    if metric in LABELS:
        return MetricKind.PROPERTY
    if metric in (CPU_TIME_NS, CALLS):
        return MetricKind.EXCLUSIVE
    if profile.header.proton_version or not isinstance(profile, TreeProfile):
        return MetricKind.INCLUSIVE
    if not profile.tree.own[0]:
        return MetricKind.INCLUSIVE
    return MetricKind.INCLUSIVE if metric in profile.tree.own[0] else MetricKind.EXCLUSIVE
