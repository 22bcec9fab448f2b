"""The functions that an instrumented kernel calls, as LLVM text, for every vendor.

The texts are the parts of the files in `helper_text`, each below a line `;; NAME`; `<PLACE>` in
them is filled in here. They stand on a vendor's primitives (`lower-to-nvidia`, `lower-to-amd`):
warp, lane, cta, grid, time, cycles, core, gang, regroup and put; to count memory accesses also
add_lanes, together, rejoin, lower, same, like, claim, add and add_warp. All are inlined.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from proton._native import DeviceBuffer, DeviceMemory
from proton.inkernel.ir import layout
from proton.inkernel.llvm.plan import BufferPlan

_PLACE = re.compile(r"<([A-Z_]+)>")
INLINE = "alwaysinline nounwind"
_CHECK = "call void @__proton_full(HANDLE %base, i32 %next, ptr addrspace(1) %scratch, i1 %lead)"
_DRAIN = "call void @__proton_drain(i32 %base, i32 %count, ptr addrspace(1) %scratch)"
_OPEN_MAILBOX = """%mailbox = getelementptr i8, ptr addrspace(1) %header, i64 {}
  store <2 x i32> zeroinitializer, ptr addrspace(1) %mailbox, align 8"""
# field of a warp's header -> its offset; times and clocks have 8 bytes, the others 4
_HEADER = {
    name.removeprefix("OFFSET_"): getattr(DeviceBuffer, name)
    for name in dir(DeviceBuffer)
    if name.startswith("OFFSET_")
}


def helper_text(name: str) -> str:
    """The part of this name."""
    return _parts()[name]


@cache
def _parts() -> dict[str, str]:
    files = sorted((Path(__file__).parent / "helper_text").glob("*.ll"))
    texts = "".join(file.read_text(encoding="utf-8") for file in files)
    pieces = re.split(r"^;; (\w+)\n", texts, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def fill(text: str, **values: object) -> str:
    """`text` with each `<NAME>` replaced by the value of that name."""
    return _PLACE.sub(lambda place: str(values[place[1]]), text)


def common_text(plan: BufferPlan) -> str:
    """Who records, opening, records and closing; the primitives are the vendor's."""
    names = ["select", "header", "open_shared" if plan.stage else "open_global"]
    if plan.ring:
        names.append("record")
        if plan.stage:
            names += ["copy", "drain_stage" if plan.strategy == "flush" else "drain_ring"]
        if plan.strategy == "flush":
            names.append("full_stage" if plan.stage else "full_ring")
    if plan.counters:
        names.append("counters")
    if plan.bins:
        names.append("bins")
    if plan.hashed:
        names.append("hashed_bins")
    if plan.callback:
        names.append("callback")
    names.append("close")
    return fill("".join(map(helper_text, names)), **_values(plan))


def _values(plan: BufferPlan) -> dict[str, object]:
    is_flush = plan.strategy == "flush" and plan.ring > 0
    mask = sum(1 << warp for warp in plan.recorded)
    return {
        "INLINE": INLINE,
        "HANDLE": plan.handle,
        "RING": plan.ring,
        "RING_MASK": max(plan.ring - 1, 0),
        "STAGE": plan.stage,
        "STAGE_MASK": plan.stage - 1,
        "WINDOW_MASK": (plan.stage or plan.ring or 1) - 1,
        "OFFSET": plan.offset,
        "STREAMS": len(plan.recorded),
        "WARPS": mask,
        "EVERY": plan.every,
        "SPIN": plan.spin,
        "RECORD": layout.RECORD_BYTES,
        "HEADER": layout.HEADER_BYTES,
        "SLOT": plan.ring + layout.HEADER_BYTES,
        "COUNTERS": plan.counter_bytes,
        "SLOTS": plan.slots_bytes,
        "BEFORE_CALLBACK": plan.slots_bytes + plan.table_bytes,
        **_bin_values(plan),
        "MAGIC_NUMBER": layout.MAGIC,
        **_HEADER,
        "CTA_TAKEN": _cta_taken(plan),
        "CTA_SLOT": _cta_slot(plan),
        "CTA_COUNT": _cta_count(plan),
        "AFTER_RECORD": _CHECK.replace("HANDLE", plan.handle) if is_flush else "",
        "DRAIN": _DRAIN if plan.stage else "",
        "OPEN_MAILBOX": _OPEN_MAILBOX.format(DeviceBuffer.OFFSET_MAILBOX_WRITTEN)
        if is_flush and not plan.stage
        else "",
    }


def _bin_values(plan: BufferPlan) -> dict[str, object]:
    return {
        "BIN_SHIFT": max(plan.bin_bytes, 1).bit_length() - 1,
        "TABLE_HEADER": plan.table_header_bytes,
        "ROW_BYTES": plan.row_bytes,
        "ROWS": plan.rows,
        "ROW_CTAS": DeviceMemory.MOST_BINS // max(plan.rows, 1),
        "OWN_ROW_BITS": DeviceMemory.OWN_ROW_BITS,
        "COPY_BITS": DeviceMemory.COPY_BITS,
        "LEVELS": DeviceMemory.LEVELS,
        "LEVEL_BITS": DeviceMemory.LEVEL_BITS,
        "HASH": DeviceMemory.HASH_FACTOR - (1 << 32),  # as a number with a sign
        "HASHED": plan.hashed,
        "HASHED_BYTES": plan.hashed * DeviceMemory.BIN_BYTES,
        "HASHED_CTAS": DeviceMemory.MOST_BINS // max(plan.hashed, 1),
        "BIN": DeviceMemory.BIN_BYTES,
        "PROBES": DeviceMemory.MOST_PROBES,
        "BIN_ACCESSES": DeviceMemory.OFFSET_BIN_ACCESSES,
        "DROPPED_ACCESSES": DeviceMemory.OFFSET_DROPPED_ACCESSES - plan.table_header_bytes,
        "DROPPED_BYTES": DeviceMemory.OFFSET_DROPPED_BYTES - plan.table_header_bytes,
    }


def _cta_taken(plan: BufferPlan) -> str:
    if plan.every > 1:
        return f"""%rest = urem i32 %cta, {plan.every}
  %taken = icmp eq i32 %rest, 0"""
    if not plan.ctas:
        return "%taken = icmp uge i32 %cta, 0"
    lines = ["%taken0 = icmp ult i32 %cta, 0"]
    for at, cta in enumerate(plan.ctas):
        lines.append(f"%is{at} = icmp eq i32 %cta, {cta}")
        lines.append(f"%taken{at + 1} = or i1 %taken{at}, %is{at}")
    lines.append(f"%taken = or i1 %taken{len(plan.ctas)}, %taken0")
    return "\n  ".join(lines)


def _cta_slot(plan: BufferPlan) -> str:
    if not plan.ctas:
        return f"%slot = udiv i32 %cta, {plan.every}"
    lines = ["%slot0 = add i32 0, 0"]
    for at, cta in enumerate(plan.ctas):
        lines.append(f"%past{at} = icmp ugt i32 %cta, {cta}")
        lines.append(f"%one{at} = zext i1 %past{at} to i32")
        lines.append(f"%slot{at + 1} = add i32 %slot{at}, %one{at}")
    lines.append(f"%slot = add i32 %slot{len(plan.ctas)}, 0")
    return "\n  ".join(lines)


def _cta_count(plan: BufferPlan) -> str:
    if plan.ctas:
        return f"%ctas = add i32 {len(plan.ctas)}, 0"
    return f"""%grid = call i32 @__proton_grid()
  %up = add i32 %grid, {plan.every - 1}
  %ctas = udiv i32 %up, {plan.every}"""
