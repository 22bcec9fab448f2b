from __future__ import annotations

from dataclasses import replace

from proton.analysis.regions import by_cycles, order_of, shares_of
from proton.model.in_kernel import RecordedKernel, Region
from tests.support.in_kernel import KERNEL


def kernel(*regions: Region) -> RecordedKernel:
    return RecordedKernel("k", regions=regions)


def test_shares_are_of_the_outermost_regions() -> None:
    assert shares_of(KERNEL) == [409600 / 416000, 102400 / 416000, 204800 / 416000, 6400 / 416000]


def test_events_are_no_part_of_the_whole() -> None:
    found = kernel(Region("a", cycles=60.0), Region("e", kind="event", cycles=900.0))
    assert shares_of(found) == [1.0, None]


def test_events_alone_share_among_themselves() -> None:
    both = [Region(name, kind="event", cycles=cycles) for name, cycles in (("a", 1.0), ("b", 3.0))]
    assert shares_of(kernel(*both)) == [0.25, 0.75]


def test_what_has_no_cycles_has_no_share() -> None:
    assert shares_of(kernel(Region("mark", kind="mark", count=5))) == [None]
    assert shares_of(kernel()) == []


def test_where_nothing_was_counted_in_cycles_shares_are_of_time() -> None:
    both = [Region(name, count=1, ns=time_ns) for name, time_ns in (("a", 30.0), ("b", 10.0))]
    assert shares_of(kernel(*both)) == [0.75, 0.25]


def test_kernels_with_the_most_cycles_come_first() -> None:
    small, large = kernel(Region("a", cycles=1.0)), kernel(Region("a", cycles=2.0))
    assert by_cycles([small, kernel(), large]) == [large, small, kernel()]


def test_regions_follow_their_parent_whatever_their_numbers() -> None:
    child, parent = Region("child", parent=1), Region("parent")
    assert order_of(kernel(child, parent, Region("last")), None) == [(1, 0), (0, 1), (2, 0)]


def test_of_many_regions_the_largest_are_kept_with_those_around_them() -> None:
    small = [Region(f"r{number}", cycles=float(number)) for number in range(50)]
    inner = Region("inner", parent=0, cycles=500.0)
    order = order_of(kernel(*small, inner), 3)
    assert order == [(0, 0), (50, 1), (48, 0), (49, 0)]
    assert len(order_of(replace(KERNEL, regions=small), 50)) == 50
