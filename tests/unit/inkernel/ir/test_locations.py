import pytest

from proton.inkernel.ir.locations import Source, find_frames, trailing_location, users_line

STANDARD = "/x/triton/language/standard.py"
ALIASES = {
    "#loc": '"/src/a.py":3:0',
    "#loc1": "unknown",
    "#loc2": f'"{STANDARD}":43:17',
    "#loc3": '"acc"(#loc)',
    "#loc4": "callsite(#loc2 at #loc3)",
    "#loc5": "callsite(#loc4 at #loc6)",
    "#loc6": '"/src/b.py":9:1',
    "#loc7": "#loc8",
    "#loc8": "#loc7",
}


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("#loc", [("/src/a.py", 3)]),
        ("#loc1", []),
        ("#loc3", [("/src/a.py", 3)]),
        ("#loc5", [(STANDARD, 43), ("/src/a.py", 3), ("/src/b.py", 9)]),
        ('"name"', []),
        ('"/src/a.py":3:0 to :4:5', [("/src/a.py", 3)]),
        ('fused[#loc1, "x"(#loc6), #loc]', [("/src/b.py", 9)]),
        ("fused<{a = 1}>[callsite(#loc2 at #loc), #loc6]", [(STANDARD, 43), ("/src/a.py", 3)]),
        ("#loc7", []),
        ("#loc99", []),
        ("what(", []),
    ],
)
def test_frames_come_innermost_first(text: str, frames: list[tuple[str, int]]) -> None:
    assert [(frame.file, frame.line) for frame in find_frames(text, ALIASES)] == frames


def test_the_users_line_is_the_innermost_one_outside_tritons_library() -> None:
    found = users_line(find_frames("#loc5", ALIASES))
    assert found == Source("/src/a.py", 3, 0, "acc")
    assert str(found) == "/src/a.py:3"
    assert users_line(find_frames("#loc2", ALIASES)) == Source(STANDARD, 43, 17)
    assert users_line(()) is None


def test_the_location_that_ends_a_line_is_found() -> None:
    line = '  tt.func @f(%x: i32 loc("x"(#loc))) loc(callsite(#loc2 at #loc3))  '
    assert trailing_location(line) == "callsite(#loc2 at #loc3)"
    assert trailing_location("  gpu.barrier") == ""
    assert trailing_location('  x.y loc("a"(#loc)) : i32') == ""
