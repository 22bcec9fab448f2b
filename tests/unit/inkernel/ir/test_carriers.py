import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir.carriers import ACTIONS, RECORDS, Carrier, from_ttgir, record

NAMES = ["load", "a b", 'quote " and \\', "line\nbreak", "100% {x} <ü>", "=", "//", "$0"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("op", RECORDS)
def test_records_come_back_as_they_were(op: str, name: str) -> None:
    for action in ACTIONS[:3]:
        carrier = Carrier(op, action, name, {"line": "12", "file": name}, result="%r")
        assert from_ttgir("    " + carrier.to_ttgir("%r") + " loc(#loc)") == carrier


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_values_keep_their_operand(target: str, kind: str) -> None:
    carrier = Carrier("record", "value", "n", {}, "%x", kind, "%12")
    assert from_ttgir(carrier.to_ttgir("%12", target)) == carrier


def test_plain_operations_come_back_as_they_were() -> None:
    for op in ("init", "notify", "finalize", "guard"):
        assert from_ttgir(Carrier(op).to_ttgir("%r")) == Carrier(op, result="%r")


def test_the_text_is_the_one_that_everybody_agreed_on() -> None:
    assert record("start", "a b", line=12, kind="load", file=None).to_ttgir("%r") == (
        '%r = tt.elementwise_inline_asm "// proton.record start a%20b line=12 kind=load" '
        '{constraints = "=r,~{memory}", packed_element = 1 : i32, pure = false} -> i32'
    )


def test_what_people_write_by_hand_is_a_record_too() -> None:
    assert from_ttgir('  proton.record start "a b" loc(#loc)') == record("start", "a b")
    assert from_ttgir("proton.record end load") == record("end", "load")


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("record begin x", "write: proton.record start|end|mark|value NAME"),
        ("record start", "write: proton.record start|end|mark|value NAME"),
        ("record value x", "a value, and only that, has one operand"),
        ("open", "unknown operation 'proton.open'; choose one of record, circular_record"),
        ("record start x line", "malformed attribute 'line'"),
    ],
)
def test_what_is_almost_one_of_ours_is_refused(comment: str, problem: str) -> None:
    line = Carrier("init").to_ttgir("%r").replace("proton.init", f"proton.{comment}")
    with pytest.raises(InstrumentationError, match=problem.replace("|", r"\|")):
        from_ttgir(line)


@pytest.mark.parametrize("line", ["", "  gpu.barrier", '%r = call i32 asm "// other", "=r"()'])
def test_other_lines_are_none(line: str) -> None:
    assert from_ttgir(line) is None
