"""From a mode to passes: what is recorded, on TTGIR, and how it is lowered, on LLVM text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proton.inkernel.compiler.lower_text import KernelFacts, lowering_passes
from proton.inkernel.modes.instrumentation_mode import BufferType, InstrumentationMode
from proton.inkernel.passes import Pass, load_pass, load_pass_class, options_of
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.passes.count_bytes import CountBytes
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
    memory = BufferType.GLOBAL if is_global else mode.buffer_type
    # callbacks are called at accesses that nobody has marked yet
    chosen = sorted(mode_passes(mode, "llvm"), key=lambda each: each.name != "call-at")
    own = [_named(each, kernel.parameters) for each in chosen]
    return (*own, *lowering_passes(mode, kernel, memory=memory))


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
