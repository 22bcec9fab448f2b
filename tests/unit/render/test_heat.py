from __future__ import annotations

from proton.model.in_kernel import HeatMap
from proton.render.text.memory_accesses import heat_lines
from proton.render.text.style import ASCII, Style
from proton.render.units import format_bytes


def test_a_map_has_a_block_a_bin_and_says_what_it_is() -> None:
    heat = HeatMap("a_ptr", 65536, 512, 4096, (4, 0, 8, 500))
    assert heat_lines(heat, Style()) == [
        "a_ptr  64.0 KiB moved by 512 accesses",
        "+0 B        ░ ░█",
        "a block is 4.0 KiB; accesses up to: ░ 125, ▒ 250, ▓ 375, █ 500; blank: none",
        "3 of 4 bins of 4.0 KiB touched (75 %)",
    ]


def test_a_map_says_where_most_bytes_were_moved() -> None:
    heat = HeatMap("a_ptr", 65536, 512, 4096, (4, 0, 8, 500), (16, 0, 63520, 2000))
    assert heat_lines(heat, Style())[-1] == "busiest bin: 62.0 KiB moved, at +8.0 KiB"


def test_many_bins_are_put_together_to_fit_the_width() -> None:
    heat = HeatMap("x", 1, 1, 1024, tuple([1] * 10_000))
    lines = heat_lines(heat, Style(width=40))
    rows = [line for line in lines if line.startswith("+")]
    assert len(rows) <= 16
    assert all(len(line) <= 40 for line in lines)
    assert lines[0] == "x  1 B moved by 1 access"
    assert any(line.startswith("a block is 23.0 KiB") for line in lines)
    assert sum(line.count("█") + line.count("▓") for line in rows) == -(-10_000 // 23)


def test_a_map_without_accesses_says_so() -> None:
    for bins in ((), (0, 0)):
        lines = heat_lines(HeatMap("", 0, 0, 4096, bins), Style())
        assert lines == [
            "tensor  0 B moved by 0 accesses",
            "no access was counted by address",
        ]


def test_terminals_without_blocks_get_letters() -> None:
    lines = heat_lines(HeatMap("a", 1, 9, 1, (1, 9)), Style(glyphs=ASCII))
    assert all(line.isascii() for line in lines)
    assert lines[1] == "+0 B        .#"


def test_sizes_read_well() -> None:
    assert [format_bytes(size) for size in (0, 1023, 1536, 5 * 2**20, 3 * 2**30)] == [
        "0 B", "1 023 B", "1.5 KiB", "5.0 MiB", "3.0 GiB",
    ]  # fmt: skip
