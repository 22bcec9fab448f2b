"""The only module that touches torch, and only where the program has imported it already."""

from __future__ import annotations

import sys
from typing import Any


def is_imported() -> bool:
    """Whether the program has imported torch."""
    return hasattr(sys.modules.get("torch"), "Tensor")


def version() -> str | None:
    """The version of the torch that is imported; None where none is."""
    module = sys.modules.get("torch")
    return str(module.__version__) if module is not None and hasattr(module, "Tensor") else None


def is_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor; imports nothing."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, getattr(module, "Tensor", ()))


def device_type(tensor: Any) -> str:
    """Where a tensor lives: 'cpu', 'cuda', 'meta', ..."""
    return str(tensor.device.type)


def tensor_values(tensor: Any) -> Any:
    """The numbers of a tensor: a scalar, or a flat list. Waits for a device tensor."""
    detached = tensor.detach()
    return detached.item() if detached.numel() == 1 else detached.reshape(-1).tolist()


def is_capturing() -> bool:
    """Whether the current CUDA stream of this thread is being captured into a graph."""
    return bool(sys.modules["torch"].cuda.is_current_stream_capturing())


def record_event(stream: int) -> Any:
    """A timing event at the end of what the CUDA stream with this handle has to do."""
    cuda = sys.modules["torch"].cuda
    event = cuda.Event(enable_timing=True)
    event.record(cuda.ExternalStream(stream))
    return event


def elapsed_ns(first: Any, last: Any) -> tuple[int, int]:
    """The device of two events, and the time between them; waits for the last."""
    last.synchronize()
    return int(last.device.index or 0), round(first.elapsed_time(last) * 1e6)
