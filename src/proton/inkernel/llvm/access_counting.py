"""Turns marks of accesses into counters: one SSA value of 32 bits per site and lane.

A mark adds to its site's value; phis join where paths with different values meet; before every
return the lanes' values are summed and added to the warp's counters in the profile buffer.
"""

from __future__ import annotations

from proton.inkernel import layout
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carrier
from proton.inkernel.llvm.counting import Phi, place_values
from proton.inkernel.llvm.module import Kernel
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.llvm.sites import Site, Sites, operands_of

RECORDED = "%proton.recorded"
ARGUMENT_LIMIT = 63  # arguments that a bin's key has room for; beyond, it says 0 for "unknown"


def opening(plan: BufferPlan, scratch: str) -> list[str]:
    """What a kernel that counts accesses computes at its entry."""
    call = f"call ptr addrspace(1) @__proton_{{}}(ptr addrspace(1) {scratch})"
    lines = [
        f"%proton.counters = {call.format('counters')}",
        f"{RECORDED} = call i1 @__proton_recorded()",
    ]
    if plan.bins:
        lines += [
            f"%proton.table = {call.format('table')}",
            "%proton.places = call i32 @__proton_places()",
            "%proton.lower = call i32 @__proton_lower()",
        ]
    return lines


def count_accesses(kernel: Kernel, sites: Sites) -> None:
    """Replace every mark of the kernel; `finalize` stays and what is counted goes out before it.

    `opening` gives the values that the replacements use.
    """
    bodies = [[read_carrier(line) or line for line in block.lines] for block in kernel.blocks]
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
                lines += _counted(each, sites.of(each), tops)
            elif each.op == "finalize":
                lines += [*_written(tops), str(each)]
            else:
                lines.append(str(each))
        block.lines = lines


def _counted(access: CarrierLine, site: Site, values: list[str]) -> list[str]:
    taken, *address = operands_of(access)
    before, values[site.number] = values[site.number], access.result
    lines = [f"{access.result} = add i32 {before}, {taken}{access.location}"]
    if address:
        argument = 0 if site.argument is None else site.argument + 1
        field = layout.BinField.LOAD_BYTES if site.is_read else layout.BinField.STORE_BYTES
        first = site.number * layout.COUNTER_BYTES + layout.CounterField.FIRST_ADDRESS
        counters = "ptr addrspace(1) %proton.counters"
        lines.append(f"{access.result}.first = getelementptr i8, {counters}, i64 {first}")
        lines.append(
            f"call void @__proton_touch(ptr addrspace(1) %proton.table, "
            f"ptr addrspace(1) {access.result}.first, i64 {address[0]}, i32 {taken}, i32 {before}, "
            f"i64 {argument if argument <= ARGUMENT_LIMIT else 0}, i32 {site.bytes}, "
            f"i64 {int(field)}, i32 %proton.places, i32 %proton.lower, i1 {RECORDED})"
            f"{access.location}"
        )
    return [access.indent + line for line in lines]


def _written(values: list[str]) -> list[str]:
    """What goes out before a return; a site that no path to it touches has nothing to add."""
    return [
        f"  call void @__proton_count_out(ptr addrspace(1) %proton.counters, "
        f"i64 {number * layout.COUNTER_BYTES}, i32 {value}, i1 {RECORDED})"
        for number, value in enumerate(values)
        if value != "0"
    ]
