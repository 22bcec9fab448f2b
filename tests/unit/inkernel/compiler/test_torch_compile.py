"""Kernels of torch.compile that other processes compiled: said once, and only while recording."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from proton.inkernel.compiler.instrument import begin
from proton.inkernel.compiler.torch_compile import WARNING, watch_torch_compile
from proton.inkernel.modes.mode_table import parse_instrumentation

NAME = "torch._inductor.async_compile"


class StaticTritonCompileResult:
    """As torch names a kernel that it launches without Triton."""


class AsyncCompile:
    """Gives out what the test says."""

    made: Any = None

    def triton(self, kernel_name: str, source_code: str, device_str: str = "cuda") -> Any:
        return self.made


def _module() -> ModuleType:
    module = ModuleType(NAME)
    vars(module)["AsyncCompile"] = type("AsyncCompile", (), dict(vars(AsyncCompile)))
    return module


PROMISE = SimpleNamespace(result=lambda: None)
KERNEL = SimpleNamespace(compile_results=[SimpleNamespace()])
OUT_OF_THE_CACHE = SimpleNamespace(compile_results=[StaticTritonCompileResult()])


@pytest.mark.parametrize(
    ("made", "expected"),
    [(PROMISE, [WARNING]), (OUT_OF_THE_CACHE, [WARNING]), (KERNEL, []), (object(), [])],
    ids=["of a worker", "out of the cache", "compiled here", "of another kind"],
)
def test_kernels_from_elsewhere_are_said_once(
    made: Any, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("triton")
    module = _module()
    monkeypatch.setitem(sys.modules, NAME, module)
    compiler = module.AsyncCompile()
    original = vars(module.AsyncCompile)["triton"]
    compiler.made = made
    warnings: list[str] = []
    handle = begin(parse_instrumentation("ops"), warn=warnings.append)
    try:
        for _ in range(3):
            assert compiler.triton("triton_poi_fused_add_0", "...", device_str="cuda") is made
        assert warnings == expected
        handle.pause()
        handle._said.clear()
        compiler.triton("triton_poi_fused_add_0", "...")
        assert warnings == expected, "nobody asked for records"
    finally:
        handle.end()
    assert vars(module.AsyncCompile)["triton"] is original
    compiler.triton("triton_poi_fused_add_0", "...")
    assert warnings == expected


@pytest.mark.torch
def test_the_compiler_of_this_torch_is_watched_whenever_it_is_imported(
    run_python: Callable[..., Any],
) -> None:
    pytest.importorskip("torch")
    result = run_python(
        """
        import inspect
        import triton
        from proton.inkernel.compiler.instrument import begin
        from proton.inkernel.modes.mode_table import parse_instrumentation

        handle = begin(parse_instrumentation("ops"), warn=print)
        from torch._inductor.async_compile import AsyncCompile
        print(AsyncCompile.triton.__module__)
        handle.end()
        print(AsyncCompile.triton.__module__)
        print(list(inspect.signature(AsyncCompile.triton).parameters)[:3])
        """,
        env={"TORCHINDUCTOR_COMPILE_THREADS": "1"},
        timeout_s=120,
    )
    assert result.stdout.splitlines() == [
        "proton.inkernel.compiler.torch_compile",
        NAME,
        "['self', 'kernel_name', 'source_code']",
    ], result.stderr


def test_watching_imports_no_torch(run_python: Callable[..., Any]) -> None:
    result = run_python(
        """
        import sys
        from proton.inkernel.compiler.torch_compile import watch_torch_compile

        before = list(sys.meta_path)
        leave = watch_torch_compile(print)
        assert sys.meta_path != before
        leave()
        print(sys.meta_path == before, "torch" in sys.modules)
        """
    )
    assert result.stdout == "True False\n", result.stderr


def test_what_undoes_it_may_be_called_before_torch_comes() -> None:
    leave = watch_torch_compile(pytest.fail)
    leave()
    leave()
