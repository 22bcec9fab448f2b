"""Numbers in LLVM text: the type that a value is recorded as, and the words that hold it.

All values of one name have one type in the buffer, the narrowest that holds what each place
records: i32, i64, f32 or f64. Carriers of floats have their bits as an integer and say `type=f32`
or `type=f64`.
"""

from __future__ import annotations

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import CarrierLine

WIDTHS = {"i32": 32, "i64": 64, "f32": 32, "f64": 64}

_LLVM_FLOATS = {"f32": "float", "f64": "double"}
_SMALL = ("i1", "i8", "i16")


def value_type(carrier: CarrierLine) -> str:
    """The type of the number that a counted carrier records; empty for records that are no value.

    Raises:
        InstrumentationError: it has no number, or says a type that the number cannot be of.
    """
    if carrier.action != "value":
        return ""
    value = carrier.count_and_value()[1]
    kind = value.rpartition(" ")[0]
    said = carrier.attributes.get("type", "")
    if said not in ("", *_LLVM_FLOATS):
        raise InstrumentationError(
            f"value {carrier.name!r} says type={said}; write type=f32 or type=f64"
        )
    if said and kind != f"i{WIDTHS[said]}":
        raise InstrumentationError(
            f"value {carrier.name!r} of type={said} has the operand {value!r}; "
            f"give the bits of it as an i{WIDTHS[said]}"
        )
    if kind in _LLVM_FLOATS.values():
        return "f32" if kind == "float" else "f64"
    if kind.startswith("ptr"):
        return "i64"
    if kind not in (*_SMALL, "i32", "i64"):
        raise InstrumentationError(
            f"a record of {value!r}: values are integers, floats or pointers"
        )
    return said or ("i64" if kind == "i64" else "i32")


def common_type(one: str, other: str) -> str:
    """The narrowest type that holds values of both; integers beside floats become f64."""
    if not (one and other) or one == other:
        return one or other
    return "i64" if {one, other} == {"i32", "i64"} else "f64"


def value_words(
    carrier: CarrierLine, wanted: str, stem: str, tag: str
) -> tuple[list[str], str, str]:
    """Lines that make words of a carrier's number, as type `wanted`: the high word and the low one.

    A value of 32 bits has `tag` in place of a high word. `stem` begins names that are free.
    """
    lines: list[str] = []

    def step(name: str, instruction: str) -> str:
        lines.append(f"{stem}.{name} = {instruction}")
        return f"{stem}.{name}"

    own = value_type(carrier)
    kind, _, value = carrier.count_and_value()[1].rpartition(" ")
    if kind.startswith("ptr"):
        value, kind = step("address", f"ptrtoint {kind} {value} to i64"), "i64"
    if own != wanted and wanted == "f64":
        if own == "f32" and kind == "i32":
            value, kind = step("short", f"bitcast i32 {value} to float"), "float"
        convert = "fpext" if own == "f32" else "sitofp"
        value, kind = step("double", f"{convert} {kind} {value} to double"), "double"
    bits = f"i{WIDTHS[wanted]}"
    if kind in _LLVM_FLOATS.values():
        value = step("bits", f"bitcast {kind} {value} to {bits}")
    elif kind != bits:
        value = step("wide", f"sext {kind} {value} to {bits}")
    if bits == "i32":
        return lines, tag, value
    low = step("low", f"trunc i64 {value} to i32")
    upper = step("upper", f"lshr i64 {value}, 32")
    return lines, step("high", f"trunc i64 {upper} to i32"), low
