"""How often scopes were entered, from a session to its file and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proton
from proton.analysis.derive import derive
from proton.files.read import read_profile
from proton.model.merge import merge_profiles
from proton.model.profile import TreeProfile
from tests.support.profiles import tree_in

pytestmark = pytest.mark.usefixtures("gpu")


def entries_of(profile: Any) -> dict[str, int]:
    tree = tree_in(profile)
    return {"/".join(tree.path(row)): count for row, count in tree.entries.items()}


def read(path: Path) -> Any:
    return read_profile(path.read_bytes(), path.name)


def test_entries_are_counted_by_path_and_phase(gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run")
    for _ in range(3):
        with proton.scope("a"):
            for _ in range(2):
                with proton.cpu_timed_scope("b"):
                    gpu.launch("k")
    proton.deactivate(session)
    with proton.scope("a"):
        pass
    proton.activate(session)
    proton.data.advance_phase(session)
    proton.enter_scope("a")
    proton.exit_scope("a")
    proton.finalize()
    parts = [read(tmp_cwd / f"run.part_{phase}.hatchet") for phase in range(2)]
    assert [entries_of(part) for part in parts] == [{"a": 3, "a/b": 6}, {"a": 1}]
    assert entries_of(merge_profiles(parts, "run")) == {"a": 4, "a/b": 6}


def test_a_cleared_phase_counts_anew(session: int, gpu: Any, profile_of: Any) -> None:
    with proton.scope("a"):
        pass
    proton.data.clear(session, 0)
    for _ in range(2):
        with proton.scope("a"):
            pass
    content = proton.data.get(session)
    assert content is not None
    assert content[0]["proton"]["entries"] == [[1, 2]]


def test_an_average_of_a_timed_scope_is_by_entries(gpu: Any, tmp_cwd: Path) -> None:
    proton.start("run")
    for _ in range(4):
        with proton.cpu_timed_scope("a"):
            for _ in range(5):
                gpu.launch("k")
    proton.finalize()
    profile = read(tmp_cwd / "run.hatchet")
    assert isinstance(profile, TreeProfile)
    whole, average = derive(profile, ["cpu_time/ns", "avg_cpu_time/ns"])
    assert average.values[1] == whole.values[1] / 4  # type: ignore[operator]


def test_a_users_count_does_not_pose_as_kernels(gpu: Any, tmp_cwd: Path) -> None:
    proton.start("run", hook="triton")
    with proton.scope("a", {"count": 100, "time (ns)": 7}):
        gpu.launch("k", 5, **{"count (exc)": 50})
    proton.finalize()
    tree = tree_in(read(tmp_cwd / "run.hatchet"))
    assert tree.own[1] == {"user count": 100, "user time (ns)": 7}
    assert tree.own[2]["count"] == 1
    assert tree.own[2]["user count"] == 50
