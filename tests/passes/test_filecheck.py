"""The checker itself must be able to fail."""

import pytest

from tests.support.filecheck import check, directives

OUTPUT = "one %a = x\n  two   %a\nthree\ntwo again\nend"


@pytest.mark.parametrize(
    "text",
    [
        "CHECK: one\nCHECK: two\nCHECK: end",
        "CHECK: one\nCHECK-NEXT: two %a\nCHECK-NEXT: three",
        "CHECK: one [[N:%\\w]] =\nCHECK-NEXT: two [[N]]",
        "CHECK: t{{w.}}\nCHECK-NOT: one\nCHECK: end",
        "CHECK-COUNT-2: two\nCHECK-NOT: two",
        "CHECK-NOT: four\nCHECK: one",
    ],
)
def test_what_holds_passes(text: str) -> None:
    check(OUTPUT, directives(text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("CHECK: four", "line 1: 'four' not in lines from 1 on"),
        ("CHECK: two\nCHECK: one", "line 2: 'one' not in lines from 3 on"),
        ("CHECK: one\nCHECK-NEXT: three", "line 2: 'three' not in the next line"),
        ("CHECK: one [[N:\\w]] =\nCHECK-NEXT: two [[N]]", "not in"),
        ("CHECK: one\nCHECK-NOT: three\nCHECK: end", "line 2: 'three' is in 'three'"),
        ("CHECK: three\nCHECK-NOT: end", "'end' is in 'end'"),
        ("CHECK-NOT: one\nCHECK: two", "'one' is in"),
        ("CHECK-COUNT-3: two", "not in"),
        ("OTHER: one", "no checks with this prefix"),
    ],
)
def test_what_does_not_hold_fails(text: str, problem: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check(OUTPUT, directives(text))
    assert problem in str(caught.value)
