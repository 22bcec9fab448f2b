"""The little of TTIR and TTGIR text we touch: Module, Op, walk, insert.

A module is read line by line, as Triton 3.6 to 3.9 print it, and keeps the lines: what is not
edited is written back byte for byte. Edits are collected and seen by whoever reads the new text;
`walk` shows the module as it was read. `parse.read_module` makes one from text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from proton.errors import InstrumentationError
from proton.inkernel.ir.locations import Source, find_frames, trailing_location, users_line

_VALUE = re.compile(r"%[\w$.-]+")
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$-]+)')
_TARGET = re.compile(r'\bttg\.target = "([^"]*)"')
_SUCCESSOR = re.compile(r"\^[\w$.-]+")
FUNCTIONS = frozenset({"tt.func", "func.func", "llvm.func"})
RETURNS = frozenset({"tt.return", "func.return", "llvm.return"})
TERMINATORS = RETURNS | {
    "scf.yield",
    "scf.condition",
    "ttg.warp_yield",
    "ttg.warp_return",
    "tt.reduce.return",
    "tt.scan.return",
    "cf.br",
    "cf.cond_br",
    "cf.switch",
    "ub.unreachable",
    "llvm.unreachable",
}


@dataclass(eq=False, slots=True)
class Block:
    """A straight run of operations; `head` is the line that opens it, `end` the line after it."""

    region: Region
    head: int
    label: str = ""
    end: int = -1
    ops: list[Op] = field(default_factory=list)

    @property
    def terminator(self) -> Op | None:
        """The operation that leaves the block; None where the printer leaves it out."""
        last = self.ops[-1] if self.ops else None
        return last if last is not None and last.name in TERMINATORS else None


@dataclass(eq=False, slots=True)
class Region:
    """The blocks between one pair of braces of an operation."""

    op: Op
    blocks: list[Block] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Op:
    """One operation: its name, its lines (first and last, from 0) and its regions."""

    module: Module = field(repr=False)
    name: str
    results: tuple[str, ...]
    first: int
    last: int
    block: Block | None = field(default=None, repr=False)
    regions: list[Region] = field(default_factory=list, repr=False)

    @property
    def text(self) -> str:
        """The line that begins the operation (joined, where it is written over several)."""
        return self.module.header(self)

    @property
    def parent(self) -> Op | None:
        """The operation whose region this one is in."""
        return self.block.region.op if self.block is not None else None

    @property
    def ancestors(self) -> Iterator[Op]:
        """The operations around this one, innermost first."""
        op = self.parent
        while op is not None:
            yield op
            op = op.parent

    @property
    def location(self) -> str:
        """The inside of its `loc(...)`; empty where the file has no locations."""
        return trailing_location(self.module.lines[self.last])

    @property
    def source(self) -> Source | None:
        """The user's line it stands for: inlined code of Triton's library counts for its caller."""
        return self.module.source_of(self.location)

    @property
    def symbol(self) -> str:
        """The name of a function, without quotes."""
        found = _SYMBOL.search(self.text)
        return found[1].strip('"') if found else ""

    @property
    def is_kernel(self) -> bool:
        """Whether it is a function that is launched; the others are called (`noinline=True`)."""
        return self.name in FUNCTIONS and " public " in self.text.split("@")[0]

    @property
    def operands(self) -> tuple[str, ...]:
        """The values its first line names after its own results, in order."""
        named = _VALUE.findall(self.text.split(" loc(")[0])
        return tuple(named[len(self.results) :])

    @property
    def successors(self) -> tuple[str, ...]:
        """The labels of the blocks a branch may go to."""
        return tuple(_SUCCESSOR.findall(self.text)) if self.name.startswith("cf.") else ()

    def walk(self) -> Iterator[Op]:
        """This operation and all inside it, in the order of the text."""
        pending = [self]  # no recursion: a file may nest deeper than Python's stack
        while pending:
            op = pending.pop()
            yield op
            if op.regions:
                pending.extend(reversed(op.inside()))

    def inside(self) -> list[Op]:
        """The operations directly in its regions, in the order of the text."""
        return [each for region in self.regions for block in region.blocks for each in block.ops]

    def insert_before(self, text: str) -> None:
        """Put operations directly before this one; they take this one's location."""
        self.module.add_before(self.first, self._placed(text, self.first))

    def insert_after(self, text: str) -> None:
        """Put operations directly after this one; they take this one's location.

        Raises:
            InstrumentationError: this operation ends its block.
        """
        if self.name in TERMINATORS:
            raise InstrumentationError(f"line {self.first + 1}: nothing may follow {self.name}")
        self.module.add_after(self.last, self._placed(text, self.first))

    def replace(self, text: str) -> None:
        """Write another operation of one line in the place of this one of one line."""
        assert self.first == self.last
        self.module.replaced[self.first] = [self._placed(text, self.first)]

    def remove(self) -> None:
        """Take the operation out, with all inside it."""
        self.module.replaced.update((line, []) for line in range(self.first, self.last + 1))

    def _placed(self, text: str, like: int) -> str:
        line = self.module.lines[like]
        indent = line[: len(line) - len(line.lstrip())]
        location = f" loc({self.location})" if self.location else ""
        lines = (
            f"{indent}{each}" if each.endswith("{") else f"{indent}{each}{location}"
            for each in text.split("\n")
        )
        return "\n".join(lines)


class Module:
    """A file of IR: its operations to walk, and the edits to it."""

    def __init__(self, lines: list[str], path: str) -> None:
        self.lines = lines
        self.path = path
        self.top: list[Op] = []
        self.aliases: dict[str, str] = {}
        self.headers: dict[int, str] = {}  # first line -> text of operations over several lines
        self.replaced: dict[int, list[str]] = {}
        self._before: dict[int, list[str]] = {}
        self._after: dict[int, list[str]] = {}
        self._names: set[str] | None = None
        self._fresh = 0
        self._sources: dict[str, Source | None] = {}

    def walk(self) -> Iterator[Op]:
        """Every operation, in the order of the text, as it was read."""
        for op in self.top:
            yield from op.walk()

    def functions(self) -> list[Op]:
        """The functions of the module; there are none inside functions."""
        found, pending = [], self.top[::-1]
        while pending:
            op = pending.pop()
            if op.name not in FUNCTIONS:
                pending.extend(reversed(op.inside()))
            elif op.regions:
                found.append(op)
        return found

    def kernels(self) -> list[Op]:
        """The functions that are launched: the public ones."""
        return [op for op in self.functions() if op.is_kernel]

    @property
    def target(self) -> str:
        """What the module is compiled for, such as "cuda:90" or "hip:gfx942"; empty in TTIR."""
        found = next(filter(None, (_TARGET.search(op.text) for op in self.top)), None)
        return found[1] if found else ""

    def source_of(self, location: str) -> Source | None:
        """The user's line that the inside of a `loc(...)` stands for."""
        if location not in self._sources:
            self._sources[location] = users_line(find_frames(location, self.aliases))
        return self._sources[location]

    def header(self, op: Op) -> str:
        """The text that begins an operation, on one line."""
        return self.headers.get(op.first) or self.lines[op.first]

    def fresh(self, stem: str = "proton") -> str:
        """A value name that the module does not have yet."""
        if self._names is None:
            self._names = {name for line in self.lines for name in _VALUE.findall(line)}
        while (name := f"%{stem}_{self._fresh}") in self._names:
            self._fresh += 1
        self._names.add(name)
        return name

    def insert_first(self, block: Block, text: str) -> None:
        """Put operations first in a block; they take the location of what was first."""
        placed = block.ops[0]._placed(text, block.ops[0].first) if block.ops else ""
        self.add_after(block.head, placed or self._inside(block, text))

    def insert_last(self, block: Block, text: str) -> None:
        """Put operations last in a block, before what leaves it."""
        if (leave := block.terminator) is not None:
            leave.insert_before(text)
        elif block.ops:
            last = block.ops[-1]
            self.add_before(block.end, last._placed(text, last.first))
        else:
            self.add_before(block.end, self._inside(block, text))

    def add_before(self, line: int, text: str) -> None:
        """Write `text` before a line, nearer to it than what was put there earlier."""
        self._before.setdefault(line, []).append(text)

    def add_after(self, line: int, text: str) -> None:
        """Write `text` after a line, nearer to it than what was put there earlier."""
        self._after.setdefault(line, []).insert(0, text)

    def text(self) -> str:
        """The module with its edits; byte for byte what was read where there are none."""
        if not (self._before or self._after or self.replaced):
            return "\n".join(self.lines)
        out: list[str] = []
        for at, line in enumerate(self.lines):
            out += self._before.get(at, ())
            out += self.replaced.get(at, (line,))
            out += self._after.get(at, ())
        return "\n".join(out)

    def error(self, op: Op, problem: str) -> InstrumentationError:
        """An error about an operation: the user's line where it is known, else the file's."""
        return InstrumentationError(f"{op.source or f'{self.path}:{op.first + 1}'}: {problem}")

    def _inside(self, block: Block, text: str) -> str:
        line = self.lines[block.head]
        indent = line[: len(line) - len(line.lstrip())]
        return f"{indent}  {text}"
