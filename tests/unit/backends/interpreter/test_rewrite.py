import ast
import inspect
import traceback
from collections.abc import Callable
from types import FunctionType

from proton.backends.interpreter.kernel_functions import rewrite


class _WrapAssignments(ast.NodeTransformer):
    """`x = value` becomes `x = wrap(value)`, as Triton's transformer does with its own name."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        node.value = ast.Call(func=ast.Name("wrap", ast.Load()), args=[node.value], keywords=[])
        return node


def _rewritten(function: object) -> FunctionType:
    assert isinstance(function, FunctionType)
    return rewrite(function, _WrapAssignments(), {"wrap": lambda value: ("wrapped", value)})


def test_assignments_are_transformed() -> None:
    def kernel(x: int) -> object:
        y = x
        return [y]

    assert _rewritten(kernel)(1) == [("wrapped", 1)]


def test_nothing_is_written_into_the_module_of_the_kernel() -> None:
    def kernel() -> object:
        y = 1
        return [y]

    _rewritten(kernel)()
    assert "wrap" not in globals()


def test_closures_keep_their_live_cells() -> None:
    factor = 2

    def kernel(x: int) -> int:
        return x * factor

    rewritten = _rewritten(kernel)
    factor = 5
    assert rewritten(1) == 5


def test_a_replaced_global_means_something_else_in_the_copy_only() -> None:
    def kernel() -> object:
        return ast

    assert isinstance(kernel, FunctionType)
    copy = rewrite(kernel, _WrapAssignments(), {}, {"ast": int, "unused": 1})
    assert copy() is int
    assert kernel() is ast


def test_defaults_and_keyword_defaults_are_the_originals() -> None:
    marker = object()

    def kernel(x: object = marker, *, y: object = marker) -> tuple[object, object]:
        return x, y

    assert _rewritten(kernel)() == (marker, marker)


def test_a_function_may_refer_to_its_own_name() -> None:
    assert _rewritten(_countdown)(3) == 0


def _countdown(x: int) -> int:
    return x if x == 0 else _countdown(x - 1)


def test_tracebacks_show_file_line_and_columns_of_the_source() -> None:
    def kernel() -> None:
        raise ValueError("here")

    try:
        _rewritten(kernel)()
    except ValueError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
    lines, first = inspect.getsourcelines(kernel)
    assert (frame.filename, frame.lineno) == (__file__, first + 1)
    assert (frame.name, frame.colno) == ("kernel", lines[1].index("raise"))


def test_decorators_are_not_applied_again() -> None:
    calls = []

    def decorator(function: Callable[[], int]) -> Callable[[], int]:
        calls.append(function)
        return function

    @decorator
    def kernel() -> int:
        return 1

    assert _rewritten(kernel)() == 1
    assert len(calls) == 1


def test_a_function_without_source_stays_as_it_is() -> None:
    namespace: dict[str, FunctionType] = {}
    exec("def kernel(): return 7", namespace)
    assert _rewritten(namespace["kernel"]) is namespace["kernel"]
