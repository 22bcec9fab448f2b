"""Sessions whose context is the Python stack, through the bytes that are written."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proton import _native
from proton._native import Scope, Session
from proton.errors import SessionNotFound

MakeSession = Callable[..., Session]
DEVICE: dict[str, Any] = {"device_type": "CPU", "device_id": 0}


@pytest.fixture
def make_session() -> Iterator[MakeSession]:
    """`make_session(context=..., data=..., active=...)`; closed after the test."""
    made: list[Session] = []

    def make(*, context: str = "shadow", data: str = "tree", active: bool = True) -> Session:
        session = Session(len(made), context=context, data=data)
        made.append(session)
        if active:
            session.activate()
        return session

    yield make
    for session in made:
        with contextlib.suppress(SessionNotFound):
            session.close()


def root_of(session: Session, phase: int = 0) -> dict[str, Any]:
    root: dict[str, Any] = json.loads(session.serialize("hatchet", phase, {}))[0]
    return root


def tree_of(session: Session, phase: int = 0) -> dict[str, dict[str, Any]]:
    """Path -> metrics, for every node but the root."""
    found: dict[str, dict[str, Any]] = {}
    pending = [("", child) for child in root_of(session, phase)["children"]]
    while pending:
        above, node = pending.pop(0)
        path = above + node["frame"]["name"]
        assert path not in found
        found[path] = node["metrics"]
        pending += [(path + "/", child) for child in node["children"]]
    return found


def launch(session: Session, name: str = "kernel", time_ns: int = 10, **metrics: Any) -> None:
    session.on_kernel(name, 100, 100 + time_ns, metrics=metrics or None, **DEVICE)


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
