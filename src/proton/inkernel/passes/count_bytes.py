"""Pass: count what each load and store moves."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.llvm.access_marks import mark_accesses
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class CountBytes(OwnPass, level="llvm"):
    """Count accesses to global memory, and so bytes, by kind, line, argument and size.

    Runs before records get a strategy. `arguments` names the kernel's parameters, in order.
    """

    arguments: tuple[str, ...] = ()

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without accesses, or with marked ones, stays as it is."""
        mark_accesses(module, has_addresses=False, names=self.arguments)
