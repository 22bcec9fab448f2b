"""Modes as objects, for `start(mode=...)`, and the words their options accept."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from proton.inkernel.callback_mode import CallAt
    from proton.inkernel.memory_modes import Bytes, Memory

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

# those that bring the passes on LLVM text with them: imported when first used
_LATE = {
    "Bytes": "proton.inkernel.memory_modes",
    "CallAt": "proton.inkernel.callback_mode",
    "Memory": "proton.inkernel.memory_modes",
}


def __getattr__(name: str) -> Any:
    if (module := _LATE.get(name)) is None:
        raise AttributeError(f"module 'proton.mode' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
