"""Loops in TTGIR as passes need them: their bounds, and records that only some iterations run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import Module, Op

LOOPS = frozenset({"scf.for", "scf.while"})

_FOR = re.compile(
    r"scf\.for (?:unsigned )?(%[\w$.-]+) = (%[\w$.#-]+) to %[\w$.#-]+ step (%[\w$.#-]+)"
)
_TYPE = re.compile(r": (i\d+|index)\s*\{")


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
