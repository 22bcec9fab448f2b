"""Operations of Triton's dialects as passes need them: which are loads, copies, waits or loops.

Names of all versions from 3.6 to 3.9 and of both vendors; a name that a version lacks never occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from proton.errors import UsageError
from proton.inkernel.ir.carriers import Carrier, record
from proton.inkernel.ir.module import Module, Op
from proton.inkernel.ir.nesting import carrier_of

OP_GROUPS: dict[str, frozenset[str]] = {
    "load": frozenset(
        {"tt.load", "tt.descriptor_load", "tt.descriptor_gather", "amdg.buffer_load"}
        | {"amdgpu.buffer_load", "ttng.tmem_load"}
    ),
    "store": frozenset(
        {"tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce"}
        | {"amdg.buffer_store", "amdgpu.buffer_store", "ttng.tmem_store"}
    ),
    "atomic": frozenset(
        {"tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdgpu.buffer_atomic_rmw"}
        | {"amdg.buffer_atomic_cas", "amdgpu.buffer_atomic_cas"}
    ),
    "copy": frozenset(
        {"ttg.async_copy_global_to_local", "ttng.async_tma_copy_global_to_local"}
        | {"ttng.async_tma_copy_local_to_global", "ttng.async_tma_gather", "ttng.tmem_copy"}
        | {"ttng.async_tma_scatter", "ttng.async_tma_reduce", "amdg.buffer_load_to_local"}
        | {"amdgpu.buffer_load_to_local", "amdg.async_tdm_copy_global_to_local"}
        | {"amdg.async_tdm_copy_local_to_global"}
    ),
    "wait": frozenset(
        {"ttg.async_wait", "ttng.wait_barrier", "ttng.warp_group_dot_wait"}
        | {"ttng.async_tma_store_wait", "amdg.async_wait", "amdgpu.async_wait"}
        | {"amdg.async_tdm_wait", "amdg.wait_barrier"}
    ),
    "dot": frozenset(
        {"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot", "ttng.tc_gen5_mma"}
        | {"ttng.tc_gen5_mma_scaled"}
    ),
    "barrier": frozenset(
        {"gpu.barrier", "ttg.barrier", "ttg.local_barrier", "ttng.cluster_barrier"}
        | {"ttng.cluster_wait", "amdg.cluster_barrier_wait", "amdg.cond_barrier"}
    ),
    "shared": frozenset({"ttg.local_load", "ttg.local_store"}),
}

# regions whose operations run as written; bodies of reductions and the like do not
CONTROL = frozenset(
    {"module", "builtin.module", "tt.func", "scf.for", "scf.while", "scf.if", "scf.index_switch"}
    | {"scf.execute_region", "ttg.warp_specialize"}
)
LOOPS = frozenset({"scf.for", "scf.while"})
_FOR = re.compile(
    r"scf\.for (?:unsigned )?(%[\w$.-]+) = (%[\w$.#-]+) to %[\w$.#-]+ step (%[\w$.#-]+)"
)
_TYPE = re.compile(r": (i\d+|index)\s*\{")


def kinds_of(words: Iterable[str]) -> dict[str, str]:
    """Operation name -> kind, for groups of the table and for plain operation names.

    Raises:
        UsageError: a word is neither.
    """
    kinds: dict[str, str] = {}
    for word in words:
        if word in OP_GROUPS:
            kinds |= dict.fromkeys(OP_GROUPS[word], word)
        elif "." in word:
            kinds.setdefault(word, word.partition(".")[2])
        else:
            raise UsageError.unknown("group of operations", word, choices=OP_GROUPS)
    return kinds


def runs_as_written(op: Op) -> bool:
    """Whether records may stand beside it: in a kernel, for called functions have no buffer."""
    return all(
        around.name in CONTROL and (around.name != "tt.func" or around.is_kernel)
        for around in op.ancestors
    )


def label_of(kind: str, op: Op) -> str:
    """A name people know an operation by: what it is, of which variable, at which line."""
    source = op.source
    if source is None:
        return kind
    name = f" {source.name}" if source.name and kind not in ("loop", "iteration") else ""
    return f"{kind}{name}@{source.line}{_ordinal(op)}"


def _ordinal(op: Op) -> str:
    """Which of its like in its block it is, where the compiler kept no line but the function's."""
    function = next((around for around in op.ancestors if around.name == "tt.func"), None)
    if function is None or op.block is None or op.source != function.source:
        return ""
    like = [each for each in op.block.ops if each.name == op.name and each.source == op.source]
    at = like.index(op)
    return f" #{at + 1}" if at else ""


def records_of(kind: str, op: Op) -> tuple[Carrier, Carrier]:
    """The start and the end that time an operation."""
    return record_of("start", kind, op), record_of("end", kind, op)


def record_of(action: str, kind: str, op: Op) -> Carrier:
    """A record about an operation: its label, its line, its file."""
    source = op.source
    return record(
        action,
        label_of(kind, op),
        line=source and source.line,
        kind=kind,
        file=source and source.file,
    )


def record_around(module: Module, op: Op, kind: str) -> None:
    """Time one operation, unless another pass does already."""
    if _is_timed(op):
        return
    start, end = records_of(kind, op)
    op.insert_before(start.to_ttgir(module.fresh(), module.target))
    op.insert_after(end.to_ttgir(module.fresh(), module.target))


def _is_timed(op: Op) -> bool:
    """Whether a start and an end of ours stand directly around it; a user's own are none."""
    assert op.block is not None
    beside = op.block.ops
    at = beside.index(op)
    if not 0 < at < len(beside) - 1:
        return False
    start, end = carrier_of(beside[at - 1]), carrier_of(beside[at + 1])
    if start is None or end is None or start.kind in ("scope", "event"):
        return False
    return (start.action, end.action) == ("start", "end") and start.name == end.name


@dataclass(frozen=True)
class Bounds:
    """The values of an `scf.for`, and their type."""

    counter: str
    first: str
    step: str
    type: str


def bounds_of(module: Module, loop: Op) -> Bounds:
    """The bounds of an `scf.for`.

    Raises:
        InstrumentationError: they cannot be read.
    """
    found, types = _FOR.search(loop.text), _TYPE.findall(loop.text)
    if found is None:
        raise module.error(loop, f"cannot read the bounds of this loop: {loop.text.strip()!r}")
    return Bounds(found[1], found[2], found[3], types[-1] if types else "index")


def under(module: Module, condition: str, carrier: Carrier) -> str:
    """A record that is made where a condition holds, as lines of TTGIR."""
    inside = carrier.to_ttgir(module.fresh(), module.target)
    return f"scf.if {condition} {{\n  {inside}\n}}"
