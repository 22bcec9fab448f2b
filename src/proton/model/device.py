"""A device that work ran on, and the peak rates of the hardware we know.

Peaks are those of the vendors' public data sheets, dense, for one product of each architecture,
and scaled to the multiprocessors and the clock of the device at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from proton.errors import UsageError
from proton.model.schema import Stored

INTERPRETED = "interpreter"  # the architecture of what Triton's interpreter ran


@dataclass(frozen=True, slots=True)
class Device:
    """One entry of a profile's device map. Fields that the file does not give are None."""

    device_type: str  # "CUDA", "HIP" or "CPU"
    device_id: str
    arch: Annotated[str, Stored("architecture: `90`, `gfx942`, `interpreter`")]
    num_sms: Annotated[int | None, Stored("multiprocessors", least=None)] = None
    clock_rate_khz: Annotated[
        int | None, Stored("clock of them in kHz", name="clock_rate", least=None)
    ] = None
    memory_clock_rate_khz: Annotated[
        int | None, Stored("clock of the memory in kHz", name="memory_clock_rate", least=None)
    ] = None
    bus_width: Annotated[int | None, Stored("bits of the memory bus", least=None)] = None
    name: Annotated[str | None, Stored("of an NVIDIA GPU or MIG instance")] = None
    clock_residual_ns: Annotated[
        int | None,
        Stored(
            "how far times of the device and of the host are known to disagree; in a trace that "
            "includes kernels which seem to begin before the call that launched them",
            least=None,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class _Product:
    """What a data sheet promises, and the multiprocessors and clock it promises it for."""

    name: str
    num_sms: int
    clock_rate_khz: int
    teraflops: Mapping[int, float]  # bits of an operand -> peak of matrix units, no sparsity
    fp32_lanes: int  # of a multiprocessor outside matrix units; each does two operations a clock
    bytes_per_second: float | None = None  # where bus width and clock do not tell


# Sources: NVIDIA A100 data sheet (2021); Ada architecture white paper, table of the RTX 4090, with
# sums in FP32; H100 data sheet (SXM), at the 1980 MHz that its driver reports; DGX B200 data sheet
# (an eighth of it, half of the sparse figures), 1850 MHz boost; AMD Instinct MI250X, MI300X and
# MI355X data sheets. 32 bits means TF32 where the hardware has it (not on MI250X and MI355X).
_PRODUCTS = {
    ("CUDA", "80"): _Product("A100", 108, 1_410_000, {8: 624, 16: 312, 32: 156, 64: 19.5}, 64),
    ("CUDA", "89"): _Product(
        "RTX 4090", 128, 2_520_000, {8: 330.3, 16: 165.2, 32: 82.6, 64: 1.29}, 128
    ),
    ("CUDA", "90"): _Product(
        "H100", 132, 1_980_000, {8: 1979, 16: 989.4, 32: 494.7, 64: 66.9}, 128
    ),
    ("CUDA", "100"): _Product("B200", 148, 1_850_000, {8: 4500, 16: 2250, 32: 1125, 64: 37}, 128),
    ("HIP", "gfx90a"): _Product(
        "MI250X", 220, 1_700_000, {8: 383, 16: 383, 32: 95.7, 64: 95.7}, 64, 3.2e12
    ),
    ("HIP", "gfx942"): _Product(
        "MI300X", 304, 2_100_000, {8: 2614.9, 16: 1307.4, 32: 653.7, 64: 163.4}, 128, 5.3e12
    ),
    ("HIP", "gfx950"): _Product(
        "MI355X", 256, 2_400_000, {8: 5033, 16: 2516.6, 32: 157.3, 64: 78.6}, 128, 8.0e12
    ),
}
KNOWN_DEVICES = tuple(_PRODUCTS)  # type and architecture of each
_DATA_RATE = 2  # transfers a clock: the memory clocks that drivers report are of double data rate


def max_flops(
    device_type: str, arch: str | int, width: int, num_sms: int, clock_rate: float
) -> float:
    """The peak of matrix operations of a device, in operations a second.

    Args:
        device_type: `"CUDA"` or `"HIP"`.
        arch: `"80"`, `"89"`, `"90"`, `"100"`, `"gfx90a"`, `"gfx942"` or `"gfx950"`.
        width: Bits of an operand: 8, 16, 32 or 64.
        num_sms: Multiprocessors (compute units on AMD) of the device.
        clock_rate: Their clock in kHz.

    Raises:
        UsageError: The architecture or the width is not known. It is a ValueError.

    Example:
        >>> max_flops("CUDA", "80", 16, 108, 1410000)
        312000000000000.0
    """
    product = _product(device_type, arch)
    if width not in product.teraflops:
        raise UsageError.unknown("width", width, choices=map(str, product.teraflops))
    share = (num_sms / product.num_sms) * (clock_rate / product.clock_rate_khz)
    return product.teraflops[width] * 1e12 * share


def max_bps(device_type: str, arch: str | int, bus_width: int, memory_clock_rate: float) -> float:
    """The peak of a device's memory, in bytes a second.

    Args:
        device_type: `"CUDA"` or `"HIP"`.
        arch: As in `max_flops`; for CUDA any will do, as bus and clock tell all.
        bus_width: Bits of the memory bus; not used for HIP.
        memory_clock_rate: In kHz; not used for HIP.

    Raises:
        UsageError: The architecture is not known. It is a ValueError.
    """
    if device_type == "CUDA":
        return _DATA_RATE * (bus_width / 8) * memory_clock_rate * 1e3
    rate = _product(device_type, arch).bytes_per_second
    assert rate is not None  # every product but CUDA's has one
    return rate


def peak_flops(device: Device, width: int) -> float | None:
    """`max_flops` of `device`; None where its architecture, size or clock is not known."""
    if (device.device_type, device.arch) not in _PRODUCTS:
        return None
    sms, clock_khz = device.num_sms or 0, device.clock_rate_khz or 0
    if sms <= 0 or clock_khz <= 0:
        return None
    return max_flops(device.device_type, device.arch, width, sms, clock_khz)


def peak_fp32(device: Device) -> float | None:
    """The peak of FP32 outside matrix units, in operations a second; None where it is not known.

    Matrix units round operands of 32 bits to TF32, so a kernel that keeps FP32 has this roof.
    """
    product = _PRODUCTS.get((device.device_type, device.arch))
    sms, clock_khz = device.num_sms or 0, device.clock_rate_khz or 0
    if product is None or sms <= 0 or clock_khz <= 0:
        return None
    return 2.0 * product.fp32_lanes * sms * clock_khz * 1e3


def peak_bytes_per_second(device: Device) -> float | None:
    """`max_bps` of `device`; None where its architecture, bus or memory clock is not known."""
    if device.device_type == "CUDA":
        bus_width, clock_khz = device.bus_width or 0, device.memory_clock_rate_khz or 0
        if bus_width <= 0 or clock_khz <= 0:
            return None
        return max_bps("CUDA", device.arch, bus_width, clock_khz)
    product = _PRODUCTS.get((device.device_type, device.arch))
    return None if product is None else product.bytes_per_second


def _product(device_type: str, arch: str | int) -> _Product:
    product = _PRODUCTS.get((device_type, str(arch)))
    if product is None:
        known = [f"{known_type} {known_arch}" for known_type, known_arch in _PRODUCTS]
        raise UsageError.unknown("device", f"{device_type} {arch}", choices=known)
    return product
