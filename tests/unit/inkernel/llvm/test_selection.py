"""Which warps and CTAs record, for every granularity and sampling option."""

import pytest

from proton.errors import UsageError
from proton.inkernel.llvm.allocation import Selection, warps_per_unit
from proton.inkernel.llvm.partitions import Partition
from proton.inkernel.modes.instrumentation_mode import Granularity, granularities
from proton.inkernel.modes.mode_table import Default


@pytest.mark.parametrize(
    ("granularity", "warps"),
    [
        ("warp", 1),
        ("warp_2", 2),
        ("warp_4", 4),
        ("warp_8", 8),
        ("warp_group", 4),
        ("warp_group_2", 8),
        ("warp_group_4", 16),
        ("warp_group_8", 32),
        ("cta", 12),
    ],
)
def test_a_unit_is_so_many_warps(granularity: str, warps: int) -> None:
    assert warps_per_unit(granularities[granularity], 12) == warps


def test_the_first_warp_of_each_unit_writes() -> None:
    assert Selection().streams(4) == (0, 1, 2, 3)
    assert Selection(Granularity.WARP_GROUP).streams(12) == (0, 4, 8)
    assert Selection(Granularity.CTA).streams(12) == (0,)
    assert Selection(Granularity.WARP_8).streams(4) == (0,)
    assert Selection(Granularity.WARP_GROUP, units=(0, 2)).streams(12) == (0, 8)


def test_each_partition_of_a_specialised_kernel_has_a_writer() -> None:
    small = (Partition(0, 4), Partition(4, 2), Partition(6, 1))
    groups = Selection(Granularity.WARP_GROUP)
    assert groups.streams(8, small) == (0, 4, 6)
    assert Selection(Granularity.WARP_GROUP, units=(2,)).streams(8, small) == (6,)
    assert Selection(Granularity.WARP_2).streams(8, small) == (0, 2, 4, 6)
    assert Selection(Granularity.WARP_8).streams(8, small) == (0, 4, 6)
    with pytest.raises(UsageError, match=r"unit 3 .* a CTA of 8 warps has 0 to 2"):
        Selection(Granularity.WARP_GROUP, units=(3,)).streams(8, small)
    assert Selection().streams(8, small) == tuple(range(8)), "a unit is a warp's number"
    assert Selection(Granularity.CTA).streams(8, small) == (0,)


def test_options_of_a_mode_list_units_or_ctas() -> None:
    listed = {"sampling_strategy": "selective", "sampling_options": "2,0,2"}
    assert Selection.of_mode(Default()) == Selection()
    assert Selection.of_mode(Default(**listed)) == Selection(units=(0, 2))  # type: ignore[arg-type]
    by_cta = Default(granularity="cta", **listed)  # type: ignore[arg-type]
    assert Selection.of_mode(by_cta) == Selection(Granularity.CTA, ctas=(0, 2))


def test_a_unit_that_a_cta_does_not_have_is_refused_with_the_range() -> None:
    with pytest.raises(UsageError, match=r"unit 4 .* a CTA of 4 warps has 0 to 3"):
        Selection(units=(4,)).streams(4)


def test_lists_rise_and_stride_and_list_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="must rise"):
        Selection(units=(2, 1))
    with pytest.raises(UsageError, match="cta_every=4"):
        Selection(ctas=(1,), cta_every=4)
    with pytest.raises(UsageError, match="cta_every=0"):
        Selection(cta_every=0)
    with pytest.raises(UsageError, match="list up to 64"):
        Selection(ctas=tuple(range(65)))
