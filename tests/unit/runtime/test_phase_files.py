"""The files of one session among those of other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning
from proton.runtime.phase_files import claim, latest_file

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def claimed(tmp_cwd: Path) -> Any:
    """Somebody else records to `run` while the test runs."""
    held = claim(str(tmp_cwd / "run"), lambda: None)
    yield held
    held.release()


def test_a_name_in_use_gets_the_process_id_and_says_so(
    gpu: Any, claimed: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    stem = f"run.pid_{os.getpid()}"
    with pytest.warns(ProtonWarning, match=rf"another running process has this name; .*{stem}'"):
        proton.start("run")
    gpu.launch("k")
    proton.finalize()
    assert [path.name for path in tmp_cwd.iterdir()] == [f"{stem}.hatchet"]
    assert stem in profile_of(f"{stem}.hatchet").header["warnings"][0]


def test_a_name_in_use_gets_the_rank_of_a_launcher(
    gpu: Any, claimed: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    with pytest.warns(ProtonWarning, match=r"run\.rank_3' instead"):
        proton.start("run")
    gpu.launch("k")
    proton.finalize()
    assert [path.name for path in tmp_cwd.iterdir()] == ["run.rank_3.hatchet"]


def test_a_file_that_somebody_else_wrote_meanwhile_is_left_alone(gpu: Any, tmp_cwd: Path) -> None:
    proton.start("run")
    gpu.launch("k")
    (tmp_cwd / "run.hatchet").write_text("theirs")
    later = time.time_ns() + 1_000_000_000
    os.utime(tmp_cwd / "run.hatchet", ns=(later, later))
    with pytest.warns(ProtonWarning, match=r"another process wrote this file since the session"):
        proton.finalize()
    assert (tmp_cwd / "run.hatchet").read_text() == "theirs"
    assert (tmp_cwd / f"run.pid_{os.getpid()}.hatchet").exists()


def test_the_profile_of_an_earlier_run_is_replaced(
    gpu: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    (tmp_cwd / "run.hatchet").write_text("earlier")
    os.utime(tmp_cwd / "run.hatchet", ns=(1, 1))
    proton.start("run")
    gpu.launch("k")
    proton.finalize()
    assert profile_of("run.hatchet").paths() == ["k"]


def test_two_sessions_one_after_the_other_replace_the_file(
    gpu: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    for name in ("first", "second"):
        proton.start("run")
        gpu.launch(name)
        proton.finalize()
    assert profile_of("run.hatchet").paths() == ["second"]


def test_where_warnings_are_errors_a_name_in_use_means_no_session(
    gpu: Any, claimed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProtonWarning, match="another running process has this name"):
        proton.start("run")
    assert gpu.sinks == []


def test_the_latest_file_is_the_one_that_was_written_last(gpu: Any, tmp_cwd: Path) -> None:
    for name in ("first", "second"):
        session = proton.start(name)
        gpu.launch("k")
        proton.finalize(session)
        assert latest_file() == str(tmp_cwd / f"{name}.hatchet")
