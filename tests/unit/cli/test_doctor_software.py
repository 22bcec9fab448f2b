"""Tests of the doctor's findings about software."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from proton.cli import doctor


def install(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    """Make these packages, and no others, look installed."""

    def version(package: str) -> str:
        if package not in versions:
            raise metadata.PackageNotFoundError(package)
        return versions[package]

    monkeypatch.setattr(metadata, "version", version)


def command(folder: Path, name: str, module: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/usr/bin/python\nfrom {module} import main\n")
    path.chmod(0o755)
    return path


def test_this_python_is_fine() -> None:
    (finding,) = doctor.python()
    assert not finding.is_problem


def test_a_python_that_is_too_old_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 0))
    (finding,) = doctor.python()
    assert finding.remedy == "use Python 3.11, 3.12 or 3.13"


def test_the_native_core_is_loaded() -> None:
    (finding,) = doctor.native_core()
    assert "_native" in finding.text
    assert not finding.is_problem


def test_a_native_core_that_does_not_load_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "proton._native", None)
    (finding,) = doctor.native_core()
    assert "cannot be loaded" in finding.text
    assert "pip install" in finding.remedy


@pytest.mark.parametrize("version", ["3.6.0", "3.9.1", "3.8.0+git123"])
def test_supported_versions_of_triton_are_fine(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, {"triton": version, "numpy": "2.0"})
    assert not any(finding.is_problem for finding in doctor.packages())


@pytest.mark.parametrize("version", ["3.5.1", "3.10.0", "2.1"])
def test_other_versions_of_triton_have_a_remedy(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, {"triton": version, "numpy": "2.0"})
    assert next(doctor.packages()).is_problem


def test_triton_without_numpy_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"triton": "3.6.0"})
    problems = [finding for finding in doctor.packages() if finding.is_problem]
    assert [finding.remedy for finding in problems] == ["run: pip install numpy"]


def test_without_triton_nothing_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {})
    assert not any(finding.is_problem for finding in doctor.packages())


def test_our_commands_are_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(tmp_path, "proton", "proton.cli")
    command(tmp_path, "proton-viewer", "proton.cli.viewer")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not any(finding.is_problem for finding in doctor.commands())


def test_commands_of_triton_that_come_first_are_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = command(tmp_path / "a", "proton", "triton.profiler.proton")
    ours = command(tmp_path / "b", "proton", "proton.cli")
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c")
    proton, viewer = doctor.commands()
    assert proton.text == f"{theirs} is Triton's; {ours} is ours"
    assert "'python -m proton' is always ours" in proton.remedy
    assert viewer.text.startswith("not on PATH")
    assert "'python -m proton.viewer' is always ours" in viewer.remedy


def test_a_command_of_nobody_we_know_is_said(tmp_path: Path) -> None:
    assert doctor.owner_of(str(command(tmp_path, "proton", "valve"))) == "of someone else"
    assert doctor.owner_of(str(tmp_path / "missing")) == "unreadable"


def test_a_command_that_is_installed_but_not_on_path_is_said_with_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = command(tmp_path, "proton", "proton.cli")
    monkeypatch.setenv("PATH", "/none")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    finding = next(doctor.commands())
    assert finding.text == f"not on PATH; {path} is ours"
    assert finding.remedy.startswith(f"add {tmp_path} to PATH; ")
