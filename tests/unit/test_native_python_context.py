"""Sessions whose context is the Python stack, through the bytes that are written."""

from __future__ import annotations

import sys

from proton import _native
from proton._native import Scope
from tests.support.native import DEVICE, MakeSession, launch, tree_of


def test_python_frames_are_the_path_and_scope_names_are_not(make_session: MakeSession) -> None:
    session = make_session(context="python")
    with Scope("never shown", {"x": 1}):
        launch(session)
    here = sys._getframe().f_code
    paths = list(tree_of(session))
    assert not any("never shown" in path for path in paths)
    leaf = next(path for path in paths if path.endswith("/kernel"))
    assert f"@{here.co_name}" in leaf
    assert ".py:" in leaf


def test_python_frames_carry_the_line_of_the_launch(make_session: MakeSession) -> None:
    session = make_session(context="python")
    for _ in range(2):
        session.on_kernel("k", 0, 1, **DEVICE)
        session.on_kernel("k", 0, 1, **DEVICE)
    names = [path.rsplit("/", 2)[1] for path in tree_of(session) if path.endswith("/k")]
    lines = [int(name.split(":")[1].split("@")[0]) for name in names]
    assert len(lines) == 2
    assert lines[1] - lines[0] == 1


def test_python_recursion_is_a_path_of_its_own_length(make_session: MakeSession) -> None:
    session = make_session(context="python")

    def recurse(depth: int) -> int:
        return session.depth() if depth == 0 else recurse(depth - 1)

    assert recurse(9) - recurse(0) == 9


def test_a_state_is_one_frame_below_the_python_frames(make_session: MakeSession) -> None:
    session = make_session(context="python")
    _native.enter_state("label")
    launch(session)
    _native.exit_state()
    assert any(path.endswith("/label/kernel") for path in tree_of(session))


def test_frames_with_equal_text_are_merged(make_session: MakeSession) -> None:
    session = make_session(context="python")
    for _ in range(2):
        exec(compile("f()", "same.py", "exec"), {"f": lambda: launch(session)})
    assert sum(path.endswith("same.py:1@<module>") for path in tree_of(session)) == 1


def test_shadow_and_python_sessions_record_side_by_side(make_session: MakeSession) -> None:
    shadow, python = make_session(), make_session(context="python")
    with Scope("a", {"x": 1}):
        pass
    assert tree_of(shadow) == {"a": {"x": 1}}
    assert [m for m in tree_of(python).values() if m] == [{"x": 1}]
