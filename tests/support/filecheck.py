"""A small FileCheck: CHECK, CHECK-NEXT, CHECK-NOT, CHECK-COUNT-n over the lines of a text.

Patterns are literal but for `{{regex}}`, `[[NAME:regex]]` (remembers what it matched) and
`[[NAME]]` (the same again). Runs of blanks match any run of blanks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PARTS = re.compile(r"\{\{(.*?)\}\}|\[\[(\w+):(.*?)\]\]|\[\[(\w+)\]\]|(\s+)")


@dataclass(frozen=True)
class Directive:
    """One line of checks: its kind, how often it must match, its pattern and its line."""

    kind: str  # "", "NEXT" or "NOT"
    count: int
    pattern: str
    line: int


def directives(text: str, prefix: str = "CHECK") -> list[Directive]:
    """The checks of a file with this prefix, in order."""
    finder = re.compile(rf"\b{re.escape(prefix)}(?:-(NEXT|NOT|COUNT-(\d+)))?:[ \t]*(.*?)[ \t]*$")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := finder.search(line):
            kind = match[1] if match[1] in ("NEXT", "NOT") else ""
            found.append(Directive(kind, int(match[2] or 1), match[3], number))
    return found


def check(output: str, checks: list[Directive]) -> None:
    """Fail with an AssertionError that says which check failed, and where."""
    assert checks, "no checks with this prefix"
    lines = output.splitlines()
    known: dict[str, str] = {}
    at = 0  # the first line that no check has matched yet
    forbidden: list[Directive] = []
    for each in checks:
        if each.kind == "NOT":
            forbidden.append(each)
            continue
        for _ in range(each.count):
            end = at + 1 if each.kind == "NEXT" else len(lines)
            hit = next((n for n in range(at, end) if _matches(each.pattern, lines, n, known)), None)
            if hit is None:
                near = "\n".join(lines[max(0, at - 2) : at + 6])
                where = "the next line" if each.kind == "NEXT" else f"lines from {at + 1} on"
                raise AssertionError(f"line {each.line}: {each.pattern!r} not in {where}:\n{near}")
            _refuse(forbidden, lines, at, hit, known)
            forbidden = []
            at = hit + 1
    _refuse(forbidden, lines, at, len(lines), known)


def _refuse(
    forbidden: list[Directive], lines: list[str], first: int, end: int, known: dict[str, str]
) -> None:
    for each in forbidden:
        for number in range(first, end):
            if _matches(each.pattern, lines, number, known):
                raise AssertionError(f"line {each.line}: {each.pattern!r} is in {lines[number]!r}")


def _matches(pattern: str, lines: list[str], number: int, known: dict[str, str]) -> bool:
    if not 0 <= number < len(lines):
        return False
    pieces, last = [], 0
    for part in _PARTS.finditer(pattern):
        pieces.append(re.escape(pattern[last : part.start()]))
        regex, name, named, again, _ = part.groups()
        if regex is not None:
            pieces.append(f"(?:{regex})")
        elif name is not None:
            pieces.append(f"(?P<{name}>{named})")
        elif again is not None:
            pieces.append(re.escape(known.get(again, "\0")))
        else:
            pieces.append(r"\s+")
        last = part.end()
    pieces.append(re.escape(pattern[last:]))
    found = re.search("".join(pieces), lines[number])
    if found is not None:
        known.update({name: text for name, text in found.groupdict().items() if text is not None})
    return found is not None
