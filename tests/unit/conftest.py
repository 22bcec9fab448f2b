"""Fixtures of the unit tests: native sessions, and profiles made by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import pytest

from proton._native import Session
from proton.errors import SessionNotFound
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from tests.support import profiles
from tests.support.native import MakeSession


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


@pytest.fixture
def session(make_session: MakeSession) -> Session:
    """An active shadow/tree session."""
    return make_session()


@pytest.fixture
def make_tree() -> Callable[[Sequence[profiles.Row]], Tree]:
    """`make_tree(rows)`."""
    return profiles.tree_of


@pytest.fixture
def make_profile() -> Callable[..., TreeProfile]:
    """`make_profile(rows, devices=..., kinds=..., is_ours=...)`."""
    return profiles.profile_of
