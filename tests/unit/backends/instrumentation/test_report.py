"""From the recorder's sums to what stands in files."""

from __future__ import annotations

import json
from typing import Any

from proton.backends.instrumentation import kept_buffers
from proton.backends.instrumentation.kept_buffers import MemorySum
from proton.backends.instrumentation.loaded_kernels import LoadedKernel, ProbeCost
from proton.backends.instrumentation.report import changes, to_recorded_kernel
from proton.inkernel.compiler.compile_hook import KernelRecords
from proton.inkernel.memory_counts import AccessCount, MemoryReport, TensorHeat, TensorRange
from proton.model.in_kernel import Change, FirstAddress, HeatMap, RecordedKernel, Value
from proton.model.schema import to_object

REGIONS: list[dict[str, Any]] = [
    {"name": "loop", "kind": "loop", "file": "mm.py", "line": 3},
    {"name": "bytes", "kind": "value", "file": "mm.py", "line": 4},
    {"name": "dot", "kind": "op", "file": "mm.py", "line": 5},
]


def region(number: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("value_count", "value_min", "value_max", "value_not_finite"), 0)
    zeros = dict.fromkeys(("p10", "p50", "p90", "min", "max", "ns", "cycles", "value_sum"), 0.0)
    return {"region": number, "parent": parent, "count": 0, **zeros, **counts, **more}


def report(
    regions: list[dict[str, Any]],
    memory: MemorySum | None = None,
    *,
    described: list[dict[str, Any]] = REGIONS,
    thinning: int = 0,
    **more: Any,
) -> RecordedKernel:
    records = KernelRecords("ops", thinning, 512, 128, {"regions": described}, 4, {})
    kernel = LoadedKernel(0, "mm", 1, records, ProbeCost(20.0, 20.0, 1.5))
    found = {
        "name": "mm",
        "context": ["layer"],
        "is_captured": False,
        "device_id": 0,
        "launches": 2,
        "dropped": 0,
        "replays": 0,
        "recorded_warps": 8,
        "clock_ghz": 1.5,
        "record_cycles": 20.0,
        "regions": regions,
        "ctas": [],
        "losses": {},
        **more,
    }
    changed = changes({"registers": 32, "spills": 0}, {"registers": 40, "shared": 4096})
    return to_recorded_kernel(found, kernel, changed=changed, memory=memory)


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


def test_regions_and_kernels_that_were_thinned_out_say_so() -> None:
    thinned = [{**REGIONS[0], "every": 16}, *REGIONS[1:]]
    made = report([region(0, count=8), region(2, count=8)], described=thinned, thinning=2)
    assert (made.every, [each.every for each in made.regions]) == (16, [16, 1])
    said = to_object(made)
    assert (said["every"], said["regions"][0]["every"]) == (16, 16)
    assert "every" not in said["regions"][1]
    assert "every" not in to_object(report([]))


def test_replays_of_a_graph_are_those_that_were_read_and_those_that_were_not() -> None:
    made = report([], is_captured=True, launches=2, replays=10, losses={"unread_replays": 8})
    assert made.context == ("<captured_at>", "layer")
    assert (made.launches, made.replays, made.lost()) == (2, 10, {"unread_replays": 8})
    assert to_object(made)["replays"] == 10
    assert "replays" not in to_object(report([]))


def test_numbers_of_one_name_in_two_regions_are_one_value() -> None:
    made = report(
        [
            region(1, value_count=1, value_sum=5.0, value_min=5, value_max=5),
            region(1, 0, value_count=2, value_sum=3.0, value_min=1, value_max=2),
        ]
    )
    assert list(made.values) == [Value("bytes", 3, 8.0, 1.0, 5.0)]


def test_extremes_of_integers_stay_exact_and_floats_stay_floats() -> None:
    low, high = -(2**63), 2**63 - 1
    (made,) = report(
        [region(1, value_count=2, value_sum=-1.0, value_min=low, value_max=high)]
    ).values
    assert (made.min, made.max) == (low, high)
    assert json.loads(json.dumps(made.max)) == high
    (made,) = report(
        [region(1, value_count=1, value_sum=-0.25, value_min=-0.25, value_max=-0.25)]
    ).values
    assert made == Value("bytes", 1, -0.25, -0.25, -0.25)


def test_numbers_that_are_not_finite_are_counted_and_in_no_sum() -> None:
    made = report(
        [
            region(1, value_count=2, value_min=None, value_max=None, value_not_finite=2),
            region(
                *(1, 0),
                value_count=4,
                value_sum=3.0,
                value_min=-0.5,
                value_max=2.0,
                value_not_finite=1,
            ),
        ]
    )
    (value,) = made.values
    assert value == Value("bytes", 6, 3.0, -0.5, 2.0, not_finite=3)
    assert value.mean == 1.0
    assert to_object(made)["values"][0]["not_finite"] == 3


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
    assert report([]).changed == {"registers": Change(32, 40)}


def test_a_kernel_that_is_not_known_without_records_has_one_side() -> None:
    assert changes(None, {"registers": 40}) == {"registers": Change(None, 40)}


def test_memory_accesses_are_named_by_the_arguments_they_go_through() -> None:
    counted = AccessCount("load a", "load", "mm.py", 7, 6, "b", 64, 256, 4)
    elsewhere = AccessCount("store", "store", "mm.py", 9, None, "", 32, 128, 4)
    heat = TensorHeat("b", 256, 256, 0, 64, 4096, 128, (32, 32), (128, 128))
    total = MemorySum()
    total.add(MemoryReport((counted, elsewhere), (heat,), (), {"dropped_bytes": 3}, {"tma": 1}))
    total.add(MemoryReport((counted, elsewhere), (heat,), (), {"dropped_bytes": 0}, {"tma": 1}))
    made = report([], total)
    load, store = made.accesses
    assert (load.tensor, load.accesses, load.bytes) == ("b", 128, 512)
    assert (store.tensor, store.accesses) == ("", 64)
    assert list(made.heat) == [HeatMap("b", 512, 128, 128, (64, 64), (256, 256))]
    assert (made.losses, made.uncovered) == ({"dropped_bytes": 3}, {"tma": 1})


def test_first_addresses_are_those_of_the_last_launch_and_lie_in_tensors() -> None:
    load = AccessCount("load a", "load", "mm.py", 7, 1, "b", 64, 256, 4)
    store = AccessCount("store", "store", "mm.py", 9, None, "", 32, 128, 1)
    tensors = (TensorRange("view", 4096, 8192), TensorRange("b", 4096, 8192))
    total = MemorySum()
    for start in (4096, 4608):
        first = ((0, 0, 0, start), (1, 0, 0, 64), (0, 0, 1, start + 512))
        total.add(MemoryReport((load, store), (), first), tensors)
    made = report([], total)
    assert made.accesses[0].first == (FirstAddress(0, 0, "b", 512), FirstAddress(0, 1, "b", 1024))
    assert made.accesses[0].first_of == 4
    assert made.accesses[1].first == (FirstAddress(0, 0, "", 64),), "in no tensor"


def test_first_addresses_are_few_of_many_and_the_number_of_warps_is_said() -> None:
    sites = [AccessCount(f"load {n}", "load", "mm.py", n, None, "", 1, 4, 200) for n in range(30)]
    first = tuple((n, cta, 0, 4096) for cta in range(200) for n in range(30))
    total = MemorySum()
    total.add(MemoryReport(tuple(sites), (), first))
    kept = [len(site.first) for site in report([], total).accesses]
    assert max(kept) <= kept_buffers.MOST_FIRST_OF_SITE
    assert sum(kept) == kept_buffers.MOST_FIRST
    assert {site.first_of for site in report([], total).accesses} == {200}


def test_heat_maps_of_a_tensor_of_another_size_are_summed() -> None:
    total = MemorySum()
    for bins in ((1, 2), (4, 5, 6)):
        total.add(MemoryReport((), (TensorHeat("x", 8, 8, 0, 2, 0, 4, bins, bins),)))
    assert list(report([], total).heat) == [HeatMap("x", 16, 4, 4, (5, 7, 6), (5, 7, 6))]


def test_a_captured_kernel_stands_below_its_capture() -> None:
    assert report([], is_captured=True).context == ("<captured_at>", "layer")
