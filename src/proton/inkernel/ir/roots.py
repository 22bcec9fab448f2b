"""Follows values of TTGIR back to where they come from; no more of data flow than passes need."""

from __future__ import annotations

import re

from proton.inkernel.ir.module import Op

_VIEWS = frozenset(
    {"ttg.memdesc_index", "ttg.memdesc_subview", "ttg.memdesc_subslice", "ttg.memdesc_trans"}
    | {"ttg.memdesc_reinterpret", "ttg.memdesc_reshape"}
)
_ARGUMENT = re.compile(r"(%[\w$.-]+): ")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.#-]+)")
_FURTHEST = 100  # views of views; more is a cycle


def find_root(at: Op, value: str) -> tuple[int, str]:
    """What `value`, used by `at`, is a view of: the line that defines it and its name there.

    Views, arguments of warp-specialised partitions and values that loops carry are followed.
    """
    for _ in range(_FURTHEST):
        defined = _definition(at, value)
        if defined is None:
            return -1, value
        op, is_result = defined
        if is_result:
            if op.name not in _VIEWS or not op.operands:
                return op.first, value
            at, value = op, op.operands[0]
        else:
            source = _argument_source(at, op, value)
            if source is None:
                return op.first, value
            at, value = op, source
    return at.first, value


def find_definition(at: Op, value: str) -> Op | None:
    """The operation whose result a value is, seen from `at`; None for arguments of regions."""
    defined = _definition(at, value)
    return defined[0] if defined is not None and defined[1] else None


def _definition(at: Op, value: str) -> tuple[Op, bool] | None:
    """What defines a value seen from `at`; False where that is an argument of its region."""
    value = value.partition("#")[0]
    op = at
    while op.block is not None:
        for block in op.block.region.blocks:
            for each in block.ops:
                if each is op and block is op.block:
                    break
                if value in each.results:
                    return each, True
        owner = op.block.region.op
        heads = at.module.lines[op.block.region.blocks[0].head] + owner.text
        if value in _ARGUMENT.findall(heads) or value in dict(_CARRIED.findall(owner.text)):
            return owner, False
        op = owner
    return None


def _argument_source(at: Op, owner: Op, value: str) -> str | None:
    """The operand of `owner` that one of its region's arguments stands for."""
    if owner.name in ("scf.for", "scf.while"):
        return dict(_CARRIED.findall(owner.text)).get(value)
    if owner.name != "ttg.warp_specialize":
        return None
    for region in owner.regions[1:]:
        arguments = _ARGUMENT.findall(at.module.lines[region.blocks[0].head])
        if value in arguments and any(around is owner for around in at.ancestors):
            position = arguments.index(value)
            return owner.operands[position] if position < len(owner.operands) else None
    return None
