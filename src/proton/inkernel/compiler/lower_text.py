"""From a mode to the passes on LLVM text, and from a kernel's text to its lowered text.

One module goes through all passes, so the text is read and printed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proton import _triton
from proton.errors import InstrumentationError, UsageError
from proton.inkernel import layout
from proton.inkernel.llvm.lowering import Lowering
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.partitions import Partition
from proton.inkernel.llvm.selection import Selection
from proton.inkernel.llvm.verify import verify
from proton.inkernel.modes.instrumentation_mode import (
    BufferStrategy,
    BufferType,
    InstrumentationMode,
    Optimize,
)
from proton.inkernel.passes import Pass, apply_pass
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia


@dataclass(frozen=True)
class KernelFacts:
    """What the compiler knows of a kernel and its text does not say."""

    vendor: str  # "nvidia" or "amd"
    num_warps: int  # of a CTA, those of a specialised kernel's partitions included
    shared_bytes: int  # of its own
    shared_limit: int  # that a CTA may have; 0: not checked
    warp_size: int
    parameters: tuple[str, ...] = ()  # names, in order, as far as they are known
    partitions: tuple[Partition, ...] = ()  # of a specialised kernel


def lowering_passes(
    mode: InstrumentationMode,
    kernel: KernelFacts,
    *,
    memory: BufferType | None = None,
    cta_every: int = 1,
) -> tuple[Pass, ...]:
    """The passes that a mode's options ask for; `memory` goes before the mode's `buffer_type`.

    `buffer_size` is of a CTA, in bytes, and shared by the warps that record. 32 bits of the clock
    are kept in any case, because the reader widens them: `clock32` costs nothing to leave out.

    Raises:
        UsageError: the sampling options or the buffer's size do not fit the kernel.
    """
    chosen = Selection.of_mode(mode)
    size = _ring_bytes(mode.buffer_size, len(chosen.streams(kernel.num_warps, kernel.partitions)))
    strategy: Pass = LowerRecordsCircular()
    if mode.buffer_strategy is BufferStrategy.FLUSH:
        strategy = LowerRecordsFlush()
    allocate: Pass = AllocateGlobal(
        ring_bytes=size,
        num_warps=kernel.num_warps,
        granularity=str(chosen.granularity),
        units=chosen.units,
        ctas=chosen.ctas,
        cta_every=cta_every,
    )
    if (memory or mode.buffer_type) is BufferType.SHARED:
        allocate = AllocateShared(
            shared_bytes=kernel.shared_bytes,
            shared_limit=kernel.shared_limit,
            stage_bytes=size,
            num_warps=kernel.num_warps,
            granularity=str(chosen.granularity),
            units=chosen.units,
            ctas=chosen.ctas,
            cta_every=cta_every,
        )
    return strategy, allocate, _last(mode, kernel)


def _last(mode: InstrumentationMode, kernel: KernelFacts) -> Pass:
    is_late = Optimize.SCHED_STORES in mode.optimizations
    is_shifted = Optimize.TIMESHIFT in mode.optimizations
    if kernel.vendor == "nvidia":
        return LowerToNvidia(sched_stores=is_late, time_shift=is_shifted)
    return LowerToAmd(
        warp_size=kernel.warp_size,
        sched_stores=is_late,
        sched_barriers=Optimize.SCHED_BARRIERS in mode.optimizations,
        time_shift=is_shifted,
    )


def _ring_bytes(buffer_size: int, streams: int) -> int:
    """The largest ring of which `streams` are in a buffer; 0 lets the passes choose."""
    if buffer_size == 0:
        return 0
    share = buffer_size // streams
    if share < layout.MIN_RING_BYTES:
        raise UsageError(
            f"buffer_size {buffer_size} is too small for {streams} streams of records; give at "
            f"least {streams * layout.MIN_RING_BYTES}, or record fewer warps"
        )
    return 1 << (share.bit_length() - 1)


def lower_text(
    text: str, passes: Sequence[Pass], *, check: Callable[[str], str | None] | None = None
) -> tuple[str, Lowering | None]:
    """Run the passes over a kernel's LLVM text; verified between them, read by LLVM at the end.

    Args:
        text: What Triton's `llir` stage printed.
        passes: In order.
        check: Says what is wrong with the new text, in place of LLVM's reader in this process.

    Returns:
        The new text and what was decided; the text itself and None where it has no op of ours.

    Raises:
        InstrumentationError: the kernel cannot be lowered, or LLVM refuses what was left.
        PassError: a pass failed with another error.
    """
    module = LlvmModule(text)
    for each in passes:
        apply_pass(each, module)
        verify(module)
    if module.lowering is None:
        return text, None
    lowered = module.text()
    if (error := (check or _triton.llvm_parse_error)(lowered)) is not None:
        raise InstrumentationError(
            f"kernel {module.kernel.name!r}: LLVM refuses the text with records in it: {error}"
        )
    return lowered, module.lowering
