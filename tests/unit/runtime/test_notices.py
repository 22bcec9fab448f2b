"""Notices become warnings that point at the user's line."""

from __future__ import annotations

import pytest

from proton.errors import ProtonWarning
from proton.runtime.sessions import say_notices


def test_each_notice_is_said_once() -> None:
    noted = ["first", "second"]
    with pytest.warns(ProtonWarning) as caught:
        say_notices(noted)
    assert [str(each.message) for each in caught] == ["first", "second"]
    assert noted == []


def test_the_warning_points_outside_the_package() -> None:
    with pytest.warns(ProtonWarning) as caught:
        say_notices(["text"])
    assert caught[0].filename == __file__


def test_where_warnings_are_errors_nothing_is_said_twice() -> None:
    noted = ["text"]
    with pytest.raises(ProtonWarning, match="text"):
        say_notices(noted)
    assert noted == []
