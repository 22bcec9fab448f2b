"""`record-ctas`: only where and when each CTA ran, which is what a buffer's headers say anyway."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import Module
from proton.inkernel.ir.nesting import carrier_of
from proton.inkernel.passes import OwnPass
from proton.inkernel.passes.prepare import frame


@dataclass(frozen=True)
class RecordCtas(OwnPass, level="ttgir"):
    """Start, end and SM of every CTA: init (kind=cta) and finalize, and no record between them.

    In a kernel with records the headers say it already: there it leaves the rest to `prepare`.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        if not any(carrier_of(op) for op in module.walk()):
            for kernel in module.kernels():
                frame(module, kernel, Carrier("init", attributes={"kind": "cta"}))
