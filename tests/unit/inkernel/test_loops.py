from typing import Any

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir.carriers import record
from proton.inkernel.ir.op_groups import Bounds, bounds_of, under
from proton.inkernel.ir.parse import read_module

TEXT = """module {
  tt.func public @k(%n: i32) {
    HEAD {
      scf.yield
    }
    tt.return
  }
}"""


def _loop(head: str) -> tuple[Any, Any]:
    module = read_module(TEXT.replace("HEAD", head))
    return module, next(op for op in module.walk() if op.name == "scf.for")


@pytest.mark.parametrize(
    ("head", "bounds"),
    [
        ("scf.for %i = %c0 to %n step %c1 : i32", Bounds("%i", "%c0", "%c1", "i32")),
        ("scf.for unsigned %i = %a#0 to %n step %c1 : i64", Bounds("%i", "%a#0", "%c1", "i64")),
        ("scf.for %i = %c0 to %n step %c1", Bounds("%i", "%c0", "%c1", "index")),
    ],
)
def test_bounds_are_read_with_their_type(head: str, bounds: Bounds) -> None:
    assert bounds_of(*_loop(head)) == bounds


def test_bounds_that_cannot_be_read_are_refused_with_the_place() -> None:
    with pytest.raises(InstrumentationError, match=r":3: cannot read the bounds of this loop"):
        bounds_of(*_loop("scf.for somehow"))


def test_a_record_stands_under_a_condition() -> None:
    module, _ = _loop("scf.for %i = %c0 to %n step %c1")
    first, inside, last = under(module, "%is", record("mark", "x")).split("\n")
    assert (first, last) == ("scf.if %is {", "}")
    assert "// proton.record mark x" in inside
