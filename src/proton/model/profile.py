"""`Profile`: everything one recording holds, whichever file it came from. Immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from proton.model.device import Device
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import MetricKind
from proton.model.ranks import Rank
from proton.model.sampling import Sampling
from proton.model.trace import Trace
from proton.model.tree import Tree


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Header:
    """Who recorded what, where and when. A foreign file leaves all of it empty."""

    session: str = ""
    context: str = ""
    data: str = ""
    backends: tuple[str, ...] = ()
    mode: str = ""
    command: tuple[str, ...] = ()
    host: str = ""
    pid: int | None = None
    rank: int | None = None  # of the process, where a launcher gave it one
    proton_version: str = ""
    python_version: str = ""
    triton_version: str = ""
    start_time_ns: int | None = None  # Unix time
    end_time_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One recording, read back. A tree session fills `tree`, a trace session `trace`."""

    source: str  # the path it was read from, for messages and titles
    tree: Tree | None = None
    trace: Trace | None = None
    devices: Sequence[Device] = ()
    header: Header = field(default_factory=Header)
    metric_kinds: Mapping[str, MetricKind] = field(default_factory=_nothing)  # else inclusive
    losses: Mapping[str, int] = field(default_factory=_nothing)  # kind of loss -> events
    warnings: Sequence[str] = ()
    autotune: Sequence[Mapping[str, Any]] = ()
    phases: Sequence[int] = (0,)  # the phases this profile was put together from
    sampling: Sampling | None = None  # of sessions that sampled instructions
    in_kernel: Sequence[RecordedKernel] = ()  # what instrumented kernels recorded
    ranks: Sequence[Rank] = ()  # of merged profiles, by number
