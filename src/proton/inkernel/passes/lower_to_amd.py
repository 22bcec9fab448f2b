"""Pass: records become code for AMD GPUs (CDNA): intrinsics, and stores behind a branch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from proton.inkernel.llvm.emit import lower
from proton.inkernel.llvm.helpers import INLINE, fill, helper_text
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.passes import OwnPass

GLOBAL_TIME_NS = 10  # of a tick of s_memrealtime, which runs at 100 MHz
HW_ID = (32 - 1) << 11 | 4  # hardware register 4, 32 bits: compute unit, array, engine, wave
XCC_ID = (4 - 1) << 11 | 20  # hardware register 20, 4 bits: which die
DECLARATIONS = {
    "llvm.ctpop.i64": "declare i64 @llvm.ctpop.i64(i64)",
    "llvm.ctlz.i32": "declare i32 @llvm.ctlz.i32(i32, i1 immarg)",
    "llvm.amdgcn.workitem.id.x": "declare i32 @llvm.amdgcn.workitem.id.x()",
    "llvm.amdgcn.workgroup.id.x": "declare i32 @llvm.amdgcn.workgroup.id.x()",
    "llvm.amdgcn.workgroup.id.y": "declare i32 @llvm.amdgcn.workgroup.id.y()",
    "llvm.amdgcn.workgroup.id.z": "declare i32 @llvm.amdgcn.workgroup.id.z()",
    "llvm.amdgcn.readfirstlane.i32": "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)",
    "llvm.amdgcn.s.memtime": "declare i64 @llvm.amdgcn.s.memtime()",
    "llvm.amdgcn.s.memrealtime": "declare i64 @llvm.amdgcn.s.memrealtime()",
    "llvm.amdgcn.sched.barrier": "declare void @llvm.amdgcn.sched.barrier(i32 immarg)",
    "llvm.amdgcn.implicitarg.ptr": "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()",
    "llvm.amdgcn.s.getreg": "declare i32 @llvm.amdgcn.s.getreg(i32 immarg)",
    "llvm.amdgcn.ballot.i64": "declare i64 @llvm.amdgcn.ballot.i64(i1)",
    "llvm.amdgcn.mbcnt.lo": "declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)",
    "llvm.amdgcn.mbcnt.hi": "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)",
}
# LLVM inferred these before the helpers were there, and they are not true any more.
UNTRUE_ATTRIBUTES = (
    *(f'"amdgpu-no-workgroup-id-{axis}"' for axis in "xyz"),
    '"amdgpu-no-workitem-id-x"',
    '"amdgpu-no-implicitarg-ptr"',
)

_SHARED_ADDRESS = """%address = add i32 %base, %offset
  %at = inttoptr i32 %address to ptr addrspace(3)"""
_GLOBAL_ADDRESS = """%wide = zext i32 %offset to i64
  %ring = inttoptr i64 %base to ptr addrspace(1)
  %at = getelementptr i8, ptr addrspace(1) %ring, i64 %wide"""
_PAYLOAD = """%shifted = lshr i64 %clock, 32
  %high = trunc i64 %shifted to i32
  %payload = and i32 %high, 65535
  %full_tag = or i32 %tag, %payload"""


def make_primitives(
    plan: BufferPlan,
    *,
    warp_size: int,
    has_clock64: bool,
    has_late_stores: bool,
    has_barriers: bool,
) -> str:
    """The primitives that `helpers` calls.

    Args:
        plan: Where records go.
        warp_size: Lanes of a wave.
        has_clock64: Put bits 32 to 47 of the clock into the record's payload.
        has_late_stores: Let the scheduler move a record's store away from its clock.
        has_barriers: Let the scheduler move nothing across a record.
    """
    barrier = "call void @llvm.amdgcn.sched.barrier(i32 0)" if has_barriers else ""
    values = {
        "INLINE": INLINE,
        "HANDLE": plan.handle,
        "WARP_SIZE": warp_size,
        "LANE_MASK": warp_size - 1,
        "ALL_LANES": -1 if warp_size == 64 else (1 << warp_size) - 1,
        "HW_ID": HW_ID,
        "XCC_ID": XCC_ID,
        "ADDRESS": _SHARED_ADDRESS if plan.stage else _GLOBAL_ADDRESS,
        "SPACE": 3 if plan.stage else 1,
        "BARRIER": barrier,
        "LATE_BARRIER": "" if has_late_stores else barrier,
        "PAYLOAD": _PAYLOAD if has_clock64 else "%full_tag = or i32 %tag, 0",
    }
    names = ["amd", "amd_put"] if plan.ring else ["amd"]
    if plan.counters:
        names.append("amd_count")
    if plan.bins:
        names.append("amd_bins")
    return fill("".join(map(helper_text, names)), **values)


@dataclass(frozen=True)
class LowerToAmd(OwnPass, level="llvm"):
    """Turn ops into calls of helpers for AMD GPUs, and leave the record map behind the text.

    As `lower-to-nvidia`; `sched_barriers` lets the scheduler move nothing across a record, and
    `sched_stores` frees a record's store of that.
    """

    warp_size: int = 64
    clock32: bool = True
    sched_stores: bool = False
    sched_barriers: bool = False
    time_shift: bool = False

    def apply(self, module: LlvmModule) -> None:
        """Edit the module; sets its `lowering`. One without ops stays as it is."""
        primitives = partial(
            make_primitives,
            warp_size=self.warp_size,
            has_clock64=not self.clock32,
            has_late_stores=self.sched_stores,
            has_barriers=self.sched_barriers,
        )
        facts = {
            "target": "amd",
            "warp_size": self.warp_size,
            "clock_bits": 32 if self.clock32 else 48,
            "global_time_ns": GLOBAL_TIME_NS,
            "time_shift": self.time_shift,
        }
        lower(module, "amd", primitives, DECLARATIONS, facts)
        if module.lowering is not None:
            module.epilogue = [_without_untrue(line) for line in module.epilogue]


def _without_untrue(line: str) -> str:
    if line.startswith("attributes #"):
        for attribute in UNTRUE_ATTRIBUTES:
            line = line.replace(f" {attribute}", "")
    return line
