"""Metric names, units, kinds and values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TypeVar

# A number, a list of numbers, or a label (device_id, device_type).
MetricValue = int | float | str | tuple[int | float, ...]
Metrics = Mapping[str, MetricValue]
EMPTY: Metrics = MappingProxyType({})
_Value = TypeVar("_Value")

TIME_NS = "time (ns)"
CPU_TIME_NS = "cpu_time (ns)"
COUNT = "count"
CALLS = "calls"  # of an operator; `count` is how often a kernel ran
CYCLES = "cycles"  # of instrumented kernels, over all warps
USER_PREFIX = "user "  # before what a user calls as a backend calls what it measures
DEVICE_ID = "device_id"
DEVICE_TYPE = "device_type"


class MetricKind(Enum):
    """How values of a metric add up."""

    INCLUSIVE = "inclusive"  # summed on a node and inherited by its parents
    EXCLUSIVE = "exclusive"  # summed on a node only
    PROPERTY = "property"  # the last value stands, never summed


def apart_from_backend(metrics: Mapping[str, _Value]) -> Mapping[str, _Value]:
    """`metrics` that a user gave: `count` and `time (ns)`, which are a backend's, with a prefix."""
    if COUNT not in metrics and TIME_NS not in metrics:
        return metrics
    return {_apart(name): value for name, value in metrics.items()}


def _apart(name: str) -> str:
    return USER_PREFIX + name if name in (COUNT, TIME_NS) else name


def split_unit(name: str) -> tuple[str, str]:
    """`"time (ns)"` -> `("time", "ns")`; a name without unit has the unit `""`."""
    head, bracket, tail = name.rpartition(" (")
    return (head, tail[:-1]) if bracket and tail.endswith(")") else (name, "")
