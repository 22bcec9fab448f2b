"""Pass: records become PTX in inline assembly, so that no intrinsic is declared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from proton.inkernel.llvm.emit import lower
from proton.inkernel.llvm.helpers import INLINE, fill, helper_text
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.passes import OwnPass

GLOBAL_TIME_NS = 1  # of a tick of the global timer
WARP_SIZE = 32
DECLARATIONS = {
    "llvm.ctpop.i64": "declare i64 @llvm.ctpop.i64(i64)",
    "llvm.ctlz.i32": "declare i32 @llvm.ctlz.i32(i32, i1 immarg)",
}

_SHARED_ADDRESS = "%address = add i32 %base, %offset"
_GLOBAL_ADDRESS = """%wide = zext i32 %offset to i64
  %address = <JOIN> i64 %base, %wide"""


def make_primitives(plan: BufferPlan, *, has_clock64: bool, has_late_stores: bool) -> str:
    """The primitives that `helpers` calls.

    Args:
        plan: Where records go.
        has_clock64: Put bits 32 to 47 of the clock into the record's payload.
        has_late_stores: Let the compiler move memory accesses across a record's store.
    """
    address = _SHARED_ADDRESS if plan.stage else _GLOBAL_ADDRESS
    values = {
        "INLINE": INLINE,
        "HANDLE": plan.handle,
        "ADDRESS": fill(address, JOIN="or" if plan.has_aligned_rings else "add"),
        "STORE": "st.shared.v2.b32" if plan.stage else "st.global.cg.v2.b32",
        "REGISTER": "r" if plan.stage else "l",
        "CLOBBER": "" if has_late_stores else ",~{memory}",
    }
    names = ["nvidia"]
    if plan.ring:
        late = "late_" if has_late_stores else ""
        names += ["nvidia_put", f"nvidia_{late}clock{64 if has_clock64 else 32}"]
    if plan.counters:
        names.append("nvidia_count")
    if plan.bins:
        names.append("nvidia_bins")
    return fill("".join(map(helper_text, names)), **values)


@dataclass(frozen=True)
class LowerToNvidia(OwnPass, level="llvm"):
    """Turn ops into calls of helpers for NVIDIA GPUs, and leave the record map behind the text.

    Needs records with a strategy and memory; leaves no op. `clock32` keeps 32 bits of the clock,
    which the reader widens; without it, 48. `sched_stores` lets the compiler move memory accesses
    across a record's store. `time_shift` asks the reader to place spans without what records cost.
    """

    clock32: bool = True
    sched_stores: bool = False
    time_shift: bool = False

    def apply(self, module: LlvmModule) -> None:
        """Edit the module; sets its `lowering`. One without ops stays as it is."""
        primitives = partial(
            make_primitives, has_clock64=not self.clock32, has_late_stores=self.sched_stores
        )
        facts = {
            "target": "nvidia",
            "warp_size": WARP_SIZE,
            "clock_bits": 32 if self.clock32 else 48,
            "global_time_ns": GLOBAL_TIME_NS,
            "time_shift": self.time_shift,
        }
        lower(module, "nvidia", primitives, DECLARATIONS, facts)
