"""Stages with our passes in them: whatever goes wrong, the kernel is compiled and it is said."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import triton
import triton.language as tl

import proton.language as pl
from proton import _triton
from proton.errors import InstrumentationError
from proton.inkernel.compiler import stages
from proton.inkernel.compiler.compile_hook import read_records, read_warnings
from proton.inkernel.compiler.mode_passes import lowering_recipe, recording_passes
from tests.support.kernels import calling, compiled, softmax
from tests.support.recording import recording

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

ROWS = {"x": "*fp32", "y": "*fp32", "n": "i32"}
MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}


@triton.jit
def in_regions(x):
    with pl.scope("add"):
        tl.store(x, tl.load(x) + 1)


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


def _softmax(target: str = "90") -> Any:
    return compiled(softmax, ROWS, {"BLOCK": 1024}, target)


def _expect_plain(kernel: Any, plain: Any) -> None:
    binary = "cubin" if "cubin" in plain.asm else "hsaco"
    assert kernel.asm[binary] == plain.asm[binary]
    assert read_records(kernel.metadata) is None
    assert kernel.metadata.profile_scratch_size == 0
    assert kernel.metadata.shared == plain.metadata.shared


class Failing:
    name: ClassVar[str] = "failing"
    level: ClassVar[str] = "ttgir"

    def apply(self, module: Any) -> None:
        raise InstrumentationError("line 3: cannot be read")


class Failed:
    name: ClassVar[str] = "failed"
    level: ClassVar[str] = "ttgir"

    def apply(self, module: Any) -> None:
        raise KeyError("oops")


class Breaking:
    """Leaves text that our reader takes and Triton does not."""

    name: ClassVar[str] = "breaking"
    level: ClassVar[str] = "ttgir"

    def apply(self, module: Any) -> None:
        store = next(op for op in module.walk() if op.name == "tt.store")
        store.insert_before("%nothing = arith.addi %absent, %absent : i32")


@pytest.mark.parametrize("target", ["90", "gfx942"])
@pytest.mark.parametrize("bad", [Failing(), Breaking()], ids=["our pass", "Triton's parser"])
def test_a_kernel_that_our_passes_spoil_is_compiled_without_records(
    bad: Any, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _softmax(target)
    monkeypatch.setattr(
        stages, "recording_passes", lambda *a, **k: (*recording_passes(*a, **k), bad)
    )
    with recording("ops") as warnings:
        kernel = _softmax(target)
    _expect_plain(kernel, plain)
    (warning,) = warnings
    assert warning.startswith("kernel 'softmax' cannot be recorded as asked: ")
    assert warning.endswith("; it is compiled without records")
    assert "\n" not in warning
    assert read_warnings(kernel.metadata) == (warning,)


def test_what_a_pass_failed_with_is_said_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "recording_passes", lambda *a, **k: (Failed(),))
    with recording("default") as warnings:
        compiled(in_regions, {"x": "*fp32"}, {}, "90")
    (warning,) = warnings
    assert "asked: pass 'failed' failed: KeyError: 'oops'; it is compiled without" in warning


def test_llvm_text_that_does_not_parse_never_reaches_the_code_generator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = _softmax()

    class Garbage:
        name: ClassVar[str] = "garbage"
        level: ClassVar[str] = "llvm"

        def apply(self, module: Any) -> None:
            module.epilogue.append("define void @broken( {")

    monkeypatch.setattr(
        stages, "lowering_recipe", lambda *a, **k: (*lowering_recipe(*a, **k), Garbage())
    )
    with recording("ops:buffer_type=global") as warnings:
        kernel = _softmax()
    _expect_plain(kernel, plain)
    assert "LLVM refuses the text with records in it" in warnings[0]


@pytest.mark.parametrize("stage", ["ptx", "cubin"])
def test_what_a_late_stage_refuses_with_records_it_gets_without(stage: str) -> None:
    plain = _softmax()

    def refuse(self=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "refuse", "refuse"
        inner = stages[stage]

        def late(source, metadata):
            if "proton" in metadata:
                raise RuntimeError("too many registers\n" + "x" * 10_000)
            return inner(source, metadata)

        stages[stage] = late
        return None

    knobs = triton.knobs.runtime
    with knobs.scope():
        knobs.add_stages_inspection_hook = refuse
        with recording("ops") as warnings:
            kernel = _softmax()
    _expect_plain(kernel, plain)
    (warning,) = warnings
    assert "too many registers" in warning
    assert len(warning) < 600


def test_what_fails_without_records_too_is_the_users() -> None:
    def refuse(self=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "refuse", "refuse"

        def late(source, metadata):
            raise RuntimeError("no ptxas")

        stages["cubin"] = late
        return None

    knobs = triton.knobs.runtime
    with knobs.scope():
        knobs.add_stages_inspection_hook = refuse
        with recording("ops") as warnings, pytest.raises(RuntimeError, match="no ptxas"):
            _softmax()
    assert warnings == []


@triton.jit
def scoped(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    with pl.scope("load"):
        v = tl.load(x + i, mask=i < n)
    pl.mark("here")
    tl.store(y + i, v, mask=i < n)


@pytest.mark.parametrize("target", ["80", "90", "100", "gfx90a", "gfx942", "gfx950"])
def test_scopes_of_the_source_are_recorded(target: str) -> None:
    with recording("default") as warnings:
        kernel = compiled(scoped, ROWS, {"BLOCK": 256}, target)
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    regions = {region["name"]: region for region in records.record_map["regions"]}
    assert set(regions) == {"load", "here"}
    assert regions["load"]["file"] == __file__
    assert regions["load"]["line"] == scoped.fn.__code__.co_firstlineno + 3


def test_scopes_of_the_source_leave_nothing_in_other_modes() -> None:
    with recording("cta"):
        kernel = compiled(scoped, ROWS, {"BLOCK": 256}, "90")
    records = read_records(kernel.metadata)
    assert records is not None
    assert records.record_map["regions"] == []


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_kernel_compiled_while_its_kinds_scopes_were_off_is_not_taken_for_one_with_them() -> None:
    with recording("default"):
        pl.disable_semantic("triton")
        try:
            assert read_records(compiled(scoped, ROWS, {"BLOCK": 128}, "90").metadata) is None
        finally:
            pl.enable_semantic("triton")
        assert read_records(compiled(scoped, ROWS, {"BLOCK": 128}, "90").metadata) is not None


@triton.jit
def left_open(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if n > 3:
        pl.enter_scope("a")
        tl.store(y + i, i)
    pl.exit_scope("a")
    tl.store(y + i, tl.load(x + i))


@pytest.mark.parametrize("target", ["90", "gfx942"])
def test_scopes_that_do_not_nest_are_left_out_with_the_users_line(target: str) -> None:
    line = left_open.fn.__code__.co_firstlineno + 4
    with recording("default+ops") as warnings:
        kernel = compiled(left_open, ROWS, {"BLOCK": 256}, target)
    (warning,) = warnings
    assert f"{__file__}:{line}: 'a' is started here and not ended" in warning
    assert warning.endswith("the regions of its source are left out")
    records = read_records(kernel.metadata)
    assert records is not None, "operations are recorded all the same"
    assert "a" not in {region["name"] for region in records.record_map["regions"]}


@triton.jit
def returns_early(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pl.enter_scope("all")
    if n > 3:
        pl.exit_scope("all")
        return
    tl.store(y + i, tl.load(x + i))
    pl.exit_scope("all")


@triton.jit
def ends_twice(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pl.enter_scope("all")
    if n > 3:
        tl.store(y + i, tl.load(x + i))
        pl.exit_scope("all")
    else:
        tl.store(y + i, i)
        pl.exit_scope("all")
    with pl.scope("rest"):
        tl.store(x + i, i)


@pytest.mark.parametrize(
    ("kernel", "names"), [(returns_early, {"all"}), (ends_twice, {"all", "rest"})]
)
@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_a_scope_may_be_ended_on_every_path_by_itself(
    kernel: Any, names: set[str], target: str
) -> None:
    with recording("default") as warnings:
        records = read_records(compiled(kernel, ROWS, {"BLOCK": 256}, target).metadata)
    assert warnings == []
    assert records is not None
    assert {region["name"] for region in records.record_map["regions"]} == names


@triton.jit
def crossed(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    with pl.scope("all"):
        pl.enter_scope("load")
        v = tl.load(x + i)
        pl.enter_scope("store")
        pl.mark("here")
        tl.store(y + i, v)
        pl.exit_scope("load")
        tl.store(x + i, v + n)
        pl.exit_scope("store")


@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_regions_that_overlap_are_recorded_side_by_side(target: str) -> None:
    with recording("default+ops") as warnings:
        records = read_records(compiled(crossed, ROWS, {"BLOCK": 256}, target).metadata)
    assert warnings == []
    assert records is not None
    regions = records.record_map["regions"]
    number = {region["name"]: region["id"] for region in regions}
    found = {region["name"]: (region["parent"], "overlaps" in region) for region in regions}
    assert found["all"] == (None, False)
    assert found["load"] == found["store"] == (number["all"], True)
    assert found["here"] == (number["store"], False)


@triton.jit
def misused(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pl.value("all", tl.load(x + i))
    with pl.scope("store"):
        tl.store(y + i, i)


@triton.jit
def never_begun(x, y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), n)
    pl.exit_scope("a")


@pytest.mark.parametrize(
    ("kernel", "lines", "problem", "names"),
    [
        (misused, 3, "value 'all' is of type <['256'], fp32>; record a scalar", {"store"}),
        (never_begun, 3, "'a' is ended here and was not started in this block", set()),
    ],
)
@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_misuse_is_a_warning_with_the_users_line_and_the_kernel_runs(
    kernel: Any, lines: int, problem: str, names: set[str], target: str
) -> None:
    with recording("default") as warnings:
        done = compiled(kernel, ROWS, {"BLOCK": 256}, target)
    (warning,) = warnings
    assert f"{__file__}:{kernel.fn.__code__.co_firstlineno + lines}: {problem}" in warning
    assert read_warnings(done.metadata) == (warning,)
    records = read_records(done.metadata)
    regions = records.record_map["regions"] if records else ()
    assert {region["name"] for region in regions} == names


@triton.jit
def specialized(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_rows = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    c_rows = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    with pl.scope("all"):
        for at in tl.range(0, tl.cdiv(K, BK), warp_specialize=True):
            with pl.scope("load"):
                x = a_rows.load([m, at * BK])
                y = b_rows.load([n, at * BK])
            with pl.scope("dot"):
                acc = tl.dot(x, y.T, acc)
    c_rows.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("target", ["90", "100"])
def test_regions_that_specialisation_drops_are_named(target: str) -> None:
    with recording("default") as warnings:
        kernel = compiled(specialized, MATRICES, {"BM": 128, "BN": 128, "BK": 64}, target)
    records = read_records(kernel.metadata)
    if target == "90":  # the loop goes into partitions, and "all" would be around nothing
        (warning,) = warnings
        assert "automatic warp specialisation drops the regions 'all', 'dot', 'load'" in warning
        assert records is None
        return
    assert records is not None
    names = {region["name"] for region in records.record_map["regions"]}
    if _triton.version_pair() < (3, 7):
        (warning,) = warnings
        assert "automatic warp specialisation drops the regions 'dot', 'load'" in warning
        assert names == {"all"}
    else:
        assert warnings == []
        assert names == {"all", "load", "dot"}


@pytest.mark.parametrize("target", ["90", "gfx942"])
@pytest.mark.parametrize("mode", ["ops", "loops", "ops+cta"])
def test_functions_that_are_compiled_apart_are_named(mode: str, target: str) -> None:
    with recording(mode) as warnings:
        kernel = compiled(calling, {"x": "*fp32"}, {"BLOCK": 64}, target)
    (warning,) = warnings
    assert warning == (
        "kernel 'calling': not recorded inside 'tests.support.kernels.apart': compiled apart "
        "(noinline=True), without a buffer; leave out noinline, or time calls as a whole with "
        "ops=tt.call"
    )
    assert read_warnings(kernel.metadata) == (warning,)


@pytest.mark.parametrize("target", ["90", "gfx942"])
def test_calls_of_functions_that_are_compiled_apart_can_be_timed(target: str) -> None:
    with recording("ops:ops=load,tt.call") as warnings:
        kernel = compiled(calling, {"x": "*fp32"}, {"BLOCK": 64}, target)
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    (region,) = records.record_map["regions"]
    assert region["name"].startswith("call@")


@pytest.mark.parametrize("mode", ["default", "cta", "bytes"])
def test_modes_that_record_no_operations_say_nothing_of_called_functions(mode: str) -> None:
    with recording(mode) as warnings:
        compiled(calling, {"x": "*fp32"}, {"BLOCK": 64}, "90")
    assert warnings == []


@triton.jit
def flattened(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, 132, flatten=True):
        with pl.scope("tile"):
            m = tile // columns * BM + tl.arange(0, BM)
            n = tile % columns * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), tl.float32)
            for at in range(0, K, BK):
                with pl.scope("dot"):
                    x = tl.load(a + m[:, None] * K + (at + k)[None, :])
                    y = tl.load(b + (at + k)[:, None] * N + n[None, :])
                    acc = tl.dot(x, y, acc)
            tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@pytest.mark.parametrize("target", ["80", "90", "gfx942"])
def test_regions_of_loops_that_triton_makes_one_of_are_kept(target: str) -> None:
    with recording("default+ops") as warnings:
        kernel = compiled(flattened, MATRICES, {"BM": 128, "BN": 128, "BK": 64}, target)
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    assert {"tile", "dot"} <= {region["name"] for region in records.record_map["regions"]}
