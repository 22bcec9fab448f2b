"""Functions of the device's math library, by numpy.

Kernels reach them through `libdevice.tanh` and the like, which Triton compiles to calls of symbols
such as `__nv_tanhf`. Triton's interpreter has none of them. Those without an entry here are refused
by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts

Operation = Callable[..., Any]


def _elementwise(function: Callable[[float], float]) -> Operation:
    return np.vectorize(function, otypes=[np.float64])


def _safe(function: Callable[[float], float], at_pole: float) -> Callable[[float], float]:
    """`function` of the math module, without its exceptions."""

    def compute(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return at_pole

    return compute


def _round_half_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# name of the function, without `__nv_` and the suffix of its type -> numpy
_FUNCTIONS: dict[str, Operation] = {
    **{
        name: getattr(np, name)
        for name in (
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2"),
            *("log10", "log1p", "sqrt", "cbrt", "floor", "ceil", "trunc", "rint", "fmod", "hypot"),
            *("copysign", "isnan", "isinf", "signbit", "fmax", "fmin", "ldexp", "nextafter"),
        )
    },
    **{
        f"fast_{name}": getattr(np, name)
        for name in ("exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh")
    },
    **{
        f"{precision}{name}_rn": function
        for precision in "fd"
        for name, function in (
            *(("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)),
            *(("sqrt", np.sqrt), ("rcp", np.reciprocal)),
        )
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "fabs": np.abs,
    "abs": np.abs,
    "llabs": np.abs,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "pow": np.power,
    "powi": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "nearbyint": np.rint,
    "round": _round_half_away,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "finite": np.isfinite,
    "isfinited": np.isfinite,
    "fma": lambda x, y, z: x * y + z,
    "fma_rn": lambda x, y, z: x * y + z,
    "fast_exp10": lambda x: np.power(x.dtype.type(10), x),
    "fast_pow": np.power,
    "fast_fdivide": np.divide,
    "erf": _elementwise(math.erf),
    "erfc": _elementwise(math.erfc),
    "lgamma": _elementwise(_safe(math.lgamma, math.inf)),
    "tgamma": _elementwise(_safe(math.gamma, math.nan)),
    "normcdf": _elementwise(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "saturate": lambda x: np.clip(x, 0, 1),
}


def make_extern_elementwise(parts: InterpreterParts) -> Operation:
    """The builder's `create_extern_elementwise`: one flop per element of float results."""
    numpy_type = parts.interpreter._get_np_dtype

    def extern_elementwise(
        self: Any,
        library: str,
        path: str,
        symbol: str,
        operands: list[Any],
        result_type: Any,
        is_pure: bool,
    ) -> Any:
        function = _find(symbol)
        if function is None:
            raise NotImplementedError(f"{symbol} is not computed by the interpreter")
        scalar = result_type.scalar
        data = np.asarray(function(*(operand.data for operand in operands)))
        if scalar.is_floating():
            self.flops += data.size
        return parts.interpreter.TensorHandle(data.astype(numpy_type(scalar)), scalar)

    return extern_elementwise


def _find(symbol: str) -> Operation | None:
    name = symbol.removeprefix("__nv_")
    # variants by type end in f (expf) or d (isnand); so do names that are no variants (erf)
    candidates = (name, name.removesuffix("f"), name.removesuffix("d"))
    return next((_FUNCTIONS[each] for each in candidates if each in _FUNCTIONS), None)
