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
    core: Any  # triton.language.core
    standard: Any  # triton.language.standard
    libdevice: Any  # the device's math library as kernels name it
    cuda_libdevice: Any  # what stands for it on CUDA
    package: Any  # triton, for `reinterpret`
    runtime: Any  # triton.runtime, for `reinterpret`
    jit: Any  # triton.runtime.jit: reinterpret, mangle_type, TensorWrapper
    JITFunction: type[Any]
    InterpretedFunction: type[Any]
    Autotuner: type[Any]
    TensorWrapper: type[Any]
    TensorDescriptor: type[Any]
    TensorHandle: type[Any]
    InterpreterBuilder: type[Any]
    InterpreterOptions: type[Any]
    TritonSemantic: type[Any]
    ReduceOps: type[Any]
    ScanOps: type[Any]
    LazyDict: type[Any]
    constexpr: type[Any]
    interpreter: Any  # triton.runtime.interpreter, for names that rewritten kernels use
    ast_transformer: Any  # turns a kernel's syntax tree into one the interpreter can run
    patch_language_tensor: Callable[[Any, Any], None]
    patch_language_core: Callable[[Any, Any], None]
    is_builtin: Callable[[Any], bool]
    normalize_type: Callable[[Any], str]
    rounding_mode: Any  # the enum with RTNE and RTZ
    atomic_op: Any  # the enum with FADD, ADD, ...
    native: Any  # triton._C.libtriton.interpreter: load, store, atomics on addresses


@lru_cache(maxsize=1)
def interpreter_parts() -> InterpreterParts:
    """Triton's interpreter and what it works on; imports Triton and numpy.

    Raises:
        ImportError: Triton or numpy is not installed.
    """
    interpreter = importlib.import_module("triton.runtime.interpreter")
    package = importlib.import_module("triton")
    jit = importlib.import_module("triton.runtime.jit")
    core = package.language.core
    return InterpreterParts(
        language=package.language,
        core=core,
        standard=package.language.standard,
        libdevice=importlib.import_module("triton.language.extra.libdevice"),
        cuda_libdevice=importlib.import_module("triton.language.extra.cuda.libdevice"),
        package=package,
        runtime=package.runtime,
        jit=jit,
        JITFunction=jit.JITFunction,
        InterpretedFunction=interpreter.InterpretedFunction,
        Autotuner=importlib.import_module("triton.runtime.autotuner").Autotuner,
        TensorWrapper=jit.TensorWrapper,
        TensorDescriptor=importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor,
        TensorHandle=interpreter.TensorHandle,
        InterpreterBuilder=interpreter.InterpreterBuilder,
        InterpreterOptions=interpreter.InterpreterOptions,
        TritonSemantic=interpreter.TritonSemantic,
        ReduceOps=interpreter.ReduceOps,
        ScanOps=interpreter.ScanOps,
        LazyDict=importlib.import_module("triton.compiler.compiler").LazyDict,
        constexpr=core.constexpr,
        interpreter=interpreter,
        ast_transformer=interpreter.FunctionRewriter.ast_transformer,
        patch_language_tensor=interpreter._patch_lang_tensor,
        patch_language_core=interpreter._patch_lang_core,
        is_builtin=core.is_builtin,
        normalize_type=jit._normalize_ty,
        rounding_mode=interpreter._ir.ROUNDING_MODE,
        atomic_op=interpreter._ir.ATOMIC_OP,
        native=interpreter._interpreter,
    )
