# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import proton.language as pl
from proton import _triton
from proton.inkernel import dsl
from proton.inkernel.compiler.mode_passes import recording_passes
from proton.inkernel.compiler.pipeline import run_passes
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.compiler.user_records import needs_guard
from proton.inkernel.dsl import semantic_name
from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.nesting import carrier_of
from proton.inkernel.ir.parse import read_module
from proton.inkernel.llvm.carrier_line import read_carrier
from proton.inkernel.modes.mode_table import Default
from tests.support.kernels import compile_kernel

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")  # what was compiled without records has none
    choice.set_session(Default())
    yield
    choice.set_session(None)


def _compiled(kernel: Any, target: str = "90") -> Any:
    return compile_kernel(kernel, {"x": "*fp32", "n": "i32"}, {"BLOCK": 128}, target)


def _records(text: str) -> list[str]:
    carriers = (carrier_of(op) for op in read_module(text).walk())
    return [f"{each.action} {each.name}" for each in carriers if each and each.is_record]


@triton.jit
def scoped(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    event = pl.allocate_event("copy")
    pl.start_event(event)
    with pl.scope("load it"):
        v = tl.load(x + i, mask=i < n)
    pl.end_event(event)
    for _ in range(n):
        pl.enter_scope("step")
        v += 1
        pl.exit_scope("step")
    pl.mark("here")
    pl.value("n", n)
    pl.value("where", x)
    pl.value("seven", 7)
    tl.store(x + i, v * 2, mask=i < n)


EXPECTED = [
    *("start copy", "start load it", "end load it", "end copy", "start step", "end step"),
    *("mark here", "value n", "value where", "value seven"),
]


@pytest.mark.parametrize("target", ["80", "90", "100", "gfx942", "gfx950"])
def test_a_kernels_records_reach_the_end_of_compilation(target: str) -> None:
    texts = _compiled(scoped, target)
    assert _records(texts["ttgir"]) == EXPECTED
    found = [read_carrier(line) for line in texts["llir"].splitlines()]
    records = [f"{each.action} {each.name}" for each in found if each and each.is_record]
    assert set(records) == set(EXPECTED)  # LLVM may have unrolled the loop
    values = {each.name: each.operands.split()[0] for each in found if each and each.operands}
    assert values == {"n": "i32", "where": "i64", "seven": "i32"}


@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_the_default_mode_completes_them(target: str) -> None:
    text = run_passes(_compiled(scoped, target)["ttgir"], recording_passes(Default()))
    assert _records(text) == EXPECTED
    assert "proton.guard" not in text
    carriers = [carrier for op in read_module(text).walk() if (carrier := carrier_of(op))]
    assert [carriers[0].op, carriers[-1].op] == ["init", "finalize"]
    lines = {each.name: each.attributes["line"] for each in carriers if each.is_record}
    first = scoped.fn.__code__.co_firstlineno
    assert int(lines["n"]) - int(lines["here"]) == 1
    assert first < int(lines["here"]) < first + 20
    kinds = {each.name: each.kind for each in carriers if each.is_record}
    assert (kinds["copy"], kinds["step"], kinds["n"]) == ("event", "scope", "value")


@triton.jit
def scoped_matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    with pl.scope("all"):
        for at in range(0, K, BK):
            with pl.scope("load"):
                x = tl.load(a + m[:, None] * K + (at + k)[None, :])
                y = tl.load(b + (at + k)[:, None] * N + n[None, :])
            with pl.scope("dot"):
                acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@pytest.mark.parametrize("target", ["80", "90", "100", "gfx942"])
def test_scopes_of_a_pipelined_loop_still_nest(target: str) -> None:
    arguments = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "N": "i32", "K": "i32"}
    blocks = {"BM": 128, "BN": 128, "BK": 64}
    texts = compile_kernel(scoped_matmul, arguments, blocks, target)
    text = run_passes(texts["ttgir"], recording_passes(Default()))
    records = _records(text)
    assert set(records) == {
        f"{action} {name}" for action in ("start", "end") for name in ("all", "load", "dot")
    }
    assert (records[0], records[-1]) == ("start all", "end all")


def test_nothing_is_emitted_when_recording_or_the_semantic_is_off() -> None:
    dsl.disable_semantic("triton")
    try:
        assert "proton." not in _compiled(scoped)["ttgir"]
    finally:
        dsl.enable_semantic("triton")
    choice.set_session(None)
    assert "proton." not in _compiled(scoped)["ttgir"]


@gluon.jit
def gluon_scoped(x, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    with pl.scope("store"):
        gl.store(x + gl.arange(0, BLOCK, layout), 1.0)
    pl.value("n", n)


def test_gluon_kernels_record_too() -> None:
    assert _records(_compiled(gluon_scoped)["ttgir"]) == ["start store", "end store", "value n"]


@triton.jit
def measured(x, n, BLOCK: tl.constexpr):
    pl.value("single", tl.load(x))
    pl.value("half", tl.load(x).to(tl.float16))
    pl.value("double", tl.load(x).to(tl.float64))
    pl.value("constant", 0.5)
    tl.store(x, n)


@pytest.mark.parametrize("target", ["80", "90", "100", "gfx942", "gfx950"])
def test_floats_are_carried_as_bits_and_say_their_type(target: str) -> None:
    text = run_passes(_compiled(measured, target)["ttgir"], recording_passes(Default()))
    found = [carrier for op in read_module(text).walk() if (carrier := carrier_of(op))]
    values = {
        each.name: (each.operand_type, each.attributes["type"]) for each in found if each.is_record
    }
    assert values == {
        "single": ("i32", "f32"),
        "half": ("i32", "f32"),
        "double": ("i64", "f64"),
        "constant": ("i32", "f32"),
    }


@triton.jit
def crossed(x, n, BLOCK: tl.constexpr):
    pl.enter_scope("a")
    pl.enter_scope("b")
    pl.exit_scope("a")
    pl.exit_scope("b")
    tl.store(x, n)


@pytest.mark.parametrize("target", ["80", "90", "100", "gfx942"])
def test_regions_that_overlap_are_recorded_and_say_so(target: str) -> None:
    text = run_passes(_compiled(crossed, target)["ttgir"], recording_passes(Default()))
    assert _records(text) == ["start a", "start b", "end a", "end b"]
    assert text.count("overlaps=1") == 4


@triton.jit
def ended(x, n, BLOCK: tl.constexpr):
    pl.exit_scope("a")
    tl.store(x, n)


@triton.jit
def unsigned(x, n, BLOCK: tl.constexpr):
    pl.value("hash", n.to(tl.uint32) * 2654435761)
    pl.value("byte", n.to(tl.uint8))
    tl.store(x, n)


@pytest.mark.parametrize("target", ["90", "gfx942"])
def test_integers_without_a_sign_stay_positive(target: str) -> None:
    text = _compiled(unsigned, target)["ttgir"]
    found = [carrier for op in read_module(text).walk() if (carrier := carrier_of(op))]
    values = {each.name: each.operand_type for each in found if each.is_record}
    assert values == {"hash": "i64", "byte": "i32"}
    assert len(re.findall(r"arith\.extui .* : i32 to i64", text)) == 1


@triton.jit
def wide(x, n, BLOCK: tl.constexpr):
    pl.value("all", tl.arange(0, BLOCK))
    tl.store(x, n)


@triton.jit
def fractions(x, n, BLOCK: tl.constexpr):
    pl.value("halves", tl.load(x + tl.arange(0, BLOCK)))
    tl.store(x, n)


@pytest.mark.parametrize("kernel", [crossed, ended, wide, fractions])
@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_what_compiles_unrecorded_compiles_recorded(kernel: Any, target: str) -> None:
    assert "tt.store" in _compiled(kernel, target)["ttgir"]


def test_what_is_no_scalar_leaves_word_in_place_of_a_record() -> None:
    texts = _compiled(fractions)
    carriers = [carrier for op in read_module(texts["ttgir"]).walk() if (carrier := carrier_of(op))]
    assert [each.op for each in carriers] == ["refused"]
    assert "record a scalar integer, float or pointer" in carriers[0].attributes["why"]


@triton.jit
def left_open(x, n, BLOCK: tl.constexpr):
    if n > 3:
        pl.enter_scope("a")
        tl.store(x, n)
    pl.exit_scope("a")


def test_a_scope_that_ends_in_another_block_is_refused_with_the_users_line() -> None:
    text = _compiled(left_open)["ttgir"]
    start = left_open.fn.__code__.co_firstlineno + 3
    place = re.escape(f"{__file__}:{start}")
    with pytest.raises(RuntimeError, match=f"{place}: 'a' is started here and not ended"):
        run_passes(text, recording_passes(Default()))


@pytest.mark.parametrize(
    ("version", "backend", "arch", "needed"),
    [
        ((3, 6), "cuda", "sm90", False),
        ((3, 6), "cuda", 80, False),
        ((3, 8), "cuda", "sm100a", True),
        ((3, 7), "hip", "gfx942", True),
        ((3, 9), "hip", "gfx942", False),
        ((3, 9), "cuda", 100, False),
    ],
)
def test_guards_are_where_pipeliners_refuse_unknown_operations(
    version: tuple[int, int],
    backend: str,
    arch: object,
    needed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_triton, "version_pair", lambda: version)
    assert needs_guard(SimpleNamespace(backend_name=backend, arch=arch)) is needed


def test_what_is_interpreted_has_no_semantic() -> None:
    assert semantic_name(None) == ""
    assert semantic_name(SimpleNamespace(builder=SimpleNamespace())) == ""
    assert Carrier("init").comment == "// proton.init"
