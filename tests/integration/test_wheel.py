"""Wheels: that of the reading half is built and used; those that record are looked at, if built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import msgpack
import pytest

from tools import wheel as tool
from tools.wheel import (
    REQUIREMENTS,
    NativeBuild,
    build_pure,
    complaints,
    copy_sources,
    library_complaints,
)

ROOT = Path(__file__).parents[2]
RECORDING = sorted(ROOT.glob("dist/*-manylinux_*.whl"))  # where `make wheel` was run
PROFILE = ROOT / "tests" / "data" / "proton_trace.pftrace"
# What macOS and Windows do not have, one or the other.
ELSEWHERE = """
import os, signal, subprocess, sys
for name in ("fcntl", "termios", "pwd", "grp", "resource", "tty", "pty"):
    sys.modules[name] = None
for name in ("uname", "fork", "register_at_fork", "getuid", "geteuid", "fchmod", "chown",
             "sched_getaffinity", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY"):
    vars(os).pop(name, None)
for name in ("SIGHUP", "SIGUSR1", "SIGPIPE", "pthread_sigmask", "setitimer"):
    vars(signal).pop(name, None)
import proton
from proton.cli import main
if sys.argv[1] == "viewer":
    from proton.cli.viewer import main
    del sys.argv[1]
sys.exit(main(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(
    find_spec("scikit_build_core") is None, reason="needs what builds the package"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = copy_sources(tmp_path_factory.mktemp("source"))
    built = build_pure(sys.executable, source, tmp_path_factory.mktemp("dist"))
    assert built is not None
    return built


@pytest.fixture(scope="module")
def laptop(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel, msgpack and nothing else."""
    folder = tmp_path_factory.mktemp("laptop")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q"]
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    shutil.copytree(Path(msgpack.__file__).parent, packages / "msgpack")
    return python


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-I", *words], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_it_is_for_every_system_and_has_the_page_but_nothing_native(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".so", ".pyc"))]
    page = "proton/render/assets/page.html"
    assert (page in names) == (ROOT / "src" / page).exists()


def test_profiles_are_viewed_reported_and_converted_on_other_systems(
    laptop: Path, tmp_path: Path
) -> None:
    viewed = run(laptop, tmp_path, "-c", ELSEWHERE, "viewer", str(PROFILE))
    assert viewed.returncode == 0, viewed.stderr
    assert "add_100" in viewed.stdout
    output = str(tmp_path / "run.chrome_trace")
    converted = run(laptop, tmp_path, "-c", ELSEWHERE, "convert", str(PROFILE), output)
    assert converted.returncode == 0, converted.stderr
    reported = run(laptop, tmp_path, "-c", ELSEWHERE, "report", output, "-o", "page.html")
    has_page = (ROOT / "src/proton/render/assets/page.html").exists()
    assert reported.returncode == (0 if has_page else 1), reported.stderr


def test_a_file_that_is_not_there_is_one_line_on_other_systems(
    laptop: Path, tmp_path: Path
) -> None:
    failed = run(laptop, tmp_path, "-c", ELSEWHERE, "report", "absent.hatchet")
    assert failed.stderr.splitlines()[-1:] == ["proton: absent.hatchet: no such file"]


def test_recording_says_that_this_wheel_only_reads(laptop: Path, tmp_path: Path) -> None:
    failed = run(laptop, tmp_path, "-c", "import proton; proton.start('x')")
    assert "this wheel only reads profiles" in failed.stderr.splitlines()[-1]
    script = tmp_path / "script.py"
    script.write_text("pass")
    failed = run(laptop, tmp_path, "-m", "proton", str(script))
    assert failed.returncode == 1
    assert "this wheel only reads profiles" in failed.stderr


def test_a_wheel_that_needs_more_than_the_system_has_is_refused(
    wheel: Path, tmp_path: Path
) -> None:
    core = find_spec("proton._native")
    assert core is not None
    assert core.origin is not None
    found = library_complaints(Path(core.origin))
    assert "needs libstdc++.so.6" in found  # as g++ builds it
    copy = tmp_path / wheel.name
    shutil.copy(wheel, copy)
    with zipfile.ZipFile(copy, "a") as archive:
        archive.write(core.origin, "proton/_native.so")
    assert set(complaints(copy)) >= {f"proton/_native.so {text}" for text in found}


@pytest.mark.parametrize("built", RECORDING, ids=lambda path: path.name)
def test_a_wheel_that_records_needs_an_old_glibc_and_nothing_else(built: Path) -> None:
    assert complaints(built) == []
    names = zipfile.ZipFile(built).namelist()
    version = built.name.split("-")[2].removeprefix("cp")  # 312
    natives = [Path(name).name for name in names if name.endswith(".so")]
    assert sorted(name.split("-")[0] for name in natives) == [
        "_native.cpython",
        "libproton_nvtx.so",
    ]
    assert any(f"cpython-{version}-" in name for name in natives)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++, as building does")
def test_wheels_are_compiled_for_the_old_glibc_with_the_demangler_that_can_be_stopped(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(REQUIREMENTS, tmp_path / "tools" / "requirements.txt")  # as if it were installed
    assert NativeBuild(tmp_path, tmp_path, jobs=1).prepare()
    compiler = (tmp_path / "tools" / "zig-c++").read_text()
    assert "-linux-gnu.2.28 " in compiler
    archive = (tmp_path / "tools" / "libdemangler.a").read_bytes()
    assert b"__gcclibcxx_demangle_callback" in archive
    assert b"__cxa_throw" not in archive  # nothing else of that runtime


def test_a_python_that_is_not_there_is_skipped_aloud_and_a_failed_build_fails(
    wheel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def copy(python: str, source: Path, folder: Path) -> Path:
        return Path(shutil.copy(wheel, folder))

    monkeypatch.setattr(tool, "build_pure", copy)
    monkeypatch.setattr(tool, "copy_sources", lambda folder: folder)
    monkeypatch.setattr(tool, "complaints", lambda built: [])
    monkeypatch.setattr(tool, "try_wheel", lambda built, python: True)
    monkeypatch.setattr(NativeBuild, "prepare", lambda self: False)
    pythons = {"3.98": None, "3.99": Path("python3.99")}
    monkeypatch.setattr(tool, "find_python", pythons.get)
    assert tool.main(["--dist", str(tmp_path), "--python", "3.98"]) == 0
    captured = capsys.readouterr()
    assert "== Python 3.98: SKIPPED, there is none on this machine" in captured.out
    assert wheel.name in captured.out
    assert tool.main(["--dist", str(tmp_path), "--python", "3.99"]) == 1
    assert "the wheel for Python 3.99: could not be built" in capsys.readouterr().err
