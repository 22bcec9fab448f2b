"""The page's roofline: the roofs of each device by precision, and a dot for each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.roofline import FLOPS_WIDTHS, Dot, dots_of
from proton.analysis.whole_rates import peak_remark
from proton.model.device import Device, peak_bytes_per_second, peak_flops, peak_fp32
from proton.model.frame import FrameKind
from proton.model.profile import TreeProfile
from proton.render.page.pack import record_of
from proton.render.text.head import device_name

# What operands of a width are called where matrix units take them.
_PRECISIONS = {8: "FP8 / INT8", 16: "FP16 / BF16", 32: "TF32", 64: "FP64"}
_SAME = 1.01  # a roof that is not higher by more than this is the same one


@dataclass(frozen=True, slots=True)
class Roof:
    """The peak of a device for operands of `width` bits.

    There are two of 32 bits where matrix units round them: theirs first, then that of plain FP32.
    """

    width: int
    label: str
    flops_per_s: float


@dataclass(frozen=True, slots=True)
class RoofDevice:
    """A device and its roofs; null: not known."""

    name: str
    id: str
    multiprocessors: int | None
    clock_mhz: float | None
    bytes_per_s: float | None
    roofs: Sequence[Roof]


@dataclass(frozen=True, slots=True)
class RoofDot:
    """One kernel, or a scope that declares work, on one device; null: not known."""

    name: str
    kind: FrameKind
    row: int
    device: int | None
    contexts: int
    count: float | None
    time_ns: float
    width: int | None
    intensity: float | None
    flops_per_s: float | None
    bytes_per_s: float | None
    least_ns: float | None
    headroom_ns: float | None
    share_of_peak: float | None
    bound: str | None
    remark: str  # why the share of peak is not known, or is at least so much


@dataclass(frozen=True, slots=True)
class RooflinePart:
    """Devices with their roofs, and a dot for each kernel; those with the most to save first."""

    devices: Sequence[RoofDevice]
    dots: Sequence[RoofDot]


def roofline_part(profile: TreeProfile) -> RooflinePart | None:
    """The roofline of a profile; None where no kernel declares flops or bytes."""
    if not (dots := dots_of(profile)):
        return None
    return RooflinePart([roof_device(device) for device in profile.devices], [*map(_dot, dots)])


def roof_device(device: Device) -> RoofDevice:
    """A device with its peaks by precision."""
    return RoofDevice(
        name=device_name(device),
        id=device.device_id,
        multiprocessors=device.num_sms,
        clock_mhz=None if device.clock_rate_khz is None else device.clock_rate_khz / 1e3,
        bytes_per_s=peak_bytes_per_second(device),
        roofs=[roof for width in FLOPS_WIDTHS for roof in _roofs(device, width)],
    )


def _roofs(device: Device, width: int) -> list[Roof]:
    rate, plain = peak_flops(device, width), peak_fp32(device)
    if rate is None:
        return []
    if width != 32 or plain is None:
        return [Roof(width, _PRECISIONS[width], rate)]
    if rate <= plain * _SAME:
        return [Roof(width, "FP32", rate)]
    matrix = _PRECISIONS[width] if rate > 2 * plain * _SAME else "FP32 matrix"
    return [Roof(width, matrix, rate), Roof(width, "FP32", plain)]


def _dot(dot: Dot) -> RoofDot:
    flops, least_ns = dot.flops, dot.least_ns
    return record_of(
        RoofDot,
        dot,
        flops_per_s=None if flops is None else flops / dot.time_ns * 1e9,
        bytes_per_s=None if dot.bytes is None else dot.bytes / dot.time_ns * 1e9,
        least_ns=least_ns,
        headroom_ns=dot.headroom_ns,
        share_of_peak=None if least_ns is None else least_ns / dot.time_ns,
        remark=peak_remark(
            is_unknown=dot.is_unknown, lacks_width=dot.lacks_width, is_declared=True
        ),
    )
