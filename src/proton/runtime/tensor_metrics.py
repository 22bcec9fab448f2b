"""Turns metric values that are no plain numbers (tensors, numpy scalars and arrays) into such.

A tensor on an NVIDIA GPU is read by a kernel of ours, in the order of the current stream; its
number reaches the profile later, and nobody waits for it. Imports neither torch nor numpy: a value
of theirs can only exist if the program imported them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from proton import _native, _torch
from proton.errors import MetricTypeError, ProtonError

Number = int | float
FLOPS_WIDTHS = (8, 16, 32, 64)  # `flops8` counts operations on 8-bit numbers, and so on
# what their values become, whatever was given: the type, and what files call one and a list of it
FLOPS_DTYPES: dict[str, tuple[type, str, str]] = dict.fromkeys(
    ("flops", *(f"flops{width}" for width in FLOPS_WIDTHS)), (float, "double", "vector_double")
)
ROOFLINE_DTYPES: dict[str, tuple[type, str, str]] = {
    **FLOPS_DTYPES,
    "bytes": (int, "int64", "vector_int64"),
}


def is_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor, or a numpy scalar or array."""
    return _torch.is_tensor(value) or _is_numpy(value)


def is_device_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor outside the host's memory."""
    return _torch.is_tensor(value) and _torch.device_type(value) != "cpu"


def to_value(name: str, value: Any) -> Number | list[Number] | _native.DeviceValue:
    """What the core records for `value`: a number, a list, or one that is being read on a GPU.

    Raises:
        MetricTypeError: not a value that can be recorded.
    """
    return read_device(name, value) if is_device_tensor(value) else to_plain(name, value)


def read_device(name: str, tensor: Any) -> _native.DeviceValue:
    """Read a tensor on a GPU at this point of the current stream, without waiting for it.

    Raises:
        MetricTypeError: no session can read it, or not a tensor of its kind.
    """
    where = f"metric {name!r} is a tensor on device {str(tensor.device)!r}"
    if not _torch.is_on_cuda(tensor) or not _native.DeviceValue.is_possible():
        raise MetricTypeError(
            f"{where}, which only an active session of backend 'cupti' can read, on NVIDIA GPUs; "
            "give value.cpu() or value.item()"
        )
    if (layout := _torch.elements(tensor)) is None:
        raise MetricTypeError(
            f"{where} of type {tensor.dtype} and layout {tensor.layout}; give real numbers that "
            "lie in order, as value.double().contiguous() does"
        )
    if layout.length == 0:
        raise MetricTypeError(f"{where} with no element; leave it out")
    try:
        return _native.DeviceValue.read(*layout, _torch.current_stream(layout.device))
    except ProtonError as error:
        raise MetricTypeError(f"{where} that cannot be read: {error}") from error


def to_plain(name: str, value: Any) -> Number | list[Number]:
    """The number of `value`, if it has one element, or the list of its numbers, row by row.

    Raises:
        MetricTypeError: not a value that can be recorded.
    """
    if _torch.is_tensor(value):
        flat = value.detach()
        plain = flat.item() if flat.numel() == 1 else flat.reshape(-1).tolist()
    elif _is_numpy(value):
        plain = value.item() if value.size == 1 else value.reshape(-1).tolist()
    elif isinstance(value, tuple):
        plain = list(value)
    else:
        raise _unsuited(name, value)
    numbers = plain if isinstance(plain, list) else [plain]
    if not all(isinstance(number, int | float) for number in numbers):
        raise _unsuited(name, value)
    return plain  # type: ignore[no-any-return]  # checked one line above


def transform_tensor_metrics(
    metrics: Mapping[str, Any],
) -> tuple[dict[str, Number | list[Number]], dict[str, Any]]:
    """Metrics as (plain numbers and lists, tensors that live on a device).

    Raises:
        MetricTypeError: a value is neither.
    """
    plain: dict[str, Number | list[Number]] = {}
    on_device: dict[str, Any] = {}
    for name, value in metrics.items():
        if is_device_tensor(value):
            on_device[name] = value
        elif isinstance(value, int | float | list):
            plain[name] = _as_declared(name, value)
        else:
            plain[name] = _as_declared(name, to_plain(name, value))
    return plain, on_device


def set_metric_kernels() -> None:
    """Nothing to set: the kernel that reads device tensors is part of the native core.

    Stays callable for programs that gave kernels of their own to another profiler.
    """


def _as_declared(name: str, value: Any) -> Any:
    """`flops*` are floats and `bytes` an int, whatever was given."""
    if name not in ROOFLINE_DTYPES:
        return value
    kind = ROOFLINE_DTYPES[name][0]
    return [kind(number) for number in value] if isinstance(value, list) else kind(value)


def _unsuited(name: str, value: object) -> MetricTypeError:
    kind = type(value).__name__
    if (dtype := getattr(value, "dtype", None)) is not None:
        kind += f" of {dtype}"
    return MetricTypeError(
        f"metric {name!r} is {value!r:.80}, a {kind}; "
        "give an int, a float, a list of them, a tensor or a numpy array"
    )


def _is_numpy(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    kinds = (getattr(numpy, "generic", None), getattr(numpy, "ndarray", None))
    return any(kind is not None and isinstance(value, kind) for kind in kinds)
