"""Turns a kernel's Python function into one the interpreter can run.

Triton's own syntax transformer does the turning. Building the function is ours: file, lines and
columns stay the user's (a debugger and a traceback show the source), closures keep working, and
nothing is written into the user's module.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

_INNER = "__proton_kernel__"


def rewrite(
    function: FunctionType,
    transformer: ast.NodeTransformer,
    names: Mapping[str, Any],
    replaced: Mapping[str, Any] | None = None,
) -> FunctionType:
    """A copy of `function` with the transformer applied.

    Args:
        function: what `@triton.jit` decorated.
        transformer: Triton's, which may refer to names the function does not know.
        names: where those names are looked up.
        replaced: global names that mean something else in the copy.

    Returns:
        The rewritten function; `function` itself where its source cannot be had.
    """
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):  # made by exec: nothing to rewrite
        return function
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function
    known = _names_in(definition)
    _strip_signature(definition)
    definition.body = [_transformed(transformer, node) for node in definition.body]
    used = _names_in(definition)
    bound = {name: names[name] for name in sorted((used - known) & names.keys())}
    bound.update((name, value) for name, value in (replaced or {}).items() if name in used)
    code = _compile(definition, function, list(bound), first_line, _indent_of(lines[0]))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells.update((name, CellType(value)) for name, value in bound.items())
    result = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return result


def _compile(
    definition: ast.FunctionDef,
    function: FunctionType,
    added: list[str],
    first_line: int,
    indent: int,
) -> CodeType:
    """The code object of `definition`, compiled inside a function that has its free variables."""
    definition.name = _INNER
    free = list(dict.fromkeys([*function.__code__.co_freevars, *added]))
    outer = ast.FunctionDef(
        name="__proton_closure__",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(arg=name) for name in free],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[definition],
        decorator_list=[],
    )
    if "type_params" in ast.FunctionDef._fields:  # Python 3.12 and later
        outer.type_params = []  # type: ignore[attr-defined, unused-ignore]
    module = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
    ast.increment_lineno(module, first_line - 1)
    for node in ast.walk(module):
        if isinstance(node, ast.stmt | ast.expr):
            node.col_offset += indent
            node.end_col_offset = (node.end_col_offset or 0) + indent
    compiled = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    code = _find_code(_find_code(compiled, "__proton_closure__"), _INNER)
    return code.replace(co_name=function.__name__, co_qualname=function.__qualname__)


def _transformed(transformer: ast.NodeTransformer, node: ast.stmt) -> ast.stmt:
    result = transformer.visit(node)
    assert isinstance(result, ast.stmt), "Triton's transformer replaces statements one by one"
    return result


def _strip_signature(definition: ast.FunctionDef) -> None:
    """Drop what is evaluated when a function is defined; the original has done that once."""
    definition.decorator_list = []
    definition.returns = None
    arguments = definition.args
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _find_code(code: CodeType, name: str) -> CodeType:
    return next(
        constant
        for constant in code.co_consts
        if isinstance(constant, CodeType) and constant.co_name == name
    )


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())
