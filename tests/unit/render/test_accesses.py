from __future__ import annotations

from dataclasses import replace

import pytest

from proton.model.in_kernel import AccessSite, FirstAddress
from proton.render.text.memory_accesses import access_lines, access_notes
from proton.render.text.style import ASCII, Style
from tests.support.in_kernel import KERNEL


def test_accesses_are_listed_by_bytes_with_their_share() -> None:
    turned = replace(KERNEL, accesses=KERNEL.accesses[::-1])
    assert access_lines(turned, Style(), full=False) == [
        "access   line      kind   tensor  accesses     bytes  share %",
        "load a   mm.py:22  copy   a_ptr     12 288  48.0 KiB     75.0  ███████▌",
        "store c  mm.py:31  store  -          4 096  16.0 KiB     25.0  ██▌",
        "64.0 KiB requested in all; a byte counts every time, whichever cache it comes from",
        "not counted, in instructions: 2 copies by descriptor",
        "load a: first byte of CTA.warp 0.0 a_ptr +0, 0.1 +2 048 "
        "(2 of 32 warps of the last launch)",
    ]


def test_first_addresses_name_a_tensor_once_and_all_are_shown_where_wanted() -> None:
    first = [
        FirstAddress(0, 0, "x", 0),
        FirstAddress(0, 1, "", 0x7F00),
        *(FirstAddress(1, warp, "x", 512 * warp) for warp in range(8)),
    ]
    sites = [AccessSite(f"a{n}", bytes=100 - n, first=first, first_of=64) for n in range(10)]
    kernel = replace(KERNEL, accesses=sites)
    notes = access_notes(kernel)
    assert notes[2] == (
        "a0: first byte of CTA.warp 0.0 x +0, 0.1 0x7f00, 1.0 x +0, 1.1 +512, 1.2 +1 024, "
        "1.3 +1 536 (6 of 64 warps of the last launch)"
    )
    assert [note[:3] for note in notes[2:10]] == [f"a{n}:" for n in range(8)]
    assert notes[10:] == ["first addresses of 2 smaller accesses are in the file"]
    full = access_notes(kernel, full=True)
    assert len(full) == 12
    assert full[-1].endswith("1.7 +3 584 (10 of 64 warps of the last launch)")


@pytest.mark.parametrize("width", [44, 55, 62, 70, 100])
def test_lines_keep_to_the_width(width: int) -> None:
    long = replace(KERNEL, accesses=(replace(KERNEL.accesses[0], name="n" * 90),))
    assert max(map(len, access_lines(long, Style(width=width), full=False))) <= width


def test_of_very_many_accesses_the_largest_are_shown_unless_all_are_wanted() -> None:
    many = replace(KERNEL, accesses=[AccessSite(f"a{n}", bytes=n) for n in range(50)])
    lines = access_lines(many, Style(), full=False)
    assert "10 smaller accesses; --full shows all" in lines
    assert not any(line.startswith("a9 ") for line in lines)
    assert any(line.startswith("a9 ") for line in access_lines(many, Style(), full=True))


def test_accesses_that_never_came_divide_by_nothing() -> None:
    idle = replace(KERNEL, accesses=(AccessSite(""),), uncovered={})
    lines = access_lines(idle, Style(glyphs=ASCII), full=False)
    assert lines[1].split() == ['""', "-", "-", "-", "0", "0", "B", "-"]
    assert all(line.isascii() for line in lines)


def test_names_cannot_command_the_terminal() -> None:
    odd = replace(
        KERNEL,
        accesses=(
            AccessSite(
                "\x1b[2J", "\x1b", "\x1b", 1, "\x1b", first=(FirstAddress(0, 0, "\x1b", 0),)
            ),
        ),
    )
    assert "\x1b" not in "".join(access_lines(odd, Style(), full=False))
