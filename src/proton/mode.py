"""Modes as objects, for `start(mode=...)`, and the words their options accept."""

from proton._mode_text import BaseMode
from proton.backends.cupti.sampling_mode import PCSampling
from proton.inkernel.modes.callback_mode import CallAt
from proton.inkernel.modes.instrumentation_mode import (
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
from proton.inkernel.modes.mode_table import MMA, AsyncWait, Bytes, Cta, Default, Loops, Memory, Ops

__all__ = [
    "MMA",
    "AsyncWait",
    "BaseMode",
    "BufferStrategy",
    "BufferType",
    "Bytes",
    "CallAt",
    "Cta",
    "Default",
    "Granularity",
    "InstrumentationMode",
    "Loops",
    "Memory",
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
