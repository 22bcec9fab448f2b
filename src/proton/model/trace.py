"""The timeline: lanes, the spans placed on them, and the flows between spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from proton.model.metric import EMPTY, Metrics

LAUNCH_PREFIX = "launch "  # before the name of a kernel: that of the call that launched it


class LaneKind(Enum):
    """Who did the work on a lane."""

    HOST = "host"  # a thread of the program
    GRAPH = "graph"  # graph launches of a stream
    DEVICE = "device"  # a stream of a device
    SM = "sm"  # a multiprocessor of a device, with the CTAs that it ran
    WARP = "warp"  # a warp inside a kernel


class Lane(NamedTuple):
    """One row of the timeline. `key` is unique in its trace."""

    key: str
    name: str
    kind: LaneKind
    sort: int = 0


class SpanKind(Enum):
    """What a span is; the value is its category in chrome traces."""

    SCOPE = "scope"
    KERNEL = "kernel"
    METRIC = "metric"  # a scope that carried metrics
    COPY = "copy"  # a copy or memset of a device
    GRAPH = "graph"  # one replay of a graph
    LAUNCH = "launch"  # the call of the program that launched work
    CTA = "cta"  # a block of an instrumented kernel
    OTHER = "other"


class Span(NamedTuple):
    """One event on a lane. Times are nanoseconds after the trace's base time."""

    name: str
    kind: SpanKind
    lane: int  # index into Trace.lanes
    start_ns: float
    duration_ns: float
    path: tuple[str, ...] = ()  # names from the root (left out) down to the span's own
    metrics: Metrics = EMPTY
    attributes: Metrics = EMPTY  # of the launch: grid, block, registers, ...


class Flow(NamedTuple):
    """An arrow from the span that launched work to the span that did it (indices into spans)."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of a recording. `base_time_ns` is the Unix time of start_ns 0, where known."""

    lanes: Sequence[Lane] = ()
    spans: Sequence[Span] = ()
    flows: Sequence[Flow] = ()
    base_time_ns: int | None = None
