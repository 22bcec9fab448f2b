"""Lines that people look at: what a statement of several lines does stands where it begins.

Compilers book a call at the line of its closing bracket or of its last argument. A line on which no
operation begins is none to look at; one with an operation of its own, such as a load among the
arguments, keeps its samples.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

Place = tuple[str, int]  # file and line
Begin = Callable[[Place], Place]  # a place -> that of the statement which it is a part of

_OPERATIONS = (
    ast.Call,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.Subscript,
    ast.IfExp,
    ast.Await,
)


def as_recorded(place: Place) -> Place:
    """Takes lines as they were recorded; for who does not know the texts."""
    return place


@lru_cache(maxsize=64)
def first_lines(text: str) -> Mapping[int, int]:
    """Line -> first line of its statement, for lines of Python on which no operation begins."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, int] = {}
    for statement in ast.walk(module):
        if not isinstance(statement, ast.stmt):
            continue
        last = _last_line(statement)
        if last <= statement.lineno:
            continue
        begun = {node.lineno for node in _own(statement) if isinstance(node, _OPERATIONS)}
        for line in range(statement.lineno + 1, last + 1):
            if line not in begun:
                found[line] = statement.lineno
    return found


def _last_line(statement: ast.stmt) -> int:
    """The last line of a statement, or of what stands in front of its block."""
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        heads = [node.end_lineno or 0 for node in _own(statement)]
        return min(max(heads, default=statement.lineno), body[0].lineno - 1)
    return statement.end_lineno or statement.lineno


def _own(statement: ast.stmt) -> Iterator[ast.expr | ast.arg]:
    """Expressions and parameters of a statement, not those of statements inside it."""
    pending: list[ast.AST] = [
        node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)
    ]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.expr, ast.arg)):
            yield node
        pending += (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt))
