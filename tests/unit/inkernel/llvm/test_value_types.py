"""What a value is recorded as: its own type, or the one that holds all of its name."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import CarrierLine
from proton.inkernel.llvm.regions import common_type, value_type, value_words


def carrier(operand: str, said: str = "") -> CarrierLine:
    attributes = {"type": said} if said else {}
    found = CarrierLine("record", "%3", "value", "v", attributes, operands=operand)
    return found.counted("circular_record", "0")


@pytest.mark.parametrize(
    ("operand", "said", "wanted"),
    [
        *((f"{kind} %1", "", "i32") for kind in ("i1", "i8", "i16", "i32")),
        ("i64 %1", "", "i64"),
        ("ptr addrspace(1) %1", "", "i64"),
        ("i32 %1", "f32", "f32"),
        ("i64 %1", "f64", "f64"),
        ("float %1", "", "f32"),
        ("double 1.5", "", "f64"),
    ],
)
def test_the_type_is_the_operands_or_what_the_carrier_says(
    operand: str, said: str, wanted: str
) -> None:
    assert value_type(carrier(operand, said)) == wanted


def test_other_records_have_no_type() -> None:
    assert value_type(CarrierLine("record", "%3", "mark", "m")) == ""


@pytest.mark.parametrize(
    ("operand", "said", "problem"),
    [
        ("i32 %1", "f16", "value 'v' says type=f16; write type=f32 or type=f64"),
        ("i32 %1", "f64", "has the operand 'i32 %1'; give the bits of it as an i64"),
        ("float %1", "f32", "give the bits of it as an i32"),
        ("half %1", "", "a record of 'half %1': values are integers, floats or pointers"),
        ("", "", "values are integers, floats or pointers"),
    ],
)
def test_what_cannot_be_a_value_is_refused(operand: str, said: str, problem: str) -> None:
    with pytest.raises(InstrumentationError) as caught:
        value_type(carrier(operand, said))
    assert problem in str(caught.value)


def test_the_common_type_holds_both() -> None:
    types = ("i32", "i64", "f32", "f64")
    for one in types:
        assert common_type(one, one) == common_type("", one) == common_type(one, "") == one
        for other in types:
            assert common_type(one, other) == common_type(other, one)
    assert common_type("i32", "i64") == "i64"
    assert {common_type(whole, real) for whole in types[:2] for real in types[2:]} == {"f64"}
    assert common_type("f32", "f64") == "f64"


@pytest.mark.parametrize(
    ("operand", "said", "wanted", "lines"),
    [
        ("i32 %1", "f32", "f32", []),
        ("float %1", "", "f32", ["%v.bits = bitcast float %1 to i32"]),
        ("i16 %1", "", "i32", ["%v.wide = sext i16 %1 to i32"]),
        ("i32 %1", "", "i64", ["%v.wide = sext i32 %1 to i64"]),
        ("ptr %1", "", "i64", ["%v.address = ptrtoint ptr %1 to i64"]),
        ("i64 %1", "f64", "f64", []),
        ("double %1", "", "f64", ["%v.bits = bitcast double %1 to i64"]),
        (
            *("i32 %1", "f32", "f64"),
            [
                "%v.short = bitcast i32 %1 to float",
                "%v.double = fpext float %v.short to double",
                "%v.bits = bitcast double %v.double to i64",
            ],
        ),
        (
            *("i64 %1", "", "f64"),
            [
                "%v.double = sitofp i64 %1 to double",
                "%v.bits = bitcast double %v.double to i64",
            ],
        ),
    ],
)
def test_a_number_becomes_words_of_the_wanted_type(
    operand: str, said: str, wanted: str, lines: list[str]
) -> None:
    made, high, low = value_words(carrier(operand, said), wanted, "%v", "77")
    assert made[: len(lines)] == lines
    last = lines[-1].split()[0] if lines else "%1"
    if wanted in ("i32", "f32"):
        assert (made[len(lines) :], high, low) == ([], "77", last)
    else:
        assert made[len(lines) :] == [
            f"%v.low = trunc i64 {last} to i32",
            f"%v.upper = lshr i64 {last}, 32",
            "%v.high = trunc i64 %v.upper to i32",
        ]
        assert (high, low) == ("%v.high", "%v.low")
