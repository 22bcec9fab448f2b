from __future__ import annotations

from collections.abc import Callable

import pytest

from proton.analysis.roofline import bound_by, roof_of
from proton.model.device import Device, peak_bytes_per_second, peak_flops
from proton.model.profile import TreeProfile

MakeProfile = Callable[..., TreeProfile]
FAST = Device("CUDA", "0", "90", 132, 1_980_000, 3_201_000, 6144)
SLOW = Device("CUDA", "1", "80", 108, 1_410_000, 1_215_000, 5120)
UNKNOWN = Device("CUDA", "2", "999", 1, 1, None, None)


def peak(device: Device, width: int) -> float:
    found = peak_flops(device, width)
    assert found is not None
    return found


def kernel(index: str, **amounts: float) -> dict[str, object]:
    return {"time (ns)": 1000, "device_id": index, "device_type": "CUDA", **amounts}


def test_flops_of_several_widths_take_their_times_one_after_the_other(
    make_profile: MakeProfile,
) -> None:
    profile = make_profile([(0, "ROOT", {}), (1, "k", kernel("0", flops8=1e9, flops16=1e9))])
    expected = 1e9 / peak(FAST, 8) + 1e9 / peak(FAST, 16)
    assert roof_of(profile).flops_s[1] == pytest.approx(expected)


def test_the_roof_is_the_worse_of_flops_and_bytes_in_each_context(
    make_profile: MakeProfile,
) -> None:
    rows = [
        (0, "ROOT", {}),
        (1, "heavy", kernel("0", flops16=1e12, bytes=1)),
        (1, "wide", kernel("0", flops16=1, bytes=1e9)),
    ]
    roof = roof_of(make_profile(rows, devices=[FAST]))
    memory = peak_bytes_per_second(FAST)
    assert memory is not None
    assert roof.least_s[0] == pytest.approx(1e12 / peak(FAST, 16) + 1e9 / memory)


def test_peaks_are_those_of_the_device_a_context_ran_on(make_profile: MakeProfile) -> None:
    rows = [
        (0, "ROOT", {}),
        (1, "a", kernel("0", flops16=1e12)),
        (1, "b", kernel("1", flops16=1e12)),
    ]
    roof = roof_of(make_profile(rows, devices=[FAST, SLOW]))
    assert roof.flops_s[1] == pytest.approx(1e12 / peak(FAST, 16))
    assert roof.flops_s[2] == pytest.approx(1e12 / peak(SLOW, 16))


def test_work_declared_on_a_scope_counts_for_the_device_below_it(
    make_profile: MakeProfile,
) -> None:
    rows = [(0, "ROOT", {}), (1, "scope", {"flops16": 1e12}), (2, "k", kernel("1"))]
    roof = roof_of(make_profile(rows, devices=[FAST, SLOW]))
    assert roof.flops_s[1] == pytest.approx(1e12 / peak(SLOW, 16))


def test_work_on_a_scope_over_two_devices_has_no_known_roof(make_profile: MakeProfile) -> None:
    rows = [
        (0, "ROOT", {}),
        (1, "scope", {"bytes": 8}),
        (2, "a", kernel("0")),
        (2, "b", kernel("1")),
    ]
    roof = roof_of(make_profile(rows, devices=[FAST, SLOW]))
    assert roof.is_unknown[1]
    assert not roof.is_unknown[2]


def test_an_unknown_device_makes_all_above_it_unknown(make_profile: MakeProfile) -> None:
    rows = [
        (0, "ROOT", {}),
        (1, "a", {}),
        (2, "k", kernel("2", flops16=1.0)),
        (1, "b", kernel("0", flops16=1.0)),
    ]
    roof = roof_of(make_profile(rows, devices=[FAST, UNKNOWN]))
    assert list(roof.is_unknown) == [True, True, True, False]


def test_no_declared_work_is_not_an_unknown_roof(make_profile: MakeProfile) -> None:
    roof = roof_of(make_profile([(0, "ROOT", {}), (1, "k", kernel("0"))]))
    assert roof.least_s[1] is None
    assert not roof.is_unknown[1]


@pytest.mark.parametrize(
    ("flops_s", "bytes_s", "bound"),
    [(2.0, 1.0, "compute"), (1.0, 2.0, "memory"), (None, 1.0, "memory"), (None, None, None)],
)
def test_the_bound_is_the_longer_of_the_two(
    flops_s: float | None, bytes_s: float | None, bound: str | None
) -> None:
    assert bound_by(flops_s, bytes_s) == bound
