import random
from contextlib import suppress
from pathlib import Path

import pytest

from proton.errors import FormatError, ProtonError
from proton.inkernel.compiler.pipeline import parse_passes, run_passes
from proton.inkernel.ir.parse import read_module

FILES = sorted((Path(__file__).parents[3] / "passes").glob("*.ttgir"))

TEXT = """\
// a comment
#blocked = #ttg.blocked<{order = [0]}>
#loc = loc("/src/a.py":1:0)
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @k(%x: i32 loc("x"(#loc)), %"odd": i32) attributes {noinline = false} {
    %0:2 = scf.for %i = %x to %x step %x iter_args(%a = %x, %b = %x) -> (i32, i32)  : i32 {
      %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
      ^bb0(%l: i32 loc("}{"), %r: i32):
        tt.reduce.return %l : i32 loc(#loc)
      }) : (i32) -> i32 loc(#loc)
      scf.yield %a, %s : i32, i32 loc(#loc)
    } {tt.num_stages = 2 : i32} loc(#loc)
    cf.cond_br %c, ^bb1, ^bb2 loc(#loc)
  ^bb1:  // pred: ^bb0
    tt.return loc(#loc)
  ^bb2:  // pred: ^bb0
    scf.if %c {
      gpu.barrier
    } else {
    }
    ttg.warp_specialize(%x) attributes {requestedRegisters = array<i32: 24>}
    default {
      ttg.warp_yield
    }
    partition0(%p: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> () loc(#loc)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
{-#
  external_resources: {
    it: { is no code
  }
#-}
"""


def test_operations_regions_and_blocks_are_found() -> None:
    module = read_module(TEXT)
    assert [(op.name, len(op.regions)) for op in module.walk()] == [
        ("module", 1),
        ("tt.func", 1),
        ("scf.for", 1),
        ("tt.reduce", 1),
        ("tt.reduce.return", 0),
        ("scf.yield", 0),
        ("cf.cond_br", 0),
        ("tt.return", 0),
        ("scf.if", 2),
        ("gpu.barrier", 0),
        ("ttg.warp_specialize", 2),
        ("ttg.warp_yield", 0),
        ("ttg.warp_return", 0),
        ("tt.return", 0),
    ]
    function = module.functions()[0]
    assert [block.label for block in function.regions[0].blocks] == ["", "^bb1", "^bb2"]


def test_an_operation_knows_its_lines_results_and_surroundings() -> None:
    loop = next(op for op in read_module(TEXT).walk() if op.name == "scf.for")
    assert (loop.first, loop.last, loop.results) == (5, 11, ("%0",))
    assert [around.name for around in loop.ancestors] == ["tt.func", "module"]
    assert str(loop.source) == "/src/a.py:1"


def test_an_operation_over_several_lines_is_one() -> None:
    text = "module {\n  tt.func public @k(\n    %x: i32,\n    %y: i32) {\n    tt.return\n  }\n}"
    module = read_module(text)
    function = module.kernels()[0]
    assert (function.first, function.last, function.symbol) == (1, 5, "k")
    assert "%y: i32) {" in function.text
    assert module.text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a.ttgir:1: no operation in it; give TTIR or TTGIR text"),
        ("module {\n", r"a.ttgir:1: module is never closed"),
        ("module {\n}\n}", r"a.ttgir:3: '}' closes nothing"),
        ("module {\n  what now\n}", r"a.ttgir:2: no operation of TTIR or TTGIR: 'what now'"),
        ("^bb0:\n", r"a.ttgir:1: block \^bb0 is in no region"),
        ("module {\n  tt.func @f(\n", r"a.ttgir:2: tt.func is never closed"),
        ("module {\n default {\n }\n}", r"a.ttgir:2: a region of no operation"),
    ],
)
def test_what_is_no_ir_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_module(text, "a.ttgir")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_damaged_files_are_refused_or_passed_on_but_never_break_us(path: Path) -> None:
    dice = random.Random(path.name)
    whole = path.read_text(encoding="utf-8").split("\n")
    passes = parse_passes("record-user-scopes,record-loops,record-around-ops,record-mma,prepare")
    for _ in range(20):
        lines = list(whole)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(len(lines))
            cut = dice.randrange(len(lines[at]) + 1)
            damage: tuple[list[str], ...] = (
                [],
                [lines[at]] * 2,
                [lines[at][:cut]],
                [lines[at][cut:]],
                ["} {", "\0"],
            )
            lines[at : at + 1] = dice.choice(damage)
        text = "\n".join(lines)
        with suppress(ProtonError):
            assert read_module(text).text() == text
            run_passes(text, passes)
