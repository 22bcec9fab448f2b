import pytest

from proton.errors import UsageError
from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.op_groups import (
    OP_GROUPS,
    kinds_of,
    label_of,
    record_around,
    record_of,
    runs_as_written,
)
from proton.inkernel.ir.parse import read_module

TEXT = """\
#loc = loc("/src/a.py":3:0)
#loc1 = loc("v"(#loc2))
#loc2 = loc("/src/a.py":5:0)
module {
  tt.func public @k() {
    tt.load %x loc(#loc1)
    gpu.barrier loc(#loc)
    gpu.barrier loc(#loc)
    "tt.reduce"(%x) ({
      tt.store %x
    }) : () -> ()
    tt.return
  } loc(#loc)
}"""


def test_words_are_groups_or_operations() -> None:
    assert kinds_of(["wait"])["ttg.async_wait"] == "wait"
    assert kinds_of(["tt.splat"]) == {"tt.splat": "splat"}
    assert kinds_of(["barrier"])["amdg.cond_barrier"] == "barrier"
    with pytest.raises(UsageError, match="unknown group of operations 'x'; choose one of 'atomic'"):
        kinds_of(["load", "x"])


def test_no_operation_is_in_two_groups() -> None:
    names = [name for group in OP_GROUPS.values() for name in group]
    assert len(names) == len(set(names))


def test_labels_say_kind_variable_and_line() -> None:
    _, _, load, *_ = ops = list(read_module(TEXT).walk())
    assert label_of("load", load) == "load v@5"
    assert label_of("loop", load) == "loop@5"
    assert label_of("store", next(op for op in ops if op.name == "tt.store")) == "store"


def test_operations_that_lost_their_line_are_counted() -> None:
    barriers = [op for op in read_module(TEXT).walk() if op.name == "gpu.barrier"]
    assert [label_of("barrier", op) for op in barriers] == ["barrier@3", "barrier@3 #2"]


def test_a_record_about_an_operation_has_its_place() -> None:
    load = next(op for op in read_module(TEXT).walk() if op.name == "tt.load")
    assert dict(record_of("mark", "load", load).attributes) == {
        "line": "5",
        "kind": "load",
        "file": "/src/a.py",
    }


@pytest.mark.parametrize(
    ("kind", "is_ours"), [("scope", False), ("event", False), ("load", True), ("mma", True)]
)
def test_what_stands_between_records_of_the_users_own_is_timed_all_the_same(
    kind: str, is_ours: bool
) -> None:
    start, end = (
        Carrier("record", action, "a", {"kind": kind}).to_ttgir(f"%{action}")
        for action in ("start", "end")
    )
    load = "tt.load %x loc(#loc1)"
    module = read_module(TEXT.replace(load, f"{start}\n{load}\n{end}"))
    record_around(module, next(op for op in module.walk() if op.name == "tt.load"), "load")
    assert ("record start load%20v%405" in module.text()) is not is_ours


def test_bodies_of_reductions_do_not_run_as_written() -> None:
    ops = {op.name: op for op in read_module(TEXT).walk()}
    assert runs_as_written(ops["tt.load"])
    assert not runs_as_written(ops["tt.store"])


def test_called_functions_have_no_buffer_to_record_into() -> None:
    module = read_module(TEXT.replace("public", "private"))
    assert not any(runs_as_written(op) for op in module.walk() if op.name == "tt.load")
