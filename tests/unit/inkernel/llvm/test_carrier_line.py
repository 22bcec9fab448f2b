"""Lines that carry ops: read, written, and read back equal."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carrier

LINE = (
    '  %12 = tail call i32 asm sideeffect "// proton.record value a%20b line=3 kind=load", '
    '"=r,l,~{memory}"(i64 %9) #5, !dbg !7'
)


def test_a_line_as_triton_prints_it_is_read_whole() -> None:
    op = read_carrier(LINE)
    assert op is not None
    assert (op.op, op.action, op.name, op.result) == ("record", "value", "a b", "%12")
    assert op.attributes == {"line": "3", "kind": "load"}
    assert (op.operands, op.location, op.group) == ("i64 %9", ", !dbg !7", " #5")


def test_what_is_written_reads_back_equal() -> None:
    op = read_carrier(LINE)
    assert op is not None
    counted = op.counted("circular_record", "%4")
    assert read_carrier(str(counted)) == counted
    assert counted.count_and_value() == ("%4", "i64 %9")
    assert '"=r,0,l,~{memory}"(i32 %4, i64 %9)' in str(counted)
    bare = CarrierLine("init", "%proton.opened", attributes={"ctas": "", "ring": "8"})
    assert read_carrier(str(bare)) == bare


def test_other_lines_carry_nothing() -> None:
    assert read_carrier('  %1 = call i32 asm sideeffect "// other", "=r"()') is None
    assert read_carrier("  ret void") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("record", r"write: proton.record start\|end\|mark\|value NAME: '%1 = call"),
        ("record begin x", r"write: proton.record start\|end\|mark\|value NAME: '%1 = call"),
        ("records start x", "unknown operation 'proton.records'; choose one of record"),
        ("record start x line", "malformed attribute 'line' of 'proton.record start x line': '%1"),
    ],
)
def test_malformed_ops_are_refused_with_the_choices(text: str, why: str) -> None:
    with pytest.raises(InstrumentationError, match=why):
        read_carrier(f'  %1 = call i32 asm sideeffect "// proton.{text}", "=r"()')


def test_an_op_that_is_not_a_call_of_i32_is_refused() -> None:
    with pytest.raises(InstrumentationError, match="malformed carrier"):
        read_carrier('  call void asm sideeffect "// proton.record start x", "~{memory}"()')
