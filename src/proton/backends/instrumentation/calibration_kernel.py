"""The kernel of known regions. Importing this imports Triton: `calibration` does so when needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proton import language as pl
from proton._triton import launch as _triton_launch
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode

tl = _triton_launch.language()
COUNT = tl.constexpr(8)
ROUNDS = 16
# Multiply-adds, each of which needs the one before. A loop that runs once, which the compiler does
# not know: none of it is moved across the records around it, and no jump back is timed.
CHAIN = tl.constexpr(
    """{
.reg .b32 left; .reg .f32 x, y; .reg .pred more;
mov.u32 left, $1; mov.b32 x, $2; mov.f32 y, 0f3F8CCCCD;
again: STEPS
sub.u32 left, left, 1; setp.ne.u32 more, left, 0; setp.neu.and.f32 more, x, 0f00000000, more;
@more bra again;
mov.b32 $0, x;
}""".replace("STEPS", 48 * "fma.rn.f32 x, x, y, y; ")
)
ARGUMENTS = (ROUNDS, 1, 0x3F800000)


def work(times: int, number: int) -> Any:
    """The chain, called from a kernel."""
    return tl.inline_asm_elementwise(
        CHAIN, "=r,r,r,~{memory}", [times, number], dtype=tl.int32, is_pure=False, pack=1
    )


_work = _triton_launch.jit(work)


def known_regions(rounds: int, times: int, number: int) -> None:
    """Records back to back, and records around work that is done once, and twice.

    Over and over: the first round waits for its instructions.
    """
    for _ in range(rounds):
        for _ in tl.static_range(COUNT):
            pl.enter_scope("empty")
            pl.exit_scope("empty")
        number = _work(times, number)
        pl.enter_scope("once")
        number = _work(times, number)
        pl.exit_scope("once")
        number = _work(times, number)
        pl.enter_scope("twice")
        number = _work(times, number)
        number = _work(times, number)
        pl.exit_scope("twice")


_kernel = _triton_launch.jit(known_regions, do_not_specialize=("times",))


@contextmanager
def chosen_kernel(mode: InstrumentationMode) -> Iterator[Any]:
    """The kernel, to be recorded in this mode while a session records."""
    choice.choose(_kernel, mode)
    try:
        yield _kernel
    finally:
        choice.take_back(_kernel)
