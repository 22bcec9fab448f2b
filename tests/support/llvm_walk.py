"""Runs the helpers' LLVM text for one lane: what a kernel writes can be known without a GPU.

Only what the helpers use is understood. Primitives are Python functions; memory is bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_FUNCTION = re.compile(
    r"^define internal [^@\n]*@(\w+)\(([^\n]*)\) alwaysinline[^\n]*\{\n(.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
_TYPE = r"(?:ptr addrspace\(1\)|i\d+)"
_COMPARE: Mapping[str, Callable[[int, int, int], bool]] = {
    "eq": lambda a, b, sign: a == b,
    "ne": lambda a, b, sign: a != b,
    "ult": lambda a, b, sign: a < b,
    "uge": lambda a, b, sign: a >= b,
    "ugt": lambda a, b, sign: a > b,
    "slt": lambda a, b, sign: (a ^ sign) < (b ^ sign),
    "sgt": lambda a, b, sign: (a ^ sign) > (b ^ sign),
}
_MATH: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "lshr": lambda a, b: a >> b,
    "udiv": lambda a, b: a // b,
}


def _bits(kind: str) -> int:
    return 64 if kind.startswith("ptr") else int(kind[1:])


@dataclass
class Walk:
    """One lane: `call` runs a function of `text`, or the primitive that stands for it."""

    text: str = field(repr=False)
    primitives: Mapping[str, Callable[..., int | None]] = field(repr=False)
    memory: bytearray = field(default_factory=bytearray, repr=False)

    def __post_init__(self) -> None:
        self._functions = {
            name: (re.findall(r"(%\w+)", parameters), self._blocks(body))
            for name, parameters, body in _FUNCTION.findall(self.text)
        }

    @staticmethod
    def _blocks(body: str) -> dict[str, list[str]]:
        blocks: dict[str, list[str]] = {}
        at = blocks.setdefault("entry", [])
        for line in body.splitlines():
            if found := re.match(r"^(\w+):$", line):
                at = blocks.setdefault(found[1], [])
            elif line.strip():
                at.append(re.sub(r"(, !\w[\w.]* !\d+)+$", "", line.strip()))
        return blocks

    def call(self, name: str, *arguments: int) -> int | None:
        """What the function gives; None for none."""
        if name in self.primitives:
            return self.primitives[name](*arguments)
        parameters, blocks = self._functions[name]
        values = dict(zip(parameters, arguments, strict=True))
        block, before = "entry", ""
        while True:
            for line in blocks[block]:
                if line.startswith("ret"):
                    word = line.split()[-1]
                    return None if word == "void" else self._value(values, word)
                if line.startswith("br"):
                    before, block = block, self._target(values, line)
                    break
                self._step(values, line, before)

    def _value(self, values: Mapping[str, int], word: str, bits: int = 64) -> int:
        words = {"true": 1, "false": 0}
        found = values[word] if word.startswith("%") else words.get(word)
        return (int(word) if found is None else found) & ((1 << bits) - 1)

    def _target(self, values: Mapping[str, int], line: str) -> str:
        targets = re.findall(r"label %(\w+)", line)
        if len(targets) == 1:
            return str(targets[0])
        condition = re.match(r"br i1 (\S+),", line)
        assert condition is not None
        return str(targets[0 if self._value(values, condition[1]) & 1 else 1])

    def _step(self, values: dict[str, int], line: str, before: str) -> None:
        if found := re.match(rf"store (i\d+) (\S+), {_TYPE} (\S+), align", line):
            size = _bits(found[1]) // 8
            at = self._value(values, found[3])
            self.memory[at : at + size] = self._value(values, found[2]).to_bytes(size, "little")
            return
        result, _, text = line.rpartition(" = ") if " = " in line else ("", "", line)
        if found := re.match(r"call (.*?) @([\w.]+)\((.*)\)$", text):
            arguments = [
                self._value(values, each.split()[-1], _bits(each.rpartition(" ")[0]))
                for each in found[3].split(", ")
                if each and "immarg" not in each
            ]
            given = self.call(found[2], *arguments)
            if result:
                assert given is not None
                values[result] = given
            return
        values[result] = self._computed(values, text, before)

    def _computed(self, values: Mapping[str, int], text: str, before: str) -> int:
        def value(word: str, kind: str = "i64") -> int:
            return self._value(values, word, _bits(kind))

        if (found := re.match(r"(\w+) (i\d+) (\S+), (\S+)$", text)) and found[1] in _MATH:
            bits = _bits(found[2])
            return _MATH[found[1]](value(found[3], found[2]), value(found[4], found[2])) & (
                (1 << bits) - 1
            )
        if found := re.match(r"icmp (\w+) (\S+) (\S+), (\S+)$", text):
            sign = 1 << (_bits(found[2]) - 1)
            return int(
                _COMPARE[found[1]](value(found[3], found[2]), value(found[4], found[2]), sign)
            )
        if found := re.match(rf"select i1 (\S+), {_TYPE} (\S+), ({_TYPE}) (\S+)$", text):
            return value(found[2] if value(found[1]) & 1 else found[4], found[3])
        if found := re.match(r"(?:zext|trunc) (\S+) (\S+) to (\S+)$", text):
            return value(found[2], found[1]) & ((1 << _bits(found[3])) - 1)
        if found := re.match(rf"getelementptr i8, {_TYPE} (\S+), i64 (\S+)$", text):
            return (value(found[1]) + value(found[2])) & ((1 << 64) - 1)
        if found := re.match(rf"load (i\d+), {_TYPE} (\S+), align", text):
            at = value(found[2])
            return int.from_bytes(self.memory[at : at + _bits(found[1]) // 8], "little")
        if text.startswith("phi "):
            edges = {block: word for word, block in re.findall(r"\[ (\S+), %(\w+) \]", text)}
            return value(edges[before])
        raise AssertionError(f"not understood: {text}")
