"""Peak rates of known devices, under the names that users of `triton.profiler` know.

The tables are made of the same data sheets as the functions. Clocks are in kHz.
"""

from __future__ import annotations

from collections.abc import Callable

from proton.model.device import KNOWN_DEVICES, max_bps, max_flops


def _peak_of(device_type: str, arch: str) -> Callable[..., float]:
    def peak(width: int, num_sms: int, clock_rate: float, **others: object) -> float:
        return max_flops(device_type, arch, width, num_sms, clock_rate)

    return peak


# "CUDA" -> architecture -> a function of width, num_sms and clock_rate, all by name
flops_by_device: dict[str, dict[str, Callable[..., float]]] = {
    "CUDA": {arch: _peak_of(kind, arch) for kind, arch in KNOWN_DEVICES if kind == "CUDA"}
}
_AMD = [arch for kind, arch in KNOWN_DEVICES if kind == "HIP"]
amd_bps_by_arch = {arch: max_bps("HIP", arch, 0, 0) for arch in _AMD}
# operations on 8 bits of one compute unit in one clock
amd_fp8_flops_by_arch = {arch: round(max_flops("HIP", arch, 8, 1, 1) / 1e3) for arch in _AMD}

__all__ = [
    "amd_bps_by_arch",
    "amd_fp8_flops_by_arch",
    "flops_by_device",
    "max_bps",
    "max_flops",
]
