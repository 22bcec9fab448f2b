"""Profiles that cannot be written where they belong, in processes of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest


def rescued(text: str) -> Path:
    """The fallback file that an error names."""
    found = re.search(r"it was written to '(.*)' instead", text)
    assert found is not None, text
    return Path(found.group(1))


def scopes(path: Path) -> list[str]:
    return [child["frame"]["name"] for child in json.loads(path.read_text())[0]["children"]]


RECORD = """
import proton
proton.start({name!r})
with proton.scope("kept"):
    pass
"""


def test_a_profile_is_written_at_exit_without_finalize(run_python: Any, tmp_path: Path) -> None:
    result = run_python(RECORD.format(name="run"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert scopes(tmp_path / "run.hatchet") == ["kept"]


def test_a_profile_is_written_when_the_program_fails(run_python: Any, tmp_path: Path) -> None:
    result = run_python(RECORD.format(name="run") + "raise SystemExit(3)\n")
    assert result.returncode == 3
    assert scopes(tmp_path / "run.hatchet") == ["kept"]


def test_at_exit_the_error_is_one_line_and_the_profile_rescued(
    run_python: Any, tmp_path: Path
) -> None:
    program = RECORD.format(name="gone/run") + "import os\nos.rmdir('gone')\n"
    result = run_python(program, env={"TMPDIR": str(tmp_path)})
    assert result.returncode == 0
    assert result.stderr.count("\n") == 1
    assert "gone/run.hatchet: cannot write the profile: " in result.stderr
    assert scopes(rescued(result.stderr)) == ["kept"]


def test_a_missing_folder_is_made_and_home_is_expanded(run_python: Any, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    result = run_python(RECORD.format(name="~/runs/today/run.hatchet"), env=home)
    assert (result.returncode, result.stderr) == (0, "")
    assert scopes(tmp_path / "runs" / "today" / "run.hatchet") == ["kept"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("script.py/run", "Not a directory"),
        ("/proc/none/run", "No such file or directory"),
        ("/proc/run", "No such file or directory"),
        ("folder", "Is a directory"),
    ],
)
def test_a_name_that_cannot_be_written_fails_the_start(
    run_python: Any, tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "folder.hatchet").mkdir()
    result = run_python(RECORD.format(name=name) + "print('it ran')\n")
    assert (result.returncode, result.stdout) == (1, "")
    error = result.stderr.splitlines()[-1]
    assert f"{name}.hatchet: the profile could not be written here: {reason}; give" in error


def test_a_full_disk_in_mid_write_leaves_no_half_file(run_python: Any, tmp_path: Path) -> None:
    # a limit on the size of files is the disk that a test can fill
    result = run_python(
        """
        import resource
        import proton
        from proton.errors import WriteError

        proton.start("run")
        for n in range(3000):
            with proton.scope(f"scope{n}"):
                pass
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        try:
            proton.finalize()
        except WriteError as error:
            assert error.rescued_to is None
            print(error)
        else:
            raise AssertionError("it was written")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        import os
        print(sorted(os.listdir(".")))
        proton.finalize()
        """,
        env={"TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr
    assert "run.hatchet: cannot write the profile: File too large; no fallback" in result.stdout
    listed = result.stdout.splitlines()[-1]
    assert "hatchet" not in listed, listed
    assert len(scopes(tmp_path / "run.hatchet")) == 3000


def test_a_broken_pipe_on_standard_output_keeps_the_profile(
    run_python: Any, tmp_path: Path
) -> None:
    result = run_python(
        """
        import os, sys
        import proton
        from proton.errors import WriteError

        read, write = os.pipe()
        os.close(read)
        sys.stdout = os.fdopen(write, "w")
        proton.start("-")
        for n in range(10_000):
            with proton.scope(f"scope{n}"):
                pass
        try:
            proton.finalize()
        except WriteError as error:
            print(error, file=sys.stderr)
        os._exit(0)
        """,
        env={"TMPDIR": str(tmp_path)},
    )
    assert "<stdout>: cannot write the profile: Broken pipe" in result.stderr
    assert len(scopes(rescued(result.stderr))) == 10_000


def test_standard_output_gets_the_profile(run_python: Any) -> None:
    result = run_python(RECORD.format(name="-") + "proton.finalize()\n")
    assert json.loads(result.stdout)[0]["children"][0]["frame"]["name"] == "kept"


def test_an_environment_that_cannot_be_read_is_one_clear_error(run_python: Any) -> None:
    result = run_python(RECORD.format(name="run"), env={"TRITON_PROFILE_BUFFER_SIZE": "64MB"})
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].endswith(
        "environment variable TRITON_PROFILE_BUFFER_SIZE='64MB' cannot be read; "
        "give a whole number of bytes above 0"
    )


def test_nothing_captured_is_told_at_exit(run_python: Any) -> None:
    result = run_python("import proton\nproton.start('run')\n")
    assert "session 'run' captured nothing: no kernel was launched" in result.stderr
