from __future__ import annotations

from dataclasses import replace

from proton.model.in_kernel import Change, FirstAddress, HeatMap, RecordedKernel, Region, Value
from proton.model.merge import merge_profiles
from proton.model.merge_in_kernel import merge_in_kernel
from proton.model.profile import Profile
from tests.support.in_kernel import CTAS, KERNEL, REGIONS


def merged(*parts: RecordedKernel) -> RecordedKernel:
    (kernel,) = merge_in_kernel([[part] for part in parts])
    return kernel


def test_nothing_merges_to_nothing_and_one_to_itself() -> None:
    assert merge_in_kernel([]) == ()
    assert merged(KERNEL) is KERNEL


def test_counts_and_losses_are_summed() -> None:
    both = merged(KERNEL, KERNEL)
    assert (both.launches, both.recorded_warps) == (4, 128)
    assert both.losses == {"overflowed_records": 24}
    assert (both.record_cycles, both.error_cycles) == (21.5, 15.0)
    assert [region.count for region in both.regions] == [1024, 1024, 1024, 128]
    assert both.regions[2].cycles == 409600.0


def test_replays_are_summed() -> None:
    captured = replace(KERNEL, replays=10, losses={"unread_replays": 8})
    both = merged(captured, captured)
    assert (both.launches, both.replays, both.losses) == (4, 20, {"unread_replays": 16})


def test_kernels_of_other_contexts_modes_and_devices_stay_apart() -> None:
    others = [
        replace(KERNEL, context=("eval",)),
        replace(KERNEL, mode="cta"),
        replace(KERNEL, device_id=1),
        replace(KERNEL, kernel="other"),
    ]
    assert merge_in_kernel([[KERNEL], others]) == (KERNEL, *others)


def test_quantiles_that_differ_are_not_known_any_more_and_extremes_are() -> None:
    slower = replace(KERNEL.regions[0], p10=1.0, min=1, max=9000)
    both = merged(KERNEL, replace(KERNEL, regions=(slower,)))
    assert both.regions[0] == replace(
        KERNEL.regions[0],
        count=1024,
        cycles=819200.0,
        ns=513281.0,
        p10=None,
        p50=None,
        p90=None,
        min=1,
        max=9000,
    )
    assert both.regions[1].p50 == 200.0


def test_regions_are_found_by_what_they_are_not_by_their_numbers() -> None:
    tile, load, *_ = KERNEL.regions
    turned = (Region("new", parent=1, count=1), tile, replace(load, parent=1))
    both = merged(KERNEL, replace(KERNEL, regions=turned))
    assert [(region.name, region.parent, region.count) for region in both.regions] == [
        ("tile", -1, 1024),
        ("load a", 0, 1024),
        ("dot", 0, 512),
        ("epilogue", -1, 64),
        ("new", 0, 1),
    ]


def test_a_part_that_never_came_to_a_region_does_not_hide_its_spread() -> None:
    never = Region("tile", "mm.py", 20, "loop")
    assert merged(replace(KERNEL, regions=(never,)), KERNEL).regions[0] == KERNEL.regions[0]
    assert merged(KERNEL, replace(KERNEL, regions=(never,))).regions[0] == KERNEL.regions[0]


def test_the_clock_is_the_mean_over_launches_that_know_it() -> None:
    faster = replace(KERNEL, clock_ghz=1.796, launches=6)
    assert merged(KERNEL, faster, replace(KERNEL, clock_ghz=None)).clock_ghz == 1.746


def test_ctas_and_changes_are_those_of_the_last_part_that_has_them() -> None:
    later = replace(KERNEL, ctas=replace(CTAS, count=20), changed={})
    both = merged(KERNEL, later, replace(KERNEL, ctas=None, changed={}))
    assert both.ctas is not None
    assert both.ctas.count == 20
    assert both.changed == KERNEL.changed


def test_changes_that_are_known_stay_before_later_ones_that_are_not() -> None:
    unknown = replace(KERNEL, changed={"spills": Change(None, 16)})
    assert merged(KERNEL, unknown).changed == KERNEL.changed
    assert merged(unknown, replace(KERNEL, changed={})).changed == unknown.changed


def test_kernels_that_were_thinned_out_are_not_added_to_whole_ones() -> None:
    thin = replace(KERNEL, every=4, regions=[replace(REGIONS[0], every=4)])
    whole, some = merge_in_kernel([[KERNEL, thin], [thin]])
    assert (whole.every, whole.regions[0].every, whole.regions[0].count) == (1, 1, 512)
    assert (some.every, some.regions[0].every, some.regions[0].count) == (4, 4, 1024)


def test_values_and_heat_maps_are_added() -> None:
    other = replace(
        KERNEL,
        values=(Value("k", 2, -2.5, -2.5, -2.5, not_finite=1), Value("n", 1, 5.0, 5, 5)),
        heat=(
            HeatMap("a_ptr", 10, 2, 4096, (1,), (10,)),
            HeatMap("a_ptr", 10, 2, 8192, (1,)),
        ),
    )
    both = merged(KERNEL, other)
    assert both.values == (
        Value("k", 66, 125.5, -2.5, 4, not_finite=1),
        Value("n", 1, 5.0, 5, 5),
    )
    assert both.heat == (
        HeatMap("a_ptr", 65546, 514, 4096, (5, 0, 8, 500), (26, 0, 64, 65456)),
        HeatMap("a_ptr", 10, 2, 8192, (1,)),
    )


def test_bytes_by_address_that_one_part_does_not_know_are_not_known() -> None:
    older = replace(KERNEL, heat=(replace(KERNEL.heat[0], byte_bins=()),))
    for both in (merged(KERNEL, older), merged(older, KERNEL)):
        (heat,) = both.heat
        assert (heat.bins, heat.byte_bins) == ((8, 0, 16, 1000), ())


def test_first_addresses_are_those_of_the_last_part_that_has_some() -> None:
    load, store = KERNEL.accesses
    later = replace(load, first=(FirstAddress(4, 2, "", 0x7F00),), first_of=1)
    both = merged(
        KERNEL,
        replace(KERNEL, accesses=(later, store)),
        replace(KERNEL, accesses=(replace(load, first=(), first_of=0), store)),
    )
    assert both.accesses[0].first == later.first
    assert (both.accesses[0].first_of, both.accesses[0].accesses) == (1, 3 * 12288)


def test_accesses_are_added_by_place() -> None:
    moved = replace(KERNEL.accesses[0], line=99)
    both = merged(KERNEL, replace(KERNEL, accesses=(KERNEL.accesses[0], moved)))
    assert [(site.line, site.accesses, site.bytes) for site in both.accesses] == [
        (22, 24576, 98304),
        (31, 4096, 16384),
        (99, 12288, 49152),
    ]
    assert both.uncovered == {"copies by descriptor": 2}


def test_profiles_that_are_merged_have_their_kernels_merged() -> None:
    parts = [Profile("a", in_kernel=(KERNEL,)), Profile("b"), Profile("c", in_kernel=(KERNEL,))]
    (kernel,) = merge_profiles(parts, "all").in_kernel
    assert kernel.launches == 4
