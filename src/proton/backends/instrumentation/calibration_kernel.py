"""The kernel of empty regions. Importing this imports Triton: `calibration` does so when needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proton import _triton_launch
from proton import language as pl
from proton.inkernel import choice
from proton.inkernel.mode import InstrumentationMode

tl = _triton_launch.language()
COUNT = tl.constexpr(8)
ROUNDS = 16


def empty_regions(rounds: int) -> None:
    """Records back to back: each passage lasts as long as a record takes.

    In a loop: the first round waits for its instructions.
    """
    for _ in range(rounds):
        for _ in tl.static_range(COUNT):
            pl.enter_scope("empty")
            pl.exit_scope("empty")


_kernel = _triton_launch.jit(empty_regions)


@contextmanager
def chosen_kernel(mode: InstrumentationMode) -> Iterator[Any]:
    """The kernel, to be recorded in this mode while a session records."""
    choice.choose(_kernel, mode)
    try:
        yield _kernel
    finally:
        choice.take_back(_kernel)
