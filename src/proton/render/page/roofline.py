"""The page's roofline: the roofs of each device by precision, and a dot for each kernel."""

from __future__ import annotations

from typing import Any

from proton.analysis.roofline import FLOPS_WIDTHS, Dot, dots_of
from proton.model.device import Device, peak_bytes_per_second, peak_flops
from proton.model.profile import TreeProfile
from proton.render.page.pack import Columns

# What operands of a width are called; 32 bits mean TF32 where the hardware has it.
_PRECISIONS = {8: "FP8 / INT8", 16: "FP16 / BF16", 32: "TF32 / FP32", 64: "FP64"}


def roofline_part(profile: TreeProfile, columns: Columns) -> dict[str, Any] | None:
    """The roofline of a profile; None where no kernel declares flops or bytes."""
    if not (dots := dots_of(profile)):
        return None
    return {
        "devices": [_device(device) for device in profile.devices],
        "dots": [_dot(dot) for dot in dots],
    }


def _device(device: Device) -> dict[str, Any]:
    roofs = [(width, peak_flops(device, width)) for width in FLOPS_WIDTHS]
    return {
        "name": device.name or f"{device.device_type} {device.arch}",
        "id": device.device_id,
        "bytes_per_s": peak_bytes_per_second(device),
        "roofs": [
            {"width": width, "label": _PRECISIONS[width], "flops_per_s": rate}
            for width, rate in roofs
            if rate is not None
        ],
    }


def _dot(dot: Dot) -> dict[str, Any]:
    flops, least_ns = dot.flops, dot.least_ns
    return {
        "name": dot.name,
        "kind": dot.kind.value,
        "row": dot.row,
        "device": dot.device,
        "contexts": dot.contexts,
        "count": dot.count,
        "time_ns": dot.time_ns,
        "width": dot.width,
        "intensity": dot.intensity,
        "flops_per_s": None if flops is None else flops / dot.time_ns * 1e9,
        "bytes_per_s": None if dot.bytes is None else dot.bytes / dot.time_ns * 1e9,
        "least_ns": least_ns,
        "headroom_ns": None if least_ns is None else dot.time_ns - least_ns,
        "share_of_peak": None if least_ns is None else least_ns / dot.time_ns,
        "bound": dot.bound,
    }
