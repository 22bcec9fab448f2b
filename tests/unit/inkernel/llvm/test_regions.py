"""The record map: ids in order, names, places, kinds, and who contains whom."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel import layout
from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.regions import find_regions


def record(number: int, text: str, constraints: str = "=r", operand: str = "", dbg: int = 7) -> str:
    return (
        f'  %{number} = call i32 asm sideeffect "// proton.record {text}", '
        f'"{constraints},~{{memory}}"({operand}), !dbg !{dbg}\n'
    )


def regions_of(body: str) -> list[dict[str, object]]:
    module = LlvmModule(
        f"define ptx_kernel void @k(i1 %0, ptr addrspace(1) %1) {{\n{body}}}\n"
        '!1 = !DIFile(filename: "a.py", directory: "/src")\n'
        '!4 = distinct !DISubprogram(name: "k", file: !1)\n'
        "!7 = !DILocation(line: 8, column: 64, scope: !4)\n"
        "!8 = !DILocation(line: 9, column: 64, scope: !4)\n"
    )
    thread_records(module, "circular_record", {"strategy": "circular"})
    return find_regions(module).to_json()


def test_ids_follow_first_appearance_and_places_the_debug_metadata() -> None:
    body = record(3, "start outer") + record(4, "start inner%20one", dbg=8)
    body += record(5, "end inner%20one") + record(6, "end outer") + "  ret void\n"
    outer, inner = regions_of(body)
    assert outer == {
        "id": 0,
        "name": "outer",
        "kind": "scope",
        "file": "/src/a.py",
        "line": 8,
        "parent": None,
    }
    assert (inner["id"], inner["name"], inner["line"], inner["parent"]) == (1, "inner one", 9, 0)


def test_attributes_win_over_the_debug_metadata() -> None:
    (region,) = regions_of(record(3, "mark m line=77 kind=wait file=%2Fx.py") + "  ret void\n")
    assert (region["line"], region["kind"], region["file"]) == (77, "wait", "/x.py")


def test_parents_are_found_across_blocks_and_loops() -> None:
    body = record(3, "start loop") + "  br label %a\na:\n" + record(4, "start step")
    body += record(5, "end step") + "  br i1 %0, label %a, label %b\nb:\n"
    body += record(6, "end loop") + record(7, "start after") + "  ret void\n"
    loop, step, after = regions_of(body)
    assert (loop["parent"], step["parent"], after["parent"]) == (None, 0, None)


def test_a_region_is_as_thin_as_the_thinnest_of_its_records() -> None:
    body = record(3, "start step") + record(4, "end step") + record(5, "start step every=4")
    body += record(6, "end step every=4") + record(7, "mark whole") + "  ret void\n"
    step, whole = regions_of(body)
    assert step["every"] == 4, "the first records are those of a prologue"
    assert "every" not in whole


def test_an_event_contains_nothing() -> None:
    body = record(3, "start copy kind=event") + record(4, "start dot") + "  ret void\n"
    assert [region["parent"] for region in regions_of(body)] == [None, None]


def test_values_say_their_width_and_type() -> None:
    body = record(3, "value a", "=r,r", "i32 %0") + record(4, "value b", "=r,l", "i64 5")
    body += record(5, "value c", "=r,l", "ptr addrspace(1) %1")
    body += record(6, "value d type=f32", "=r,r", "i32 %0") + "  ret void\n"
    found = regions_of(body)
    assert [(region["kind"], region["bits"], region["value_type"]) for region in found] == [
        ("value", 32, "i32"),
        ("value", 64, "i64"),
        ("value", 64, "i64"),
        ("value", 32, "f32"),
    ]


def test_a_name_of_a_scope_and_of_values_has_the_type_of_those() -> None:
    body = record(3, "start a") + record(4, "value a type=f64", "=r,l", "i64 5")
    (region,) = regions_of(body + record(5, "end a") + "  ret void\n")
    assert (region["kind"], region["value_type"]) == ("scope", "f64")


def test_more_regions_than_a_tag_has_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "REGION_LIMIT", 1)
    with pytest.raises(InstrumentationError, match="names 2 regions; a record has room for 1"):
        regions_of(record(3, "mark a") + record(4, "mark b") + "  ret void\n")
