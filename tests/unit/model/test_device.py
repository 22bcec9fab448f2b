"""Peak rates: the data sheets' own figures, scaled, and None where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.errors import ProtonError
from proton.model.device import (
    Device,
    max_bps,
    max_flops,
    peak_bytes_per_second,
    peak_flops,
    peak_fp32,
)

H200 = Device("CUDA", "0", "90", 132, 1_980_000, 3_201_000, 6144, "NVIDIA H200")


@pytest.mark.parametrize(
    ("arch", "width", "num_sms", "clock_khz", "teraflops"),
    [
        ("80", 16, 108, 1_410_000, 312),
        ("90", 8, 132, 1_980_000, 1979),
        (80, 64, 108, 1_410_000, 19.5),
    ],
)
def test_the_product_itself_reaches_its_data_sheet(
    arch: str | int, width: int, num_sms: int, clock_khz: int, teraflops: float
) -> None:
    assert max_flops("CUDA", arch, width, num_sms, clock_khz) == pytest.approx(teraflops * 1e12)


def test_half_the_multiprocessors_at_half_the_clock_reach_a_quarter() -> None:
    whole = max_flops("HIP", "gfx942", 16, 304, 2_100_000)
    assert max_flops("HIP", "gfx942", 16, 152, 1_050_000) == pytest.approx(whole / 4)


@pytest.mark.parametrize(
    ("device_type", "arch", "width"), [("CUDA", "70", 16), ("XPU", "90", 16), ("CUDA", "90", 7)]
)
def test_an_unknown_device_or_width_is_refused_with_the_choices(
    device_type: str, arch: str, width: int
) -> None:
    with pytest.raises(ValueError, match="choose one of") as caught:
        max_flops(device_type, arch, width, 100, 1_000_000)
    assert isinstance(caught.value, ProtonError)


def test_memory_of_an_unknown_hip_device_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown device 'HIP gfx1100'"):
        max_bps("HIP", "gfx1100", 4096, 1_000_000)


def test_memory_moves_twice_a_clock() -> None:
    assert peak_bytes_per_second(H200) == pytest.approx(4.917e12, rel=1e-3)


def test_a_device_of_a_profile_has_the_peak_of_its_architecture() -> None:
    assert peak_flops(H200, 16) == pytest.approx(989.4e12)


def test_memory_of_an_amd_device_needs_only_its_architecture() -> None:
    assert peak_bytes_per_second(Device("HIP", "0", "gfx942")) == 5.3e12


@pytest.mark.parametrize(
    "device",
    [
        Device("CPU", "0", "interpreter", 2, 3_000_000, 1_000_000, 64),
        replace(H200, arch="75"),
        replace(H200, num_sms=None),
        replace(H200, clock_rate_khz=None),
        replace(H200, clock_rate_khz=-1),
        replace(H200, num_sms=0),
    ],
)
def test_the_peak_is_missing_where_the_file_or_we_do_not_know(device: Device) -> None:
    assert peak_flops(device, 16) is None


@pytest.mark.parametrize(
    "device",
    [
        Device("CPU", "0", "interpreter"),
        replace(H200, bus_width=None),
        replace(H200, bus_width=-1),
        replace(H200, memory_clock_rate_khz=0),
        Device("HIP", "0", "gfx1100"),
    ],
)
def test_the_memory_peak_is_missing_where_it_is_not_known(device: Device) -> None:
    assert peak_bytes_per_second(device) is None


@pytest.mark.parametrize(
    ("device_type", "arch", "num_sms", "clock_khz", "teraflops"),
    [
        ("CUDA", "80", 108, 1_410_000, 19.5),
        ("CUDA", "89", 128, 2_520_000, 82.6),
        ("CUDA", "90", 132, 1_980_000, 66.9),
        ("HIP", "gfx90a", 220, 1_700_000, 47.9),
        ("HIP", "gfx942", 304, 2_100_000, 163.4),
        ("HIP", "gfx950", 256, 2_400_000, 157.3),
    ],
)
def test_fp32_outside_matrix_units_is_what_data_sheets_say(
    device_type: str, arch: str, num_sms: int, clock_khz: int, teraflops: float
) -> None:
    device = Device(device_type, "0", arch, num_sms, clock_khz)
    assert peak_fp32(device) == pytest.approx(teraflops * 1e12, rel=2e-3)


def test_fp32_of_an_unknown_device_is_not_known() -> None:
    assert peak_fp32(Device("CUDA", "0", "75", 72, 1_500_000)) is None
    assert peak_fp32(Device("CUDA", "0", "90")) is None
