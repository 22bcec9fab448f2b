"""Modes as objects, for `start(mode=...)`, and the words their options accept."""

from proton.inkernel.mode import (
    MMA,
    BaseMode,
    BufferStrategy,
    BufferType,
    Default,
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
from proton.inkernel.sampling import PCSampling

__all__ = [
    "MMA",
    "BaseMode",
    "BufferStrategy",
    "BufferType",
    "Default",
    "Granularity",
    "InstrumentationMode",
    "MetricType",
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
