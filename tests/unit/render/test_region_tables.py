from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.model.in_kernel import RecordedKernel, Region, Value
from proton.model.profile import Profile
from proton.render.text.region_tables import cycles_text, kernel_lines, place_of, region_tables
from proton.render.text.style import ASCII, Style
from tests.support.in_kernel import KERNEL

DATA = Path(__file__).resolve().parents[2] / "data"
PLAIN = replace(
    KERNEL, ctas=None, accesses=(), heat=(), values=(), losses={}, changed={}, context=()
)
PROFILE = Profile("run.hatchet", in_kernel=(replace(PLAIN, kernel="softmax"), KERNEL))


def table(kernel: RecordedKernel = PLAIN, width: int | None = None) -> list[str]:
    return kernel_lines(kernel, Style(width=width), full=False)


def test_regions_are_nested_with_cost_share_and_spread() -> None:
    assert table() == [
        "matmul_kernel   mode ops+loops   2 launches   64 warps   1.596 GHz",
        "",
        "region    line      count   cycles  share %              p10  p50  p90  avg ns",
        "tile      mm.py:20    512  409 600     98.5  █████████▉  700  800  950     501",
        "  load a  mm.py:22    512  102 400     24.6  ██▌         150  200  260     125",
        "  dot     mm.py:24    512  204 800     49.2  ████▉       390  400  410     251",
        "epilogue  mm.py:30     64    6 400      1.5  ▏            90  100  110    62.7",
        "cycles of all warps; share of the outermost regions; "
        "p10, p50, p90 of one passage in cycles, over warps",
        "21.5 cycles per record were subtracted; a passage may be off by 15 cycles",
    ]


def test_of_a_kernel_in_a_graph_the_title_says_how_many_replays_were_read() -> None:
    title, mark, *_ = table(replace(PLAIN, replays=1000, losses={"unread_replays": 998}))
    assert title.startswith("matmul_kernel   mode ops+loops   read 2 of 1 000 replays   64 warps")
    assert mark.startswith("! matmul_kernel: read 2 of 1 000 replays")


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
def test_lines_keep_to_the_width(width: int) -> None:
    lines = table(replace(KERNEL, kernel="k" * 200, context=("a" * 100,)), width)
    assert max(map(len, lines)) <= max(width, 47)  # name, line, count, cycles and share stay


def test_narrow_terminals_lose_the_bar_first_and_then_columns_from_the_right() -> None:
    assert "share %  p10  p50  p90  avg ns" in table(width=69)[2]
    narrow = kernel_lines(PLAIN, Style(width=55), full=False)
    assert any(line.endswith("share %  p10  p50") for line in narrow)


def test_what_was_lost_and_changed_stands_above_the_table() -> None:
    lines = table(KERNEL)
    assert lines[0].endswith("1.596 GHz   registers 128 -> 168")
    assert lines[1:4] == [
        "in train > forward",
        "! matmul_kernel: recording changed it: spills 0 -> 16 bytes, occupancy 16 -> 12",
        "! matmul_kernel: lost in-kernel: 12 overflowed_records",
    ]


def test_values_waves_accesses_and_heat_maps_follow_the_regions() -> None:
    lines = table(KERNEL)
    value, wave = lines.index("k         64     2   -1    4"), lines.index("time  ███▃")
    (access,) = (at for at, line in enumerate(lines) if line.startswith("load a   mm.py:22"))
    assert value < wave < access
    assert lines[-2] == "3 of 4 bins of 4.0 KiB touched (75 %)"


def test_numbers_that_are_not_finite_have_a_column_where_there_are_some() -> None:
    odd = (Value("loss", 8, 1.5, -0.25, 1.0, not_finite=2), Value("lost", 1, not_finite=1))
    lines = table(replace(PLAIN, values=odd))
    at = lines.index("value  count  not finite  mean    min  max")
    assert lines[at + 1] == "loss       8           2  0.25  -0.25    1"
    assert lines[at + 2] == "lost       1           1     -      -    -"
    assert not any("not finite" in line for line in table(KERNEL))


def test_moments_have_counts_only_and_events_are_explained() -> None:
    regions = (Region("done", kind="mark", count=7), Region("copy", kind="event", cycles=9.0))
    lines = table(replace(PLAIN, regions=regions))
    assert "done    -         7       -        -                -    -    -       -" in lines
    assert any(line.startswith("events are asynchronous") for line in lines)


def test_a_region_that_was_thinned_out_says_so_beside_its_name() -> None:
    regions = (replace(KERNEL.regions[0], every=4), KERNEL.regions[3])
    lines = table(replace(PLAIN, every=4, regions=regions))
    assert any(line.startswith("tile (1 of 4 iterations)  mm.py:20") for line in lines)
    assert any(line.startswith("epilogue                  mm.py:30") for line in lines)


def test_of_very_many_regions_the_largest_are_shown_unless_all_are_wanted() -> None:
    many = tuple(Region(f"r{number}", cycles=float(number)) for number in range(200))
    lines = table(replace(PLAIN, regions=many))
    assert "140 smaller regions; --full shows all" in lines
    assert not any(line.startswith("r7 ") for line in lines)
    assert any(
        line.startswith("r7 ")
        for line in kernel_lines(replace(PLAIN, regions=many), Style(), full=True)
    )


def test_a_kernel_without_records_says_so() -> None:
    assert table(RecordedKernel("k"))[-1] == "no records of it could be read"


def test_a_part_of_the_name_finds_the_kernel_in_all_its_contexts() -> None:
    twice = Profile(
        "f", in_kernel=(KERNEL, replace(KERNEL, context=("eval",)), *PROFILE.in_kernel[:1])
    )
    lines = region_tables(twice, "matmul", Style(), full=False)
    assert [line for line in lines if line.startswith("in ")] == ["in train > forward", "in eval"]


def test_no_kernel_or_several_list_the_candidates() -> None:
    with pytest.raises(
        UsageError,
        match="--regions 'zz' is not an instrumented kernel; there are: softmax, matmul_k",
    ):
        region_tables(PROFILE, "zz", Style(), full=False)
    with pytest.raises(UsageError, match="--regions 'm' means several kernels: softmax, matmul_"):
        region_tables(PROFILE, "m", Style(), full=False)


def test_a_profile_without_records_says_how_to_get_them() -> None:
    with pytest.raises(FormatError, match=r"f: has no records from inside kernels; record with"):
        region_tables(Profile("f"), "k", Style(), full=False)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "triton36_inkernel.hatchet",
            ["load - 14 209 94.0 888", "store - 904 6.0 56.5"],
        ),
        (
            "triton36_inkernel_trace.chrome_trace",
            ["load - 16 93.9 870", "store - 16 6.1 57"],
        ),
    ],
)
def test_regions_of_triton_s_own_profiler_have_a_table(name: str, rows: list[str]) -> None:
    """They were said to have no records from inside kernels."""
    profile = prepare(open_profile(DATA / name))
    lines = region_tables(profile, "", Style(glyphs=ASCII), full=False)
    plain = [" ".join(line.replace("#", " ").split()) for line in lines]
    assert [line for line in plain if line.startswith(("load", "store"))] == rows


def test_terminals_without_blocks_get_letters() -> None:
    lines = kernel_lines(KERNEL, Style(glyphs=ASCII), full=False)
    assert all(line.isascii() for line in lines)


def test_names_cannot_command_the_terminal() -> None:
    odd = Region("\x1b[2J", file="a\x07.py", line=1, cycles=1.0)
    text = "\n".join(table(replace(PLAIN, regions=(odd,), context=("\x1b",), mode="\x1bm")))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_places_and_cycles_read_well() -> None:
    places = [Region("r", "a/mm.py", 3), Region("r", "a/mm.py"), Region("r", "", 3), Region("r")]
    assert [place_of(region) for region in places] == ["mm.py:3", "mm.py", ":3", "-"]
    values = (None, 5.0, 5.25, 99.96, 1234.5)
    assert [cycles_text(value) for value in values] == ["-", "5", "5.2", "100.0", "1 234"]
