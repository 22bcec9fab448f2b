"""The record map: ids in order, names, places, kinds, and who contains whom."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
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


@pytest.mark.parametrize("other", ["value x", "mark x"])
def test_a_moment_and_a_scope_of_one_name_are_two_regions(other: str) -> None:
    constraints, operand = ("=r,r", "i32 %0") if other == "value x" else ("=r", "")
    body = record(3, other, constraints, operand) + record(4, "start x", dbg=8)
    body += record(5, other, constraints, operand) + record(6, "start y") + record(7, "end y")
    body += record(8, "end x") + "  ret void\n"
    moment, scope, inner = regions_of(body)
    assert (moment["name"], moment["kind"], moment["line"]) == ("x", other.split()[0], 8)
    assert (scope["name"], scope["kind"], scope["line"]) == ("x", "scope", 9)
    assert ("value_type" in moment, "value_type" in scope) == (other == "value x", False)
    assert (moment["parent"], scope["parent"], inner["parent"]) == (None, None, 1)


def test_marks_of_one_mode_are_not_counted_among_the_passages_of_another() -> None:
    body = record(3, "mark i@8 kind=iteration") + record(4, "start i@8 kind=iteration cap=64")
    body += record(5, "end i@8 kind=iteration") + record(6, "mark c@9 kind=copy") + "  ret void\n"
    marks, turns, copies = regions_of(body)
    assert (marks["name"], marks["kind"], "cap" in marks) == ("i@8 (marks)", "iteration", False)
    assert (turns["name"], turns["kind"], turns["cap"]) == ("i@8", "iteration", 64)
    assert copies["name"] == "c@9", "no other region has its name"


def test_an_event_and_a_scope_of_one_name_are_two_regions() -> None:
    body = record(3, "start x kind=event") + record(4, "start x") + record(5, "end x")
    body += record(6, "end x kind=event") + "  ret void\n"
    assert [region["kind"] for region in regions_of(body)] == ["event", "scope"]


def test_an_end_without_a_kind_is_that_of_its_start() -> None:
    body = record(3, "mark x") + record(4, "start x kind=load") + record(5, "end x")
    assert [each["kind"] for each in regions_of(body + "  ret void\n")] == ["mark", "load"]


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


def test_values_inside_a_scope_of_their_name_have_the_type_and_lie_in_it() -> None:
    body = record(3, "start a") + record(4, "value a type=f64", "=r,l", "i64 5")
    scope, value = regions_of(body + record(5, "end a") + "  ret void\n")
    assert (scope["kind"], "value_type" in scope) == ("scope", False)
    assert (value["kind"], value["value_type"], value["parent"]) == ("value", "f64", 0)


def test_more_regions_than_a_tag_has_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "REGION_LIMIT", 1)
    with pytest.raises(InstrumentationError, match="names 2 regions; a record has room for 1"):
        regions_of(record(3, "mark a") + record(4, "mark b") + "  ret void\n")
