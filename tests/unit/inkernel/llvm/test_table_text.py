"""What the helpers write into the table of bins, run lane by lane, and what its reader finds."""

import random
from dataclasses import replace
from typing import Any

import pytest

from proton._native import DeviceMemory
from proton.inkernel.llvm.helpers import common_text
from proton.inkernel.llvm.plan import BufferPlan
from tests.support.llvm_walk import Walk
from tests.unit.inkernel.llvm.test_helpers import PLAN

PAGE = 4096
COLUMNS = ((0, 16, True), (3, 4, False))


class Lane(Walk):
    """One lane of a warp, alone or with 31 that do as it does."""

    def __init__(self, plan: BufferPlan, grid: int, cta: int, memory: bytearray) -> None:
        self.grid = grid
        self.is_warp = False
        primitives: dict[str, Any] = {
            "__proton_grid": lambda: grid,
            "__proton_cta": lambda: cta,
            "__proton_warp": lambda: 1,
            "__proton_together": lambda: 0,
            "__proton_rejoin": lambda mask: None,
            "__proton_same": lambda number, claim: int(claim and self.is_warp),
            "__proton_like": lambda key, mask, lower: (32 if self.is_warp else 1) << 8 | 3,
            "__proton_add": self.add,
            "__proton_add_warp": lambda at, is_lane0: self.add(at, 32 * is_lane0),
            "__proton_claim": self.claim,
            "llvm.ctlz.i32": lambda number, _: 32 - number.bit_length(),
        }
        super().__init__(common_text(plan), primitives, memory)
        self.table = self._given("__proton_table", 0)
        self.hashed = self._given("__proton_hashed", self.table) if plan.hashed else 0
        self.places = self._given("__proton_places") if plan.hashed else 0
        bits = self._given("__proton_all_row_bits")
        copy_bits = self._given("__proton_copy_bits", bits)
        self.near = self._given("__proton_near", bits, copy_bits)
        self.rows = self._given("__proton_rows", self.table, copy_bits, self.near)

    def _given(self, name: str, *arguments: int) -> int:
        found = self.call(name, *arguments)
        assert found is not None
        return found

    def read(self, at: int) -> int:
        return int.from_bytes(self.memory[at : at + 8], "little")

    def add(self, at: int, number: int) -> None:
        self.memory[at : at + 8] = (self.read(at) + number).to_bytes(8, "little")

    def claim(self, at: int, value: int) -> int:
        if not (old := self.read(at)):
            self.memory[at : at + 8] = value.to_bytes(8, "little")
        return old

    def touch(self, column: int, address: int, base: int, before: int = 0) -> None:
        last = (1, before, column * DeviceMemory.COLUMN_BYTES, self.near, 0, 1, 1)
        self.call("__proton_touch", self.rows, 0, address, base, *last)

    def touch_hashed(self, address: int, size: int, field: int) -> None:
        last = (1, 0, size, field, self.places, 0, 1)
        self.call("__proton_touch_hashed", self.hashed, 0, address, *last)


@pytest.mark.parametrize("grid", [1, 3, 64, 1024, 5000])
@pytest.mark.parametrize("bins", [(16, 0), (128, 64)], ids=["rows", "rows and hashed bins"])
def test_every_access_is_read_where_it_was_counted(grid: int, bins: tuple[int, int]) -> None:
    random.seed(grid)
    plan = replace(
        PLAN, ring=0, counters=2, bins=bins[0], hashed=bins[1], bin_bytes=PAGE, columns=2
    )
    memory = bytearray(plan.scratch_bytes * grid)
    bases = (0x7F0000000200, 0x7F0040000E00)
    sizes = (37 * PAGE + 100, 1 << 28)
    expected = [[0, 0], [0, 0]]  # accesses, bytes
    pages: dict[int, int] = {}
    for turn in range(60):
        lane = Lane(plan, grid, random.randrange(grid), memory)
        column = turn % 2
        lane.call(
            "__proton_note_base",
            *(
                lane.table,
                DeviceMemory.TABLE_HEADER_BYTES + column * DeviceMemory.COLUMN_BYTES,
                bases[column],
                1,
            ),
        )
        lane.is_warp = random.random() < 0.5
        offset = random.randrange(sizes[column])
        lane.touch(column, bases[column] + offset, bases[column], before=turn % 3)
        lanes = 32 if lane.is_warp else 1
        expected[column][0] += lanes
        expected[column][1] += lanes * COLUMNS[column][1]
        if column == 0:
            pages[offset // PAGE] = pages.get(offset // PAGE, 0) + lanes
    if plan.hashed:
        lane.is_warp = False
        lane.touch_hashed(0x500000123000, 8, DeviceMemory.OFFSET_LOAD_BYTES)
        lane.touch_hashed(0x500000123800, 4, DeviceMemory.OFFSET_STORE_BYTES)
    found = DeviceMemory.read_table(
        memory[plan.slots_bytes * grid :],
        bin_bytes=PAGE,
        bins=plan.hashed,
        rows=plan.rows,
        grid_ctas=grid,
        columns=COLUMNS,
        ranges=[(base, size, None) for base, size in zip(bases, sizes, strict=True)],
    )
    tensors = found.tensors()
    assert [[each.accesses, each.load_bytes + each.store_bytes] for each in tensors] == expected
    assert tensors[1].load_bytes == tensors[0].store_bytes == 0
    first = tensors[0]
    joined = first.bin_bytes // PAGE
    assert first.access_bins == [
        sum(pages.get(page, 0) for page in range(at, at + joined)) for at in range(0, 38, joined)
    ]
    assert (found.elsewhere.load_bytes, found.elsewhere.store_bytes) == (
        (8, 4) if plan.hashed else (0, 0)
    )
    assert found.losses() == {}


def test_copies_of_the_rows_are_for_warps_that_run_together() -> None:
    plan = replace(PLAN, ring=0, counters=2, bins=128, bin_bytes=PAGE, columns=4)
    memory = bytearray(plan.scratch_bytes * 1024)
    places = {Lane(plan, 1024, cta, memory).rows for cta in range(16)}
    assert len(places) == 8
    assert max(places) + 2 * Lane(plan, 1024, 0, memory).near * plan.row_bytes <= len(memory)


def test_what_is_before_an_argument_is_elsewhere() -> None:
    plan = replace(PLAN, ring=0, counters=2, bins=16, bin_bytes=PAGE, columns=2)
    lane = Lane(plan, 2, 0, bytearray(plan.scratch_bytes * 2))
    lane.touch(0, 0x7000, 0x8000, before=1)
    lane.is_warp = True
    lane.touch(0, 0x7000, 0x8000, before=1)
    found = DeviceMemory.read_table(
        lane.memory[plan.slots_bytes * 2 :],
        bin_bytes=PAGE,
        bins=0,
        rows=plan.rows,
        grid_ctas=2,
        columns=COLUMNS,
        ranges=[(0x8000, 64, None)],
    )
    assert found.elsewhere.accesses == 33
