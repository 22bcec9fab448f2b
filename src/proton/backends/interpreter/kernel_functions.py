"""What there is to know of a kernel before it is launched, worked out once per function.

A kernel's Python function is turned into one that the interpreter can run. Triton's own syntax
transformer does the turning. Building the function is ours: file, lines and columns stay the user's
(a debugger and a traceback show the source), closures keep working, and nothing is written into the
user's module.
"""

from __future__ import annotations

import ast
import inspect
import logging
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.patched_language import LanguagePatch

_INNER = "__proton_kernel__"
_log = logging.getLogger("proton")


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
    indent = len(lines[0]) - len(lines[0].lstrip())
    code = _compile(definition, function, list(bound), first_line, indent)
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


@dataclass(frozen=True)
class Kernel:
    """A jitted function, ready to be interpreted."""

    name: str
    function: FunctionType
    signature: inspect.Signature
    constexprs: frozenset[str]
    repr_function: Callable[[Any], str] | None
    launch_metadata: Callable[..., dict[str, Any]] | None

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, defaults filled in; other keywords are options of the compiler.

        Raises:
            TypeError: an argument is missing, or there are too many.
        """
        known = {name: value for name, value in kwargs.items() if name in self.signature.parameters}
        try:
            bound = self.signature.bind(*args, **known)
        except TypeError as error:
            raise TypeError(f"kernel {self.name!r}: {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def specialized_name(self, arguments: Mapping[str, Any]) -> str:
        """The kernel's name, by its own `repr` function where it has one."""
        if self.repr_function is None:
            return self.name
        constants = {name: arguments[name] for name in self.constexprs if name in arguments}
        signature = {name: "constexpr" if name in constants else "" for name in arguments}
        specialization = SimpleNamespace(
            constants=constants, constexprs=constants, signature=signature, attrs={}
        )
        try:
            return str(self.repr_function(specialization))
        except Exception as error:  # the user's code, written for the compiler's own object
            _log.warning("repr of kernel %r failed (%s); it keeps its name", self.name, error)
            return self.name


class LaunchTraits(NamedTuple):
    """The `metadata` that launch metadata functions get, as far as an interpreter has it."""

    name: str
    num_warps: int
    num_stages: int
    num_ctas: int
    cluster_dims: tuple[int, int, int]
    maxnreg: int | None
    debug: bool
    shared: int = 0
    tmem_size: int = 0
    hash: str = ""
    target: str = "interpreter"
    backend_name: str = "interpreter"

    @staticmethod
    def of(name: str, options: Mapping[str, Any]) -> LaunchTraits:
        """From the options a launch was given, with the compiler's defaults."""
        num_ctas = int(options.get("num_ctas") or 1)
        return LaunchTraits(
            name=name,
            num_warps=int(options.get("num_warps") or 4),
            num_stages=int(options.get("num_stages") or 3),
            num_ctas=num_ctas,
            cluster_dims=(num_ctas, 1, 1),
            maxnreg=options.get("maxnreg"),
            debug=bool(options.get("debug")),
        )


class KernelTable:
    """Kernels by their Python function; a function that goes away takes its entry along."""

    def __init__(
        self, parts: InterpreterParts, names: Mapping[str, Any], patch: LanguagePatch
    ) -> None:
        self._parts = parts
        self._names = names
        self._patch = patch
        self._kernels: WeakKeyDictionary[FunctionType, Kernel] = WeakKeyDictionary()

    def kernel(self, jitted: Any) -> Kernel:
        """The kernel behind a JITFunction or InterpretedFunction."""
        function: FunctionType = jitted.fn
        found = self._kernels.get(function)
        if found is None:
            found = self._kernels[function] = self._make(jitted, function)
        return found

    def _make(self, jitted: Any, function: FunctionType) -> Kernel:
        options: Mapping[str, Any] = getattr(jitted, "kwargs", {})  # InterpretedFunction's
        normalize = self._parts.normalize_type
        annotations = inspect.get_annotations(function)
        replaced = self._patch.replaced_globals(function.__globals__)
        return Kernel(
            name=function.__name__,
            function=rewrite(function, self._parts.ast_transformer, self._names, replaced),
            signature=inspect.signature(function),
            constexprs=frozenset(
                name for name, kind in annotations.items() if normalize(kind) == "constexpr"
            ),
            repr_function=getattr(jitted, "_repr", None) or options.get("repr"),
            launch_metadata=getattr(jitted, "launch_metadata", None)
            or options.get("launch_metadata"),
        )
