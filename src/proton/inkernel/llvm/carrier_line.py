"""One line of LLVM text that carries an op of ours, with all that the lowering needs of it.

`inkernel.carriers` has the words; here are also the result, the operands, the debug location, and
the bytes written so far that a record takes once it has a strategy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from proton.errors import InstrumentationError
from proton.inkernel.ir.carriers import RECORDS, Words, read_words

MARK = '"// proton.'

_LINE = re.compile(
    r"^(?P<indent>\s*)(?P<result>%\S+) = (?:tail |notail |musttail )?call i32 asm (?:sideeffect )?"
    r'"// proton\.(?P<text>[^"]*)", "(?P<constraints>[^"]*)"\((?P<operands>.*)\)'
    r"(?P<group> #\d+)?(?P<location>, !dbg !\d+)?(?:, !srcloc !\d+)?\s*$"
)


@dataclass(frozen=True)
class CarrierLine:
    """An op of ours in LLVM text; `str` is the line."""

    op: str
    result: str  # with its %; unused, or the number of bytes written so far
    action: str = ""  # of a record: start, end, mark or value
    name: str = ""  # of a record, as users wrote it
    attributes: Mapping[str, str] = field(default_factory=dict)
    constraints: str = "=r,~{memory}"
    operands: str = ""
    location: str = ""  # `, !dbg !12`
    group: str = ""  # ` #5`
    indent: str = "  "

    @property
    def is_record(self) -> bool:
        """Whether it is a moment, in whatever strategy."""
        return self.op in RECORDS

    def counted(self, op: str, count: str) -> CarrierLine:
        """The same op as `op`, taking the bytes written so far and giving those written after it.

        The two share a register, so the carrier, which does nothing, hands the number on.
        """
        operands = f"i32 {count}" + (f", {self.operands}" if self.operands else "")
        constraints = self.constraints.replace("=r", "=r,0", 1)
        return replace(self, op=op, constraints=constraints, operands=operands)

    def count_and_value(self) -> tuple[str, str]:
        """What `counted` put in: the bytes written so far, and the operand of a value or ""."""
        count, _, value = self.operands.partition(", ")
        return count.removeprefix("i32 "), value

    def nothing(self) -> str:
        """A line that defines the result and does nothing: unnamed values stay numbered."""
        # a guard is a true that Triton's pipeliner cannot see through; it has done its work here
        value = "add i32 1, 0" if self.op == "guard" else "freeze i32 poison"
        return f"{self.indent}{self.result} = {value}"

    def __str__(self) -> str:
        words = Words(self.op, self.action, self.name, self.attributes)
        return (
            f'{self.indent}{self.result} = call i32 asm sideeffect "{words}", '
            f'"{self.constraints}"({self.operands}){self.group}{self.location}'
        )


def read_carrier(line: str) -> CarrierLine | None:
    """The op that `line` carries; None for any other line.

    Raises:
        InstrumentationError: it carries something of ours that is not well formed.
    """
    if MARK not in line:
        return None
    matched = _LINE.match(line)
    if matched is None:
        raise InstrumentationError(
            f"malformed carrier {line.strip()!r}; write it as a call of `i32 asm sideeffect` whose "
            "result is not used"
        )
    try:
        words = read_words(matched["text"])
    except InstrumentationError as error:
        raise InstrumentationError(f"{error}: {line.strip()!r}") from None
    return CarrierLine(
        op=words.op,
        result=matched["result"],
        action=words.action,
        name=words.name,
        attributes=words.attributes,
        constraints=matched["constraints"],
        operands=matched["operands"],
        location=matched["location"] or "",
        group=matched["group"] or "",
        indent=matched["indent"],
    )


def read_carriers(lines: Iterable[str]) -> Iterator[CarrierLine]:
    """The ops that `lines` carry."""
    for line in lines:
        if MARK in line and (carrier := read_carrier(line)):  # most lines are none: no call
            yield carrier


def read_body(lines: Iterable[str]) -> list[str | CarrierLine]:
    """`lines`, those that carry an op of ours as such."""
    return [(MARK in line and read_carrier(line)) or line for line in lines]
