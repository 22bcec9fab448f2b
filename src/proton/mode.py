"""Modes as objects, for `start(mode=...)`, and the words their options accept."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proton.backends.cupti.sampling_mode import PCSampling
from proton.inkernel.modes.instrumentation_mode import (
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
from proton.inkernel.modes.mode_table import MMA, AsyncWait, Cta, Default, Loops, Ops

if TYPE_CHECKING:
    from proton.inkernel.modes.callback_mode import CallAt
    from proton.inkernel.modes.memory_modes import Bytes, Memory

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
    "Bytes": "proton.inkernel.modes.memory_modes",
    "CallAt": "proton.inkernel.modes.callback_mode",
    "Memory": "proton.inkernel.modes.memory_modes",
}


def __getattr__(name: str) -> Any:
    if (module := _LATE.get(name)) is None:
        raise AttributeError(f"module 'proton.mode' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
