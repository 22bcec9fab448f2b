"""The environments' maker: which Triton it accepts, when it says that torch is left out."""

import sys
import venv as standard_venv
from pathlib import Path

import pytest

from tools import venv


@pytest.mark.parametrize("version", ["3.6.0", "3.9.1", "3.7.0+git1234"])
def test_supported_tritons_are_accepted(version: str) -> None:
    assert venv.is_supported_triton(version)


@pytest.mark.parametrize("version", [None, "3.5.1", "3.10.0", "4", "main"])
def test_other_tritons_are_refused(version: str | None) -> None:
    assert not venv.is_supported_triton(version)


def test_an_interpreter_is_asked_which_modules_it_has() -> None:
    found, _ = venv.probe(Path(sys.executable), ["json", "no_such_module_of_ours"])
    assert found == {"json"}


def test_an_interpreter_that_fails_has_nothing() -> None:
    assert venv.probe(Path("/bin/false"), ["json"]) == (set(), None)


def test_an_old_python_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(venv, "OLDEST_PYTHON", (99, 0))
    assert venv.main(["demo", str(tmp_path / "env")]) == 1
    assert "make PYTHON=" in capsys.readouterr().err
    assert not (tmp_path / "env").exists()


def test_torch_left_out_is_said_aloud(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(venv, "TORCH_PYTHON", (3, 99))
    monkeypatch.setattr(venv, "probe", lambda python, modules: (set(), None))
    venv.install_torch(tmp_path)
    assert "TORCH TESTS WILL BE SKIPPED: they need Python 3.99" in capsys.readouterr().out


def test_an_environment_that_is_there_is_kept_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("")
    (tmp_path / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    assert venv.create(tmp_path, system_packages=False)


def test_packages_of_the_environment_around_are_seen_from_inside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    outer.mkdir()
    (outer / "only_outside.py").write_text("")
    standard_venv.create(inner, with_pip=False, symlinks=True)
    monkeypatch.setattr("tools.venv.site.getsitepackages", lambda: [str(outer)])
    venv.see_outer_environment(inner)
    found, _ = venv.probe(inner / "bin" / "python", ["only_outside"])
    assert found == {"only_outside"}
