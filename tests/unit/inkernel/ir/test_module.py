import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir.module import Module, Op
from proton.inkernel.ir.parse import read_module

TEXT = """\
#loc = loc("/src/a.py":7:2)
module attributes {ttg.target = "hip:gfx942"} {
  tt.func public @k() {
    %proton_0 = arith.constant 1 : i32 loc(#loc)
    scf.if %proton_0 {
      gpu.barrier loc(#loc)
    } else {
    }
    tt.return loc(#loc)
  }
  tt.func private @"f(1,)"() {
    tt.return
  }
}"""


def _one(module: Module, name: str) -> Op:
    return next(op for op in module.walk() if op.name == name)


def test_insertions_go_nearest_to_the_operation_and_take_its_location() -> None:
    module = read_module(TEXT)
    barrier = _one(module, "gpu.barrier")
    for text in ("a.first", "a.second"):
        barrier.insert_before(text)
    for text in ("b.first", "b.second"):
        barrier.insert_after(text)
    assert module.text().splitlines()[5:10] == [
        "      a.first loc(#loc)",
        "      a.second loc(#loc)",
        "      gpu.barrier loc(#loc)",
        "      b.second loc(#loc)",
        "      b.first loc(#loc)",
    ]


def test_a_block_is_filled_at_its_begin_and_before_its_end() -> None:
    module = read_module(TEXT)
    branch, function = _one(module, "scf.if"), module.kernels()[0]
    empty = branch.regions[1].blocks[0]
    module.insert_first(empty, "e.first")
    module.insert_last(empty, "e.last")
    module.insert_last(branch.regions[0].blocks[0], "i.last")
    module.insert_first(function.regions[0].blocks[0], "f.first")
    module.insert_last(function.regions[0].blocks[0], "f.last")
    names = [op.name for op in read_module(module.text()).kernels()[0].walk()]
    assert names == [
        *("tt.func", "f.first", "arith.constant", "scf.if", "gpu.barrier", "i.last"),
        *("e.first", "e.last", "f.last", "tt.return"),
    ]


def test_operations_of_several_lines_go_in_whole() -> None:
    module = read_module(TEXT)
    _one(module, "gpu.barrier").insert_before("scf.if %c {\n  x.y\n}")
    assert module.text().splitlines()[5:8] == [
        "      scf.if %c {",
        "        x.y loc(#loc)",
        "      } loc(#loc)",
    ]


def test_nothing_may_follow_what_leaves_a_block() -> None:
    module = read_module(TEXT)
    with pytest.raises(InstrumentationError, match=r"line 9: nothing may follow tt\.return"):
        _one(module, "tt.return").insert_after("x.y")


def test_fresh_names_are_not_taken() -> None:
    module = read_module(TEXT)
    assert [module.fresh(), module.fresh(), module.fresh("c")] == ["%proton_1", "%proton_2", "%c_2"]


def test_kernels_are_the_public_functions() -> None:
    module = read_module(TEXT)
    assert [function.symbol for function in module.functions()] == ["k", "f(1,)"]
    assert [kernel.symbol for kernel in module.kernels()] == ["k"]
    assert module.target == "hip:gfx942"


def test_an_operation_can_be_replaced_or_taken_out() -> None:
    module = read_module(TEXT)
    _one(module, "gpu.barrier").replace("x.y")
    _one(module, "arith.constant").remove()
    assert [op.name for op in read_module(module.text()).kernels()[0].walk()] == [
        *("tt.func", "scf.if", "x.y", "tt.return")
    ]


def test_an_error_names_the_users_line_or_else_the_files() -> None:
    module = read_module(TEXT, "k.ttgir")
    assert str(module.error(_one(module, "gpu.barrier"), "bad")) == "/src/a.py:7: bad"
    assert str(module.error(module.functions()[1], "bad")) == "k.ttgir:11: bad"


def test_deep_nesting_is_walked() -> None:
    depth = 5000
    text = "module {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "}"
    module = read_module(text)
    assert sum(1 for _ in module.walk()) == depth + 1
