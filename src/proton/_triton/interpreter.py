"""The door to Triton's interpreter: what the interpreter backend takes from it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class InterpreterParts:
    """What the interpreter backend takes from Triton. Types of Triton's objects are not ours."""

    language: Any  # triton.language
    libdevice: Any  # the device's math library as kernels name it
    cuda_libdevice: Any  # what stands for it on CUDA
    package: Any  # triton, for `reinterpret` here and in its `runtime`
    jit: Any  # triton.runtime.jit: JITFunction, reinterpret, mangle_type, TensorWrapper
    Autotuner: type[Any]
    TensorDescriptor: type[Any]
    LazyDict: type[Any]
    interpreter: Any  # triton.runtime.interpreter: its builder and what rewritten kernels name
    ast_transformer: Any  # turns a kernel's syntax tree into one the interpreter can run
    patch_language_tensor: Callable[[Any, Any], None]
    patch_language_core: Callable[[Any, Any], None]
    normalize_type: Callable[[Any], str]
    rounding_mode: Any  # the enum with RTNE and RTZ
    atomic_op: Any  # the enum with FADD, ADD, ...


@lru_cache(maxsize=1)
def interpreter_parts() -> InterpreterParts:
    """Triton's interpreter and what it works on; imports Triton and numpy.

    Raises:
        ImportError: Triton or numpy is not installed.
    """
    interpreter = importlib.import_module("triton.runtime.interpreter")
    package = importlib.import_module("triton")
    jit = importlib.import_module("triton.runtime.jit")
    return InterpreterParts(
        language=package.language,
        libdevice=importlib.import_module("triton.language.extra.libdevice"),
        cuda_libdevice=importlib.import_module("triton.language.extra.cuda.libdevice"),
        package=package,
        jit=jit,
        Autotuner=importlib.import_module("triton.runtime.autotuner").Autotuner,
        TensorDescriptor=importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor,
        LazyDict=importlib.import_module("triton.compiler.compiler").LazyDict,
        interpreter=interpreter,
        ast_transformer=interpreter.FunctionRewriter.ast_transformer,
        patch_language_tensor=interpreter._patch_lang_tensor,
        patch_language_core=interpreter._patch_lang_core,
        normalize_type=jit._normalize_ty,
        rounding_mode=interpreter._ir.ROUNDING_MODE,
        atomic_op=interpreter._ir.ATOMIC_OP,
    )
