from __future__ import annotations

import json
from dataclasses import replace

import pytest

from proton.model.in_kernel import Change, RecordedKernel, active_over_time
from proton.model.schema import to_object
from tests.support.in_kernel import KERNEL


def test_what_it_says_is_plain_json() -> None:
    said = to_object(KERNEL)
    assert json.loads(json.dumps(said)) == said
    assert said["regions"][1]["parent"] == 0
    assert said["changed"]["spills"] == [0, 16]
    assert said["ctas"]["per_sm"] == [0.9, None, 0.5, 1.0]


def test_what_is_not_known_is_left_out() -> None:
    said = to_object(RecordedKernel("k"))
    assert not {"ctas", "clock_ghz", "error_cycles", "device_id"} & said.keys()
    unspread = replace(KERNEL.regions[0], p10=None)
    assert "p10" not in to_object(replace(KERNEL, regions=(unspread,)))["regions"][0]


def test_spills_and_fewer_warps_are_harm_and_other_changes_are_not() -> None:
    assert set(KERNEL.harm()) == {"spills", "occupancy"}
    better = {"spills": Change(16, 0), "occupancy": Change(8, 16), "registers": Change(1, 200)}
    assert replace(KERNEL, changed=better).harm() == {}
    unknown = {"spills": Change(None, 0), "occupancy": Change(8, None)}
    assert replace(KERNEL, changed=unknown).harm() == {}


def test_spills_are_harm_where_the_kernel_is_not_known_without_records() -> None:
    changed = {"spills": Change(None, 16), "occupancy": Change(None, 8)}
    assert set(replace(KERNEL, changed=changed).harm()) == {"spills"}


def test_ctas_that_run_are_counted_in_parts_of_the_time() -> None:
    times = [(0, 40), (0, 20), (10, 30), (25, 40)]
    assert active_over_time(times, 0, 40, parts=4) == (2.0, 3.0, 2.5, 2.0)
    assert active_over_time([(5, 15)], 0, 40, parts=4) == (0.5, 0.5, 0.0, 0.0)


def test_the_mean_over_time_is_the_time_of_all_ctas() -> None:
    times = [(at * 7 % 900, at * 7 % 900 + at % 97 + 3) for at in range(500)]
    shares = active_over_time(times, 0, 1000)
    assert len(shares) == 64
    assert sum(shares) * 1000 / 64 == pytest.approx(sum(b - a for a, b in times), rel=1e-3)


def test_no_time_has_no_parts() -> None:
    assert active_over_time([(5, 5)], 5, 5) == ()
    assert active_over_time([], 0, 64) == (0.0,) * 64
