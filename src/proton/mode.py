"""Modes as objects, for `start(mode=...)`, and the words their options accept."""

from proton.inkernel.mode import (
    BaseMode,
    BufferStrategy,
    BufferType,
    Granularity,
    InstrumentationMode,
    MetricType,
    Optimize,
    SamplingStrategy,
    buffer_strategies,
    buffer_types,
    granularities,
    metric_types,
    optimizations,
    sampling_strategies,
)
from proton.inkernel.modes import MMA, AsyncWait, Cta, Default, Loops, Ops
from proton.inkernel.sampling import PCSampling

__all__ = [
    "MMA",
    "AsyncWait",
    "BaseMode",
    "BufferStrategy",
    "BufferType",
    "Cta",
    "Default",
    "Granularity",
    "InstrumentationMode",
    "Loops",
    "MetricType",
    "Ops",
    "Optimize",
    "PCSampling",
    "SamplingStrategy",
    "buffer_strategies",
    "buffer_types",
    "granularities",
    "metric_types",
    "optimizations",
    "sampling_strategies",
]
