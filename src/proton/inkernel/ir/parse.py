"""Reads TTIR and TTGIR text into a Module: which line begins what, and which braces are regions.

Relies on how MLIR prints: an operation begins a line, a region's brace ends one. Operations written
over several lines by hand are joined as long as a bracket is open. Nothing is looked up.
MLIR's generic form, `"tt.func"() <{...}> ({`, is read and printed again by Triton, which knows the
operations well enough.
"""

from __future__ import annotations

import re

from proton import _triton
from proton._triton import compiler as _triton_compiler
from proton.errors import FormatError
from proton.inkernel.ir.locations import split_outside
from proton.inkernel.ir.module import Block, Module, Op, Region

_OP = re.compile(r'^\s*(?:(%[^="]+?)\s*=\s*)?"?([A-Za-z_][\w$]*(?:\.[\w$]+)*)"?')
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|//.*|[{}()\[\]]')
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$")
_DEFINITION = re.compile(r"^[#!][\w.$-]+\s*=")
_LABEL = re.compile(r"^(\^[\w$.-]+)")
_BRANCH_OF_OP = re.compile(r"^(?:default|partition\d+)\b")  # regions of ttg.warp_specialize
_PAIRS = {"}": "{", ")": "(", "]": "["}
_GENERIC = re.compile(r'^[ \t]*"(?:builtin\.module|tt\.func)"\s*\(', re.MULTILINE)


def read_module(text: str, path: str = "<ir>") -> Module:
    """Read TTIR or TTGIR text.

    Raises:
        FormatError: the text is none; the message has path and line.
    """
    return _Reader(text, path).read()


class _Reader:
    """Builds one Module. `_open` holds the regions that the current line is in."""

    def __init__(self, text: str, path: str) -> None:
        self._module = Module(text.split("\n"), path)
        self._open: list[Region] = []
        self._unfinished: Op | None = None  # an operation whose brackets are still open
        self._depth = 0

    def read(self) -> Module:
        """The module; raises FormatError with path and line."""
        lines = iter(enumerate(self._module.lines))
        for at, line in lines:
            text = line.strip()
            if text.startswith("{-#"):  # resources follow: not code
                while not text.endswith("#-}"):
                    at, text = next(lines, (at, "#-}"))
                    text = text.strip()
                continue
            if text and not text.startswith("//"):
                self._read_line(at, text)
        if self._open or self._unfinished:
            op = self._unfinished or self._open[-1].op
            raise self._error(op.first, f"{op.name} is never closed")
        if not self._module.top:
            raise self._error(0, "no operation in it; give TTIR or TTGIR text")
        return self._module

    def _read_line(self, at: int, text: str) -> None:
        opens, closes, depth = _brackets(text)
        if self._unfinished is not None:
            self._continue(at, text, opens=opens, depth=depth - closes)
        elif not self._open and _DEFINITION.match(text):
            if found := _ALIAS.match(text):
                self._module.aliases[found[1]] = found[2]
        elif text.startswith("}"):
            self._close(at, opens=opens)
        elif text[0] == "^" and (found := _LABEL.match(text)):
            self._begin_block(at, found[1])
        elif opens and _BRANCH_OF_OP.match(text):
            self._open_region(at, self._last_op(at))
        else:
            self._begin_op(at, text, opens=opens, depth=depth)

    def _begin_op(self, at: int, text: str, *, opens: bool, depth: int) -> None:
        found = _OP.match(text)
        if found is None or not ("." in found[2] or found[2] == "module"):
            raise self._error(at, f"no operation of TTIR or TTGIR: {text[:60]!r}")
        names = (name.strip().partition(":")[0] for name in (found[1] or "").split(","))
        op = Op(self._module, found[2], tuple(filter(None, names)), at, at)
        if self._open:
            block = self._open[-1].blocks[-1]
            op.block = block
            block.ops.append(op)
        else:
            self._module.top.append(op)
        if opens:
            self._open_region(at, op)
        elif depth > 0:
            self._unfinished, self._depth = op, depth
            self._module.headers[at] = self._module.lines[at]

    def _continue(self, at: int, text: str, *, opens: bool, depth: int) -> None:
        op = self._unfinished
        assert op is not None
        self._module.headers[op.first] += " " + text
        op.last = at
        self._depth += depth
        if opens:
            self._unfinished = None
            self._open_region(at, op)
        elif self._depth <= 0:
            self._unfinished = None

    def _open_region(self, at: int, op: Op) -> None:
        region = Region(op)
        region.blocks.append(Block(region, at))
        op.regions.append(region)
        self._open.append(region)

    def _begin_block(self, at: int, label: str) -> None:
        if not self._open:
            raise self._error(at, f"block {label} is in no region")
        region = self._open[-1]
        last = region.blocks[-1]
        if len(region.blocks) == 1 and not last.ops and not last.label:
            last.head, last.label = at, label  # the first block, with its arguments
            return
        last.end = at
        region.blocks.append(Block(region, at, label))

    def _close(self, at: int, *, opens: bool) -> None:
        if not self._open:
            raise self._error(at, "'}' closes nothing")
        region = self._open.pop()
        region.blocks[-1].end = at
        region.op.last = at
        if opens:
            self._open_region(at, region.op)

    def _last_op(self, at: int) -> Op:
        ops = self._open[-1].blocks[-1].ops if self._open else []
        if not ops:
            raise self._error(at, "a region of no operation")
        return ops[-1]

    def _error(self, at: int, problem: str) -> FormatError:
        return FormatError(f"{self._module.path}:{at + 1}: {problem}")


def _is_balanced(text: str) -> bool:
    """Whether it surely closes what it opens and no more, as most lines do."""
    count = text.count
    return (
        count("(") == count(")")
        and count("{") == count("}")
        and count("[") == count("]")
        and not text.startswith("}")
        and not text.endswith("{")
        and '"' not in text
        and "//" not in text
    )


def _brackets(text: str) -> tuple[bool, int, int]:
    """Whether the line ends by opening a region; brackets it closes and opens beyond its own."""
    if _is_balanced(text):
        return False, 0, 0
    stack: list[str] = []
    closes, last = 0, ""
    for token in _TOKENS.finditer(text):
        mark = token[0]
        if mark.startswith("//"):
            break
        last = mark
        if mark in "{([":
            stack.append(mark)
        elif mark in _PAIRS:
            if stack and stack[-1] == _PAIRS[mark]:
                stack.pop()
            else:
                closes += 1
    return bool(stack) and last == "{" == stack[-1], closes, len(stack)


def is_generic(text: str) -> bool:
    """Whether TTIR or TTGIR text is in generic form."""
    return _GENERIC.search(text) is not None


def to_usual_form(text: str, path: str) -> str:
    """The same module as Triton prints it. Imports Triton.

    Args:
        text: In any form.
        path: Its name, in messages and in locations of operations that have none.

    Raises:
        FormatError: Triton is not there, or cannot read it.
    """
    if not _triton.is_supported():
        raise FormatError(
            f"{path}: is in MLIR's generic form, which takes Triton 3.6 to 3.9 to read; install "
            "one, or print the file without --mlir-print-op-generic"
        )
    try:
        return _triton_compiler.printed_module(text, path)
    except RuntimeError as error:
        raise FormatError(f"{path}: Triton cannot read it: {error}") from None


def split_list(text: str) -> list[str]:
    """The parts of `text` between commas that stand in no bracket and no string."""
    return [part.strip() for part in split_outside(text, ",") if part.strip()]
