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


def is_profiling() -> bool:
    """Whether torch.profiler is recording in this process; imports nothing."""
    module = sys.modules.get("torch")
    enabled = getattr(getattr(module, "autograd", None), "_profiler_enabled", None)
    return bool(enabled and enabled())
