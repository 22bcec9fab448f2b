"""Turns marks of accesses into counters: one SSA value of 32 bits per site and lane.

A mark adds to its site's value; phis join where paths with different values meet; before every
return the lanes' values are summed and added to the warp's counters in the profile buffer.
"""

from __future__ import annotations

from proton.inkernel import layout
from proton.inkernel.llvm.carrier_line import CarrierLine, read_body
from proton.inkernel.llvm.counting import Phi, place_values
from proton.inkernel.llvm.module import Kernel
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.llvm.sites import Sites, operands_of

RECORDED = "%proton.recorded"
LEAD = "%proton.lead"  # a recorded warp's first lane
_TABLE = "ptr addrspace(1) %proton.table"


def opening(plan: BufferPlan, sites: Sites, scratch: str) -> list[str]:
    """What a kernel that counts accesses computes at its entry, where `LEAD` is known."""
    call = f"call ptr addrspace(1) @__proton_{{}}(ptr addrspace(1) {scratch})"
    lines = [f"%proton.counters = {call.format('counters')}"]
    if not plan.records_all:
        lines.append(f"{RECORDED} = call i1 @__proton_recorded()")
    if plan.bins:
        lines.append(f"%proton.table = {call.format('table')}")
        lines.append("%proton.lower = call i32 @__proton_lower()")
    if plan.hashed:
        lines.append(f"%proton.hashed = call ptr addrspace(1) @__proton_hashed({_TABLE})")
        lines.append("%proton.places = call i32 @__proton_places()")
    if plan.columns:
        lines += _opening_of_rows(sites)
    return lines


def _opening_of_rows(sites: Sites) -> list[str]:
    lines = [
        "%proton.all_row_bits = call i32 @__proton_all_row_bits()",
        "%proton.copy_bits = call i32 @__proton_copy_bits(i32 %proton.all_row_bits)",
        "%proton.near = call i32 @__proton_near(i32 %proton.all_row_bits, i32 %proton.copy_bits)",
        "%proton.rows = call ptr addrspace(1) "
        f"@__proton_rows({_TABLE}, i32 %proton.copy_bits, i32 %proton.near)",
    ]
    for argument in sorted({column.argument for column in sites.columns}):
        base = f"ptr addrspace(1) {sites.bases[argument]}"
        lines.append(f"%proton.base{argument} = ptrtoint {base} to i64")
    for column, number in sites.columns.items():
        offset = layout.TABLE_HEADER_BYTES + number * layout.COLUMN_BYTES
        lines.append(
            f"call void @__proton_note_base({_TABLE}, i64 {offset}, "
            f"i64 %proton.base{column.argument}, i1 {LEAD})"
        )
    return lines


def count_accesses(kernel: Kernel, sites: Sites, *, records_all: bool = False) -> None:
    """Replace every mark of the kernel; `finalize` stays and what is counted goes out before it.

    `opening` gives the values that the replacements use.
    """
    recorded = "true" if records_all else RECORDED
    bodies = [read_body(block.lines) for block in kernel.blocks]
    order = [block.name for block in kernel.blocks]
    predecessors = kernel.predecessors()
    last: list[dict[str, str]] = [{} for _ in sites]
    for block, body in zip(kernel.blocks, bodies, strict=True):
        for each in body:
            if isinstance(each, CarrierLine) and each.op == "access":
                last[sites.of(each).number][block.name] = each.result
    placed = [
        place_values(order, predecessors, values, stem=f"%proton.count{number}.")
        for number, values in enumerate(last)
    ]
    for block, body in zip(kernel.blocks, bodies, strict=True):
        tops = [top[block.name] for top, _ in placed]
        phis: list[Phi] = [joins[block.name] for _, joins in placed if block.name in joins]
        lines = [str(phi) for phi in phis]
        for each in body:
            if isinstance(each, str):
                lines.append(each)
            elif each.op == "access":
                lines += _counted(each, sites, tops, recorded)
            elif each.op == "finalize":
                lines += [*_written(tops, recorded), str(each)]
            else:
                lines.append(str(each))
        block.lines = lines


def _counted(access: CarrierLine, sites: Sites, values: list[str], recorded: str) -> list[str]:
    taken, *address = operands_of(access)
    site = sites.of(access)
    before, values[site.number] = values[site.number], access.result
    lines = [f"{access.result} = add i32 {before}, {taken}{access.location}"]
    if address:
        first = site.number * layout.COUNTER_BYTES + layout.CounterField.FIRST_ADDRESS
        counters = "ptr addrspace(1) %proton.counters"
        lines.append(f"{access.result}.first = getelementptr i8, {counters}, i64 {first}")
        its_first = f"ptr addrspace(1) {access.result}.first"
        its_lane = f"i32 {taken}, i32 {before}"
        if (column := sites.column(site)) is not None:
            call = (
                f"@__proton_touch(ptr addrspace(1) %proton.rows, {its_first}, i64 {address[0]}, "
                f"i64 %proton.base{site.argument}, {its_lane}, "
                f"i64 {column * layout.COLUMN_BYTES}, i32 %proton.near, i32 %proton.lower, "
                f"i1 {LEAD}, i1 {recorded})"
            )
        else:
            field = layout.BinField.LOAD_BYTES if site.is_read else layout.BinField.STORE_BYTES
            call = (
                f"@__proton_touch_hashed(ptr addrspace(1) %proton.hashed, {its_first}, "
                f"i64 {address[0]}, {its_lane}, i32 {site.bytes}, i64 {int(field)}, "
                f"i32 %proton.places, i32 %proton.lower, i1 {recorded})"
            )
        lines.append(f"call void {call}{access.location}")
    return [access.indent + line for line in lines]


def _written(values: list[str], recorded: str) -> list[str]:
    """What goes out before a return; a site that no path to it touches has nothing to add."""
    return [
        f"  call void @__proton_count_out(ptr addrspace(1) %proton.counters, "
        f"i64 {number * layout.COUNTER_BYTES}, i32 {value}, i1 {recorded})"
        for number, value in enumerate(values)
        if value != "0"
    ]
