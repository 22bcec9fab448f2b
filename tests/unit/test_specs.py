"""`proton.specs` against the module of the same name in Triton's profiler."""

from __future__ import annotations

from types import ModuleType

import pytest

from proton import specs

DEVICES = [
    ("CUDA", "80", 108, 1_410_000),
    ("CUDA", "89", 128, 2_520_000),
    ("CUDA", "90", 132, 1_980_000),
    ("CUDA", "100", 148, 1_965_000),
    ("HIP", "gfx90a", 110, 1_700_000),
    ("HIP", "gfx942", 304, 2_100_000),
    ("HIP", "gfx950", 256, 2_400_000),
]
# Triton's figures halve with every doubling of the width. Data sheets say otherwise for 64 bits,
# for 16 bits on MI250X (as fast as 8) and for 32 bits on MI355X (which has no TF32).
DIFFERENT = {("gfx90a", 16), ("gfx950", 32)}


@pytest.fixture
def known() -> ModuleType:
    module: ModuleType = pytest.importorskip("triton.profiler.specs")
    return module


def test_the_module_offers_the_known_names() -> None:
    tables = {"amd_bps_by_arch", "amd_fp8_flops_by_arch", "flops_by_device"}
    assert set(specs.__all__) == {"max_flops", "max_bps"} | tables


def test_comparison_the_tables_say_what_those_of_triton_say(known: ModuleType) -> None:
    assert specs.amd_bps_by_arch == known.amd_bps_by_arch
    for arch, theirs in known.amd_fp8_flops_by_arch.items():
        assert specs.amd_fp8_flops_by_arch[arch] == pytest.approx(theirs, rel=0.01)
    for device_type, arch, num_sms, clock_khz in DEVICES:
        if device_type == "CUDA":
            given = {"width": 8, "num_sms": num_sms, "clock_rate": clock_khz}
            theirs = known.flops_by_device["CUDA"][arch](**given)
            assert specs.flops_by_device["CUDA"][arch](**given) == pytest.approx(theirs, rel=0.01)


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize(("device_type", "arch", "num_sms", "clock_khz"), DEVICES)
def test_comparison_peaks_of_real_devices_are_those_of_triton(
    known: ModuleType, device_type: str, arch: str, num_sms: int, clock_khz: int, width: int
) -> None:
    ours = specs.max_flops(device_type, arch, width, num_sms, clock_khz)
    theirs = known.max_flops(device_type, arch, width, num_sms, clock_khz)
    assert (ours == pytest.approx(theirs, rel=0.01)) is ((arch, width) not in DIFFERENT)


@pytest.mark.parametrize(("device_type", "arch", "num_sms", "clock_khz"), DEVICES)
def test_comparison_memory_peaks_are_those_of_triton(
    known: ModuleType, device_type: str, arch: str, num_sms: int, clock_khz: int
) -> None:
    ours = specs.max_bps(device_type, arch, 5120, 1_593_000)
    assert ours == pytest.approx(known.max_bps(device_type, arch, 5120, 1_593_000), rel=0.01)
