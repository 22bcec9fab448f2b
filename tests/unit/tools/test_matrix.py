"""The matrix: its rows, and what it says of a Python that is not there."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import matrix


def test_the_running_version_of_python_is_found() -> None:
    version = "{}.{}".format(*sys.version_info[:2])
    if matrix.find_python(version) is None:
        pytest.skip(f"no python{version} on the PATH or in pyenv")
    assert matrix.find_python("2.99") is None


def test_every_triton_is_a_row_and_the_pythons_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pythons = {"3.12": Path("python3.12"), "3.13": None}
    monkeypatch.setattr(matrix, "find_python", pythons.get)
    rows, missing = matrix.plan(["3.7.1", "3.9.0"], ["3.12", "3.13"])
    assert [row.title for row in rows] == ["Python 3.12", "Triton 3.7.1", "Triton 3.9.0"]
    assert missing == ["3.13"]
    assert len({row.folder for row in rows}) == 3
    assert [row.options for row in rows] == [("-p", "tests.support.reached"), (), ()]


def test_a_failed_row_fails_the_matrix_and_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrix.Matrix, "run", lambda self, row: row.triton != "3.8.0")
    assert matrix.main(["--triton", "3.7.1", "3.8.0"]) == 1
    assert capsys.readouterr().err == "make: failed with Triton 3.8.0\n"


def test_a_python_that_is_not_there_is_said_aloud(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrix, "find_python", lambda version: None)
    assert matrix.main(["--python", "3.13"]) == 0
    assert "Python 3.13: SKIPPED" in capsys.readouterr().out


def test_one_wheel_serves_all_rows_of_one_interpreter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built: list[str] = []

    def build(python: str, folder: Path) -> Path:
        built.append(python)
        return folder / "proton.whl"

    def run(command: list[str], cwd: Path) -> SimpleNamespace:
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(matrix, "build_wheel", build)
    monkeypatch.setattr("tools.matrix.subprocess.run", run)
    monkeypatch.setattr(matrix, "run_aloud", lambda command: (0, []))
    monkeypatch.setattr(matrix, "ROOT", tmp_path)
    rows, _ = matrix.plan(["3.7.1", "3.8.0"], [])
    rows.append(matrix.Row("Python 3.12", Path("python3.12"), "3.6.0", "matrix"))
    runner = matrix.Matrix(jobs=1)
    assert [runner.run(row) for row in rows] == [True, True, True]
    assert built == [sys.executable, str(tmp_path / ".venv-python-3.12" / "bin" / "python")]


def test_the_end_of_the_log_says_what_failed_in_which_row(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = "FAILED tests/test_a.py::test_b", "SKIPPED [1] tests/test_c.py: no torch", ".....F.."
    program = f"import sys; print({chr(10).join(lines)!r}); sys.exit(1)"
    status, kept = matrix.run_aloud([sys.executable, "-c", program])
    assert (status, kept) == (1, ["FAILED tests/test_a.py::test_b"])
    assert capfd.readouterr().out.splitlines() == list(lines)

    def fail(self: matrix.Matrix, row: matrix.Row) -> bool:
        self.said[row.title] = kept
        return False

    monkeypatch.setattr(matrix.Matrix, "run", fail)
    assert matrix.main(["--triton", "3.7.1"]) == 1
    said = capfd.readouterr().out.splitlines()
    assert said == ["== Triton 3.7.1 failed:", "FAILED tests/test_a.py::test_b"]
