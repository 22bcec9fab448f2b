"""Tells which kernels of torch.compile cannot record: those that another process has compiled.

Its compiler hands kernels to worker processes, where our passes are not, and finds them in a cache
of its own, whose keys know nothing of records.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from proton import _torch
from proton._triton.compiler import wrap_function
from proton._triton.types import Wrapped
from proton.inkernel.compiler.recording_choice import choice

WARNING = (
    "kernels of torch.compile are not recorded where its worker processes compile them or its "
    "cache has them; set TORCHINDUCTOR_COMPILE_THREADS=1 and TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 "
    "before torch is imported"
)


def watch_torch_compile(say: Callable[[str], None]) -> Callable[[], None]:
    """Say `WARNING` for every such kernel from now on; what undoes it.

    Costs a call for each kernel that torch.compile asks for, and nothing for launches.
    """
    undo = ExitStack()

    def make(original: Wrapped) -> Wrapped:
        def triton(self: object, *args: object, **kwargs: object) -> object:
            made = original(self, *args, **kwargs)
            if choice.current() is not None and _is_from_elsewhere(made):
                say(WARNING)
            return made

        return triton

    def install() -> None:
        undo.callback(wrap_function(_torch.kernel_compiler(), "triton", make))

    undo.callback(_torch.when_kernel_compiler_imported(install))
    return undo.close


def _is_from_elsewhere(made: object) -> bool:
    """Whether this is a worker's promise, or a kernel read back that torch launches without Triton.

    While there are hooks behind launches, as ours, torch makes no new ones of the latter kind.
    """
    results = getattr(made, "compile_results", None) or ()
    return hasattr(made, "result") or any(
        type(each).__name__.startswith("Static") for each in results
    )
