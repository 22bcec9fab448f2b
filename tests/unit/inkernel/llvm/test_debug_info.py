"""File and line of an instruction, through scopes and inlined functions."""

from proton.inkernel.llvm.text import DebugInfo

TEXT = """!1 = !DIFile(filename: "a.py", directory: "/src")
!4 = distinct !DISubprogram(name: "k", linkageName: "k", scope: !1, file: !1, line: 7, unit: !0)
!7 = !DILocation(line: 8, column: 64, scope: !4)
!21 = !DILocation(line: 191, column: 40, scope: !22, inlinedAt: !24)
!22 = distinct !DILexicalBlockFile(scope: !4, file: !23, discriminator: 0)
!23 = !DIFile(filename: "standard.py", directory: "/triton")
!30 = !DILocation(line: 3, column: 1, scope: !31)
!31 = distinct !DILexicalBlock(scope: !31)"""


def test_a_location_is_where_the_code_was_written() -> None:
    debug = DebugInfo(TEXT.splitlines())
    assert debug.location(", !dbg !7") == ("/src/a.py", 8)
    assert debug.location(", !dbg !21") == ("/triton/standard.py", 191)


def test_unknown_places_are_empty_and_cycles_end() -> None:
    debug = DebugInfo(TEXT.splitlines())
    assert debug.location("") == ("", 0)
    assert debug.location(", !dbg !99") == ("", 0)
    assert debug.location(", !dbg !30") == ("", 3)
