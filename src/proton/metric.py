"""Metric values that come as tensors."""

from proton.runtime.tensor_metrics import (
    FLOPS_DTYPES,
    FLOPS_WIDTHS,
    ROOFLINE_DTYPES,
    set_metric_kernels,
    transform_tensor_metrics,
)

__all__ = [
    "FLOPS_DTYPES",
    "FLOPS_WIDTHS",
    "ROOFLINE_DTYPES",
    "set_metric_kernels",
    "transform_tensor_metrics",
]
