"""From a mode to passes: what is recorded, on TTGIR, and how it is lowered, on LLVM text.

`lower_text` runs the passes on LLVM text over one module, so that it is read and printed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proton import _triton
from proton.errors import InstrumentationError, UsageError
from proton.inkernel.ir import layout
from proton.inkernel.llvm.allocation import Selection
from proton.inkernel.llvm.module import LlvmModule, Lowering
from proton.inkernel.llvm.partitions import Partition
from proton.inkernel.llvm.verify import verify
from proton.inkernel.modes.instrumentation_mode import (
    BufferStrategy,
    BufferType,
    InstrumentationMode,
    Optimize,
)
from proton.inkernel.passes import Pass, apply_pass, load_pass, load_pass_class, options_of
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.passes.count_bytes import CountBytes
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia
from proton.inkernel.passes.record_memory import RecordMemory
from proton.inkernel.passes.record_user_scopes import RecordUserScopes
from proton.inkernel.passes.thin_records import ThinRecords

# how much of what stands in loops is recorded, step by step: one iteration of so many; 0: nothing
THINNING = (1, 4, 16, 64, 0)


def recording_passes(
    mode: InstrumentationMode, *, thinning: int = 0, is_nested: bool = True
) -> tuple[Pass, ...]:
    """The passes on TTGIR, in order: `prepare` comes last, so that it sees all.

    Args:
        mode: Fields that are called as a pass's options become them.
        thinning: How often the kernel was too slow: an index of `THINNING`.
        is_nested: Whether the user's records must nest as the text stands.
    """
    # the user's own records are checked before ours stand between them
    chosen = sorted(
        mode_passes(mode, "ttgir"),
        key=lambda each: (each.name != "record-user-scopes", each.name == "record-ctas"),
    )
    if not is_nested:
        chosen = [
            replace(each, nested=False) if isinstance(each, RecordUserScopes) else each
            for each in chosen
        ]
    if thinning:
        chosen.append(ThinRecords(every=THINNING[thinning]))
    return (*chosen, load_pass("prepare"))


def lowering_recipe(
    mode: InstrumentationMode, kernel: KernelFacts, *, is_global: bool = False
) -> tuple[Pass, ...]:
    """The passes on LLVM text, in order: those of the mode itself, then those that lower records.

    Args:
        mode: Its options say who records and where to.
        kernel: What the compiler knows of the kernel.
        is_global: Keep the rings in global memory whatever the mode says.

    Raises:
        UsageError: the sampling options or the buffer's size do not fit the kernel.
    """
    # callbacks are called at accesses that nobody has marked yet
    chosen = sorted(mode_passes(mode, "llvm"), key=lambda each: each.name != "call-at")
    own = [_named(each, kernel.parameters) for each in chosen]
    return (*own, *lowering_passes(mode, kernel, is_global=is_global))


def _named(own: Pass, parameters: tuple[str, ...]) -> Pass:
    """The pass, told what the kernel's parameters are called where it wants to know."""
    if isinstance(own, CallAt | CountBytes | RecordMemory):
        return replace(own, arguments=parameters)
    return own


def mode_passes(mode: InstrumentationMode, level: str) -> list[Pass]:
    """The passes of this level that a mode itself names, with its options."""
    found: dict[str, Pass] = {}
    for part in mode.parts:
        for name in part.passes:
            kind: Any = load_pass_class(name)
            if kind.level == level:
                options = {key for key in options_of(kind) if hasattr(part, key)}
                found.setdefault(name, kind(**{key: getattr(part, key) for key in options}))
    return list(found.values())


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
    mode: InstrumentationMode, kernel: KernelFacts, *, is_global: bool = False
) -> tuple[Pass, ...]:
    """The passes that a mode's options ask for; `is_global` goes before its `buffer_type`.

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
    )
    if mode.buffer_type is BufferType.SHARED and not is_global:
        allocate = AllocateShared(
            shared_bytes=kernel.shared_bytes,
            shared_limit=kernel.shared_limit,
            stage_bytes=size,
            num_warps=kernel.num_warps,
            granularity=str(chosen.granularity),
            units=chosen.units,
            ctas=chosen.ctas,
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
