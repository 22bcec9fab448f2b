"""`drop-specialized-scopes`: take the user's records out of loops that Triton will specialise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proton.inkernel.ir.module import Module
from proton.inkernel.ir.nesting import carrier_of, is_conditional
from proton.inkernel.passes import OwnPass

_SPECIALIZED = re.compile(r"\btt\.warp_specialize\b(?! = false)")


@dataclass(frozen=True)
class DropSpecializedScopes(OwnPass, level="ttgir"):
    """Remove user records from loops with warp_specialize=True; for TTIR, before Triton goes on.

    Triton 3.6 cannot compile them for sm_100, and others drop them for sm_90. Operations of such
    loops can be recorded on TTGIR. How many records went shows in a count before and after.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        for loop in module.walk():
            if loop.name == "scf.for" and _SPECIALIZED.search(module.lines[loop.last]):
                for op in loop.walk():
                    carrier = carrier_of(op)
                    if is_conditional(op) or (carrier is not None and carrier.is_record):
                        op.remove()
