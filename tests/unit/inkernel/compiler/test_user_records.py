from proton.inkernel.compiler.user_records import (
    has_carriers,
    record_names,
    with_guards,
    without_records,
)
from proton.inkernel.ir.carriers import Carrier, record

START = record("start", "a b").to_ttgir("%s")
END = record("end", "a b").to_ttgir("%e")
GUARD = Carrier("guard").to_ttgir("%g")
TEXT = f"""module {{
  tt.func public @k(%x: i32) {{
    {START}
    {GUARD}
    %c = arith.cmpi ne, %g, %x : i32
    scf.if %c {{
      {END}
    }}
    tt.return
  }}
}}"""
WITHOUT = """module {
  tt.func public @k(%x: i32) {
    %g = arith.constant 1 : i32
    %c = arith.cmpi ne, %g, %x : i32
    scf.if %c {
    }
    tt.return
  }
}"""


def test_records_are_named_and_taken_out() -> None:
    assert has_carriers(TEXT)
    assert record_names(TEXT) == {"a b"}
    assert without_records(TEXT) == WITHOUT
    assert not has_carriers(WITHOUT)
    assert without_records(WITHOUT) == WITHOUT


def test_malformed_records_are_taken_out_too() -> None:
    broken = TEXT.replace("record start a%20b", "record begin")
    assert record_names(broken) == {"a b"}
    assert without_records(broken) == WITHOUT


def test_records_get_guards_unless_they_have_one() -> None:
    guarded = with_guards(TEXT)
    assert guarded.split("\n")[2:8] == [
        '    %proton_0 = tt.elementwise_inline_asm "// proton.guard" '
        '{constraints = "=r", packed_element = 1 : i32, pure = true} -> i32',
        "    %proton_1 = arith.constant 0 : i32",
        "    %proton_2 = arith.cmpi ne, %proton_0, %proton_1 : i32",
        "    scf.if %proton_2 {",
        f"      {record('start', 'a b').to_ttgir('%proton_3')}",
        "    }",
    ]
    assert guarded.split("\n")[8:] == TEXT.split("\n")[3:]
    assert with_guards(guarded) == guarded
