"""From the recorder's sums to what stands in files."""

from __future__ import annotations

from typing import Any

import pytest

from proton.backends.instrumentation.kernels import LoadedKernel, ProbeCost
from proton.backends.instrumentation.report import summarize_ctas, to_recorded_kernel
from proton.inkernel.compile import KernelRecords
from proton.model.in_kernel import Change, RecordedKernel, Value

REGIONS = [
    {"name": "loop", "kind": "loop", "file": "mm.py", "line": 3},
    {"name": "bytes", "kind": "value", "file": "mm.py", "line": 4},
    {"name": "dot", "kind": "op", "file": "mm.py", "line": 5},
]


def region(number: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("value_count", "value_min", "value_max"), 0)
    zeros = dict.fromkeys(("p10", "p50", "p90", "min", "max", "ns", "cycles", "value_sum"), 0.0)
    return {"region": number, "parent": parent, "count": 0, **zeros, **counts, **more}


def report(regions: list[dict[str, Any]], **more: Any) -> RecordedKernel:
    plain = {"registers": 32, "spills": 0}
    records = KernelRecords("ops", 0, 512, 128, {"regions": REGIONS}, 4, None, plain, {})
    kernel = LoadedKernel(0, 1, records, ProbeCost(20.0, 1.5))
    found = {
        "name": "mm",
        "context": ["layer"],
        "is_captured": False,
        "device_id": 0,
        "launches": 2,
        "dropped": 0,
        "recorded_warps": 8,
        "clock_ghz": 1.5,
        "record_cycles": 20.0,
        "regions": regions,
        "ctas": [],
        "losses": {},
        **more,
    }
    return to_recorded_kernel(found, kernel, {"registers": 40.0, "spills": 8.0, "shared": 4096.0})


def test_regions_keep_their_parents_though_values_stand_between_them() -> None:
    made = report(
        [
            region(0, count=8, cycles=800.0, ns=500.0, p50=100.0),
            region(1, 0, value_count=3, value_sum=12.0, value_min=2, value_max=6),
            region(2, 0, count=16, cycles=400.0, ns=250.0, p10=20.0, p50=25.0, p90=30.0),
        ]
    )
    loop, dot = made.regions
    assert (loop.name, loop.parent, loop.count, loop.p50) == ("loop", -1, 8, 100.0)
    assert (dot.name, dot.parent, dot.line, dot.p90) == ("dot", 0, 5, 30.0)
    assert list(made.values) == [Value("bytes", 3, 12.0, 2.0, 6.0)]
    assert (made.context, made.mode, made.error_cycles) == (("layer",), "ops", 1.5)


def test_numbers_of_one_name_in_two_regions_are_one_value() -> None:
    made = report(
        [
            region(1, value_count=1, value_sum=5.0, value_min=5, value_max=5),
            region(1, 0, value_count=2, value_sum=3.0, value_min=1, value_max=2),
        ]
    )
    assert list(made.values) == [Value("bytes", 3, 8.0, 1.0, 5.0)]


def test_a_region_that_nobody_came_to_has_no_quantiles() -> None:
    (loop,) = report([region(0)]).regions
    assert (loop.count, loop.p50, loop.min, loop.ns) == (0, None, None, None)


def test_losses_have_the_words_of_files() -> None:
    counts = {"overwritten_records": 7, "unmatched_starts": 1, "unmatched_ends": 2, "too_deep": 3}
    made = report([], losses=counts, dropped=4)
    assert made.losses == {
        "overflowed_records": 7,
        "too_deep": 3,
        "unmatched": 3,
        "dropped_buffers": 4,
    }


def test_what_recording_changed_stands_where_both_numbers_are_known() -> None:
    assert report([]).changed == {"registers": Change(32, 40.0), "spills": Change(0, 8.0)}


def test_a_captured_kernel_stands_below_its_capture() -> None:
    assert report([], is_captured=True).context == ("<captured_at>", "layer")


def test_ctas_are_told_by_multiprocessor_and_wave() -> None:
    """Two SMs; the second CTA of SM 0 runs alone at the end."""
    ctas = summarize_ctas([(0, 0, 100, 200), (1, 2, 100, 220), (2, 0, 220, 300)])
    assert ctas is not None
    assert (ctas.count, ctas.sms, ctas.first_start_ns, ctas.last_end_ns) == (3, 2, 100, 300)
    assert (ctas.p50_ns, ctas.p99_ns) == (100, 120)
    assert ctas.waves == 1.5
    assert ctas.tail_ns == 80
    assert list(ctas.per_sm) == [0.9, None, 0.6]


def test_no_times_are_no_ctas() -> None:
    assert summarize_ctas([]) is None


@pytest.mark.parametrize(("count", "at"), [(1, 0), (2, 0), (100, 49), (101, 50)])
def test_the_median_is_the_nearest_rank(count: int, at: int) -> None:
    ctas = summarize_ctas([(n, n, 0, 10 + n) for n in range(count)])
    assert ctas is not None
    assert ctas.p50_ns == 10 + at
