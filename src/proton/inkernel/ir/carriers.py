"""Our operations as they stand in IR text: inline assembly whose text is only a comment.

Any Triton tool parses a file with carriers, and a kernel whose carriers nobody lowers still runs.
The table of operations and their contracts is in docs/internals/passes.md. This module has the
words of a carrier, and makes and reads carriers in TTIR and TTGIR; `llvm.carrier_line` has them in
LLVM text. It decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from proton.errors import InstrumentationError

RECORDS = ("record", "circular_record", "flush_record")
# guard: an opaque true, see `user_records`; refused: a record that cannot be made, and why
PLAIN = ("init", "notify", "finalize", "guard", "access", "refused")
ACTIONS = ("start", "end", "mark", "value")

_TTGIR = re.compile(
    r'^\s*(%[\w$.-]+)\s*=\s*tt\.elementwise_inline_asm "// proton\.([^"]*)"'
    r'\s*\{[^"]*"[^"]*"[^}]*\}(?:\s+(%[\w$.#-]+) : (\S+))?\s*->\s*i32'
)
# what people write into a file by hand, as in `proton.record start "load"`
_PLAIN = re.compile(
    r'^\s*proton\.record (start|end|mark) (?:"([^"]+)"|([\w.~-]+))\s*(?:loc\(|//|$)'
)


@dataclass(frozen=True, slots=True)
class Carrier:
    """One operation of ours. `action` and `name` belong to records; `operand` to values."""

    op: str
    action: str = ""
    name: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    operand: str = ""  # the value recorded, as the text names it
    operand_type: str = ""  # its type there: i32 or i64, of floats the bits
    result: str = ""  # the carrier's own value; nobody uses it

    @property
    def is_record(self) -> bool:
        """Whether it is a moment: start, end, mark or value."""
        return self.op in RECORDS

    @property
    def is_nested(self) -> bool:
        """Whether it must pair up with others of its block; events may cross blocks and warps."""
        return self.is_record and self.action in ("start", "end") and self.kind != "event"

    @property
    def kind(self) -> str:
        """What is recorded: scope, loop, event, mark, value, or a group of operations."""
        default = self.action if self.action in ("mark", "value") else "scope"
        return self.attributes.get("kind", default)

    @property
    def comment(self) -> str:
        """The text of the inline assembly."""
        return str(Words(self.op, self.action, self.name, self.attributes))

    def constraints(self, target: str = "cuda") -> str:
        """The constraints of the inline assembly; registers are named per vendor."""
        if not self.operand:
            return "=r" if self.op == "guard" else "=r,~{memory}"
        register = "v" if target.startswith("hip") else "l" if self.operand_type == "i64" else "r"
        return f"=r,{register},~{{memory}}"

    def to_ttgir(self, result: str, target: str = "cuda") -> str:
        """The carrier as a line of TTIR or TTGIR; `result` is a value name that is free."""
        operand = f" {self.operand} : {self.operand_type}" if self.operand else ""
        is_pure = "true" if self.op == "guard" else "false"
        return (
            f'{result} = tt.elementwise_inline_asm "{self.comment}" '
            f'{{constraints = "{self.constraints(target)}", packed_element = 1 : i32, '
            f"pure = {is_pure}}}{operand} -> i32"
        )


def record(action: str, name: str, **attributes: object) -> Carrier:
    """A record; attributes that are None or empty are left out."""
    kept = {key: str(value) for key, value in attributes.items() if value not in (None, "")}
    return Carrier("record", action, name, kept)


def encode(text: str) -> str:
    """Percent-encode all but RFC 3986's unreserved characters: one word, safe in any string."""
    return quote(text, safe="")


def from_ttgir(line: str) -> Carrier | None:
    """The carrier on a line of TTIR or TTGIR; None where it has none.

    A line `proton.record start "name"`, as people write it into files, is one too.

    Raises:
        InstrumentationError: it begins like one of ours and is none.
    """
    if line.lstrip().startswith("proton."):
        if (plain := _PLAIN.match(line)) is None:
            raise InstrumentationError(
                f'cannot read {line.strip()!r}; write: proton.record start|end|mark "name"'
            )
        return record(plain[1], plain[2] or plain[3])
    if "// proton." not in line or (found := _TTGIR.match(line)) is None:
        return None
    result, text, operand, operand_type = (part or "" for part in found.groups())
    words = read_words(text)
    if words.op in RECORDS and (words.action == "value") != bool(operand):
        raise InstrumentationError(f"'proton.{text}': a value, and only that, has one operand")
    return Carrier(*words, operand, operand_type, result)


class Words(NamedTuple):
    """What the comment of a carrier says."""

    op: str
    action: str  # of a record
    name: str  # of a record, as users wrote it
    attributes: Mapping[str, str]

    def __str__(self) -> str:
        words = [f"// proton.{self.op}"]
        if self.op in RECORDS:
            words += [self.action, encode(self.name)]
        words += [f"{key}={encode(value)}" for key, value in self.attributes.items()]
        return " ".join(words)


@lru_cache(maxsize=4096)  # passes and verifiers read the same carriers many times
def read_words(text: str) -> Words:
    """The words behind `// proton.` of a carrier's comment.

    Raises:
        InstrumentationError: they are none of ours.
    """
    op, *words = text.split() or [""]
    action = name = ""
    if op in RECORDS:
        action, name, words = (*words, "", "")[0], (*words, "", "")[1], words[2:]
        if action not in ACTIONS or not name:
            raise InstrumentationError(
                f"malformed 'proton.{text}'; write: proton.{op} {'|'.join(ACTIONS)} NAME"
            )
    elif op not in PLAIN:
        choices = ", ".join((*RECORDS, *PLAIN))
        raise InstrumentationError(f"unknown operation 'proton.{op}'; choose one of {choices}")
    attributes = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise InstrumentationError(f"malformed attribute {word!r} of 'proton.{text}'")
        attributes[key] = unquote(value)
    return Words(op, action, unquote(name), attributes)
