from __future__ import annotations

from dataclasses import replace

from proton.model.in_kernel import Region
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.text.row_labels import RegionLabels
from proton.render.text.style import Style
from tests.support.in_kernel import KERNEL
from tests.unit.analysis.test_region_rows import TREE


def labels(*, marks_only: bool = False, tree: Tree = TREE) -> RegionLabels:
    profile = TreeProfile("f", tree=tree, in_kernel=(KERNEL,))
    return RegionLabels(profile, tree, Style(), marks_only=marks_only)


def test_regions_are_aligned_over_their_levels() -> None:
    assert labels().label(4, "tile", None) == (
        "tile    mm.py:20   98.5 % █████████▉  512 times, 700/800/950"
    )
    assert labels().label(5, "dot", None) == (
        "dot  mm.py:24   49.2 % ████▉       512 times, 390/400/410"
    )


def test_the_bar_and_then_the_line_give_way_where_room_is_short() -> None:
    assert labels().label(4, "tile", 50) == "tile    mm.py:20   98.5 %  512 times, 700/800/950"
    assert labels().label(4, "tile", 42) == "tile     98.5 %  512 times, 700/800/950"
    assert labels().label(4, "tile", 20) == "tile     98.5 %  51…"


def test_half_a_number_is_not_shown_where_the_spread_has_no_room() -> None:
    assert labels().label(4, "tile", 37) == "tile     98.5 %  512 times, p50 800"
    assert labels().label(5, "dot", 34) == "dot   49.2 %  512 times, p50 400"
    assert labels().label(4, "tile", 30) == "tile     98.5 %  512 times"


def test_events_are_said_to_count_in_the_cycles_above() -> None:
    event = Region("tile", kind="event", count=3, cycles=90)
    both = replace(KERNEL, regions=(event, Region("dot", count=3, cycles=9)))
    for kernel, is_said in ((both, True), (replace(KERNEL, regions=(event,)), False)):
        profile = TreeProfile("f", tree=TREE, in_kernel=(kernel,))
        names = RegionLabels(profile, TREE, Style(), marks_only=False)
        said = [note for note in names.explained([1] * len(TREE)) if note.startswith("tile: ")]
        assert (
            said
            == [
                "tile: events overlap other regions and have no share, though the cycles of their "
                "kernel include theirs"
            ]
            * is_said
        )


def test_a_kernel_has_its_mark_behind_it() -> None:
    mark = "matmul_kernel (! spills, occupancy changed, records lost)"
    assert labels().label(3, "matmul_kernel", None) == mark
    assert labels(marks_only=True).label(3, "matmul_kernel", 80) == mark
    assert labels().label(3, "matmul_kernel", 20) == "matmul_kernel (!)"
    assert labels().label(8, "matmul_kernel", None) is None


def test_marks_alone_leave_regions_as_they_are() -> None:
    found = labels(marks_only=True)
    assert found.label(4, "tile", None) is None
    assert found.explained([1] * len(TREE)) == []


def test_what_the_labels_mean_is_said_where_they_are_shown() -> None:
    (note,) = labels().explained([1] * len(TREE))
    assert "p10/p50/p90 of one passage over warps" in note
    assert labels().explained([0] * len(TREE)) == []


def test_a_region_without_share_or_spread_has_its_passages() -> None:
    moment = replace(KERNEL, regions=(Region("tile", count=3),))
    found = RegionLabels(
        TreeProfile("f", tree=TREE, in_kernel=(moment,)), TREE, Style(), marks_only=False
    )
    assert found.label(4, "tile", None) == f"tile  -{' ' * 22}3 times"
