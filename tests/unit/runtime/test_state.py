"""States: labels between the scopes and the kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ScopeMismatch
from proton.runtime.scopes import (
    COMPUTE_METADATA_SCOPE_NAME,
    COMPUTE_METADATA_SCOPE_PREFIX,
    get_metadata_state_name,
)


@pytest.fixture
def gpu(fake_gpu: Any, tmp_cwd: Path) -> Iterator[Any]:
    proton.start("run")
    yield fake_gpu
    fake_gpu.launch("last")
    proton.finalize()


@pytest.fixture
def paths(profile_of: Any) -> Any:
    return lambda: profile_of(proton.data.get(_session())).paths()


def _session() -> int:
    from proton.runtime.sessions import open_sessions

    return open_sessions()[0].id


def test_a_state_stands_between_the_scopes_and_the_kernel(gpu: Any, paths: Any) -> None:
    with proton.scope("test"), proton.state("state0"), proton.scope("test0"):
        gpu.launch("k")
    assert paths() == ["test", "test/test0", "test/test0/state0", "test/test0/state0/k"]


def test_the_innermost_state_labels(gpu: Any, paths: Any) -> None:
    with proton.state("outer"):
        with proton.state("inner"):
            gpu.launch("k")
        gpu.launch("k")
    assert paths() == ["inner", "inner/k", "outer", "outer/k"]


def test_a_state_is_left_when_its_body_raises(gpu: Any, paths: Any) -> None:
    with pytest.raises(KeyError), proton.state("a"):
        raise KeyError("x")
    gpu.launch("k")
    assert paths() == ["k"]


def test_a_decorated_function_is_labelled_and_left_on_exceptions(gpu: Any, paths: Any) -> None:
    @proton.state("a")
    def fail() -> None:
        gpu.launch("k")
        raise KeyError("x")

    with pytest.raises(KeyError):
        fail()
    gpu.launch("k")
    assert paths() == ["a", "a/k", "k"]


def test_a_decorated_coroutine_is_labelled(gpu: Any, paths: Any) -> None:
    @proton.state("a")
    async def work() -> None:
        await asyncio.sleep(0)
        gpu.launch("k")

    asyncio.run(work())
    assert paths() == ["a", "a/k"]


def test_states_can_be_entered_and_left_by_hand(gpu: Any, paths: Any) -> None:
    proton.enter_state("a")
    gpu.launch("k")
    proton.exit_state()
    gpu.launch("k")
    assert paths() == ["a", "a/k", "k"]


def test_leaving_a_state_that_was_not_entered_is_refused() -> None:
    with pytest.raises(ScopeMismatch):
        proton.exit_state()


def test_a_state_left_too_early_by_hand_does_not_hide_the_bodys_exception() -> None:
    def leave_and_fail() -> None:
        with proton.state("a"):
            proton.exit_state()
            raise KeyError("body")

    with pytest.raises(KeyError):
        leave_and_fail()


def test_a_state_left_too_early_by_hand_is_told_at_its_end() -> None:
    with pytest.raises(ScopeMismatch), proton.state("a"):
        proton.exit_state()


def test_the_metadata_state_has_the_known_name(gpu: Any, paths: Any) -> None:
    with proton.metadata_state():
        gpu.launch("k")
    assert paths()[-1] == "__proton_launch_metadata/k"


def test_the_metadata_state_of_a_kernel_is_two_frames(gpu: Any, paths: Any) -> None:
    with proton.metadata_state("matmul"):
        gpu.launch("k")
    assert paths()[-1] == "__proton_launch_metadata/matmul/k"


def test_the_metadata_state_of_a_kernel_names_it() -> None:
    assert COMPUTE_METADATA_SCOPE_NAME == "__proton_launch_metadata"
    assert get_metadata_state_name() == COMPUTE_METADATA_SCOPE_NAME
    assert get_metadata_state_name("k") == f"{COMPUTE_METADATA_SCOPE_PREFIX}k"
