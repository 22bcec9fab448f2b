"""A device that work ran on, and the peak rates of the hardware we know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """One entry of a profile's device map. Fields that the file does not give are None."""

    device_type: str  # "CUDA", "HIP" or "CPU"
    device_id: str
    arch: str
    num_sms: int | None = None
    clock_rate_khz: int | None = None
    memory_clock_rate_khz: int | None = None
    bus_width: int | None = None
    name: str | None = None
