"""Who may write a file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from proton.runtime import phase_files
from proton.runtime.phase_files import claim, is_of_another, variants


@pytest.fixture(autouse=True)
def lock_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"proton-{os.getuid()}"


def no_rank() -> None:
    return None


def test_the_first_has_the_name() -> None:
    held = claim("/a/run", no_rank)
    assert held.stem == "/a/run"
    held.release()


def test_the_second_gets_its_process_id_in_the_name() -> None:
    first, second = claim("/a/run", no_rank), claim("/a/run", no_rank)
    assert second.stem == f"/a/run.pid_{os.getpid()}"
    first.release()
    second.release()


def test_the_second_gets_its_rank_where_there_is_one() -> None:
    first, second = claim("/a/run", no_rank), claim("/a/run", lambda: 3)
    assert second.stem == "/a/run.rank_3"
    first.release()
    second.release()


def test_a_rank_that_is_taken_too_gives_way_to_the_process_id() -> None:
    held = [claim("/a/run", lambda: 3) for _ in range(3)]
    assert held[2].stem == f"/a/run.pid_{os.getpid()}"
    for each in held:
        each.release()


def test_a_name_that_was_given_up_is_free() -> None:
    claim("/a/run", no_rank).release()
    again = claim("/a/run", no_rank)
    assert again.stem == "/a/run"
    again.release()


def test_giving_up_leaves_no_file(lock_folder: Path) -> None:
    held = claim("/a/run", no_rank)
    assert len(list(lock_folder.iterdir())) == 1
    held.release()
    held.release()
    assert list(lock_folder.iterdir()) == []


def test_the_name_of_a_process_that_died_is_free(lock_folder: Path) -> None:
    code = "import os; from proton.runtime.phase_files import claim; claim('/a/run', lambda: None)"
    source = str(Path(phase_files.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": source, "TMPDIR": str(lock_folder.parent)}
    subprocess.run([sys.executable, "-c", f"{code}; os._exit(9)"], env=environment, check=False)
    assert len(list(lock_folder.iterdir())) == 1
    held = claim("/a/run", no_rank)
    assert held.stem == "/a/run"
    held.release()


def test_a_forked_child_cannot_give_up_the_name_of_its_parent(run_python: Any) -> None:
    result = run_python(
        """
        import os
        from proton.runtime.phase_files import claim

        held = claim("/a/run", lambda: None)
        child = os.fork()
        if child == 0:
            held.forget()
            os._exit(0)
        os.waitpid(child, 0)
        second = claim("/a/run", lambda: None)
        assert second.stem != "/a/run"
        second.release()
        held.release()
        """
    )
    assert result.returncode == 0, result.stderr


def test_the_lock_folder_is_ours_alone(lock_folder: Path) -> None:
    claim("/a/run", no_rank).release()
    assert stat.S_IMODE(lock_folder.stat().st_mode) == 0o700


def test_without_a_lock_folder_the_name_is_taken_on_trust(lock_folder: Path) -> None:
    lock_folder.write_text("a file in the way")
    held = claim("/a/run", no_rank)
    assert (held.stem, held.lock) == ("/a/run", None)
    held.release()


def test_variants_end_with_the_process_id() -> None:
    assert list(variants("run", 2)) == ["run.rank_2", f"run.pid_{os.getpid()}"]


def test_a_file_made_since_is_another_process_s(tmp_path: Path) -> None:
    path = tmp_path / "run.hatchet"
    path.write_text("")
    os.utime(path, ns=(2_000, 2_000))
    assert is_of_another(str(path), since_ns=1_000)
    assert not is_of_another(str(path), since_ns=3_000)


def test_a_missing_file_is_nobodys(tmp_path: Path) -> None:
    assert not is_of_another(str(tmp_path / "none"), since_ns=0)


def test_a_device_is_nobodys() -> None:
    assert not is_of_another("/dev/null", since_ns=0)
