# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import re
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import proton.language as pl
from proton.backends.interpreter import InterpreterBackend
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.modes.mode_table import Default

pytestmark = pytest.mark.matrix


def _plain() -> Any:
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n)
        for _ in range(n):
            v += 1
        tl.store(x + i, v * 2, mask=i < n)

    return kernel


def _with_regions() -> Any:
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        event = pl.allocate_event("copy")
        pl.start_event(event)
        pl.mark("here")
        pl.value("n", n)
        with pl.scope("load"):
            v = tl.load(x + i, mask=i < n)
        pl.end_event(event)
        for _ in range(n):
            pl.enter_scope("step")
            pl.start_event(event)
            v += 1
            pl.end_event(event)
            pl.exit_scope("step")
        tl.store(x + i, v * 2, mask=i < n)

    return kernel


def _ttgir(kernel: Any) -> str:
    source = ASTSource(kernel, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(2,): 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    return re.sub(r"#?loc\S*.*", "", compiled.asm["ttgir"])


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_kernel_with_regions_compiles_to_the_same_code() -> None:
    assert _ttgir(_with_regions()) == _ttgir(_plain())


@pytest.mark.matrix
def test_a_gluon_kernel_with_regions_compiles_to_the_same_code() -> None:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl

    def compiled(with_regions: bool) -> str:
        @gluon.jit
        def plain(x, BLOCK: gl.constexpr):
            layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
            gl.store(x + gl.arange(0, BLOCK, layout), 1.0)

        @gluon.jit
        def regions(x, BLOCK: gl.constexpr):
            layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
            pl.enter_scope("store")
            event = pl.allocate_event("copy")
            pl.start_event(event)
            gl.store(x + gl.arange(0, BLOCK, layout), 1.0)
            pl.end_event(event)
            pl.exit_scope("store")

        from triton.experimental.gluon._runtime import GluonASTSource

        kernel = regions if with_regions else plain
        source = GluonASTSource(kernel, {"x": "*fp32", "BLOCK": "constexpr"}, {(1,): 128})
        asm = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttgir"]
        return re.sub(r"#?loc\S*.*", "", asm).replace("regions", "plain")

    assert compiled(True) == compiled(False)


@pytest.mark.matrix
@pytest.mark.parametrize("is_recording", [False, True])
def test_regions_do_nothing_to_an_interpreted_kernel(is_recording: bool) -> None:
    class Sink:
        is_active = False

    backend = InterpreterBackend("")
    backend.start(Sink())  # type: ignore[arg-type]
    choice.set_session(Default() if is_recording else None)
    try:
        x = np.zeros(8, np.float32)
        _with_regions()[(1,)](x, 3, BLOCK=8)
    finally:
        choice.set_session(None)
        backend.stop()
    assert x.tolist() == [6, 6, 6, 0, 0, 0, 0, 0]


def test_regions_work_in_tritons_own_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    @triton.jit
    def kernel(x):
        with pl.scope("store"):
            tl.store(x, 1.0)

    x = torch.zeros(1)
    kernel[(1,)](x)
    assert x[0] == 1


def test_every_public_name_is_there() -> None:
    assert all(hasattr(pl, name) for name in pl.__all__)
