from __future__ import annotations

from proton.render.page.numbering import Numbering


def test_what_comes_again_keeps_its_number() -> None:
    numbers = Numbering(["wait", "selected"])
    assert numbers.places_of([("a.py", 1), ("b.py", 2)]) == [0, 1]
    assert numbers.places_of([("a.py", 3), ("a.py", 1)]) == [2, 0]
    assert list(numbers.files) == ["a.py", "b.py"]


def test_reasons_stand_by_count_and_those_without_samples_are_left_out() -> None:
    numbers = Numbering(["wait", "selected"])
    assert numbers.reasons_of({"selected": 2, "drain": 7, "wait": 0}) == [[2, 7], [1, 2]]
    assert list(numbers.reasons) == ["wait", "selected", "drain"]
