"""Tests of the dots of a roofline: sums by name and device, least times, what could be saved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.analysis.roofline import dots_of
from proton.model.device import Device, peak_bytes_per_second, peak_flops
from proton.model.frame import FrameKind
from tests.support.profiles import H200, Row, profile_of, tree_in

SLOW = Device("CUDA", "1", "80", 108, 1_410_000, 1_215_000, 5120)
STRANGE = Device("CUDA", "0", "999", 1, 1, None, None)


def kernel(time_ns: int, device: str = "0", **work: float) -> dict[str, int | float | str]:
    labels = {"device_id": device, "device_type": "CUDA"}
    return {"time (ns)": time_ns, "count": 2, **labels, **work}


def test_contexts_of_one_kernel_are_one_dot() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "k", kernel(1000, flops16=1e8, bytes=1e5)),
        (1, "k", kernel(3000, flops16=3e8, bytes=1e5)),
    ]
    (dot,) = dots_of(profile_of(rows))
    assert (dot.name, dot.contexts, dot.count, dot.time_ns, dot.row) == ("k", 2, 4, 4000, 1)
    assert dot.intensity == pytest.approx(2000)
    peak = peak_flops(H200, 16)
    assert peak is not None
    assert dot.least_ns == pytest.approx(4e8 / peak * 1e9)
    assert (dot.bound, dot.width) == ("compute", 16)


def test_the_roof_is_that_of_each_context() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "k", kernel(1000, flops16=1e9, bytes=1)),
        (1, "k", kernel(1000, flops16=1, bytes=1e6)),
    ]
    (dot,) = dots_of(profile_of(rows))
    flops, memory = peak_flops(H200, 16), peak_bytes_per_second(H200)
    assert flops is not None
    assert memory is not None
    assert dot.least_ns == pytest.approx((1e9 / flops + 1e6 / memory) * 1e9)


def test_devices_have_dots_of_their_own() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "k", kernel(1000, "0", flops16=1e6)),
        (1, "k", kernel(1000, "1", flops16=1e6)),
    ]
    found = dots_of(profile_of(rows, devices=[H200, SLOW]))
    assert {(dot.device, dot.contexts) for dot in found} == {(0, 1), (1, 1)}


def test_those_with_the_most_to_win_come_first_and_unknown_ones_last() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "good", kernel(1_000_000, bytes=4e9)),
        (1, "bad", kernel(900_000, bytes=1e6)),
        (1, "plain", kernel(5_000_000, flops=1e6)),
    ]
    assert [dot.name for dot in dots_of(profile_of(rows))] == ["bad", "good", "plain"]


def test_work_of_no_stated_width_has_a_rate_and_no_roof() -> None:
    (dot,) = dots_of(profile_of([(0, "ROOT", {}), (1, "k", kernel(10, flops=50.0))]))
    assert (dot.flops, dot.width, dot.least_ns, dot.bound) == (50.0, None, None, None)


def test_contexts_of_a_name_count_with_and_without_a_width() -> None:
    rows: list[Row] = [
        (0, "ROOT", {}),
        (1, "k", kernel(10, flops=50.0)),
        (1, "k", kernel(10, flops32=30.0)),
    ]
    (dot,) = dots_of(profile_of(rows))
    assert dot.flops == 80.0


def test_an_unknown_device_has_no_least_time() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", kernel(10, flops16=5.0, bytes=5))]
    (dot,) = dots_of(profile_of(rows, devices=[STRANGE]))
    assert (dot.least_ns, dot.intensity) == (None, 1.0)


def test_a_scope_that_declares_work_has_the_time_below_it() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "s", {"flops16": 1e6}), (2, "k", kernel(700))]
    (dot,) = dots_of(profile_of(rows))
    assert (dot.name, dot.time_ns, dot.count) == ("s", 700, 2)


def test_copies_are_no_dots() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "<memcpy DtoH>", kernel(10, bytes=8))])
    tree = tree_in(profile)
    frames = [tree.frames[0], tree.frames[1]._replace(kind=FrameKind.COPY)]
    assert dots_of(replace(profile, tree=replace(tree, frames=frames))) == []


def test_no_time_no_dots() -> None:
    assert dots_of(profile_of([(0, "ROOT", {}), (1, "s", {"flops16": 1e6})])) == []
