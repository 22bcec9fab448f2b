"""Reading needs no native core: a package without it still opens and shows profiles."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import proton

RECORDING = Path(__file__).parent.parent / "data" / "gpt.hatchet"


@pytest.fixture(scope="module")
def package_without_core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pure")
    for source in proton.__path__:  # an editable install has two
        shutil.copytree(
            source,
            folder / "proton",
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("*.so", "__pycache__"),
        )
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # -S leaves out editable finders, which would lead back to the whole package.
    paths = [str(folder), *(path for path in sys.path if path.endswith("site-packages"))]
    return subprocess.run(
        [sys.executable, "-S", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_viewer_shows_a_profile_without_the_native_core(package_without_core: Path) -> None:
    shown = run(package_without_core, "-m", "proton.viewer", str(RECORDING))
    assert shown.returncode == 0, shown.stderr
    assert "flash_fwd" in shown.stdout


def test_without_the_native_core_symbols_stay_as_recorded_and_one_line_says_so(
    package_without_core: Path,
) -> None:
    symbols = ["_Z3addIiEvPT_", "_Z3mulIfEvPT_"]
    children = [
        {"frame": {"name": name}, "metrics": {"time (ns)": 1, "count": 1}} for name in symbols
    ]
    path = package_without_core / "cpp.hatchet"
    path.write_text(json.dumps([{"frame": {"name": "ROOT"}, "children": children}, {}]))
    shown = run(package_without_core, "-m", "proton.viewer", str(path))
    assert shown.returncode == 0, shown.stderr
    assert all(symbol in shown.stdout for symbol in symbols)
    (line,) = shown.stderr.splitlines()
    assert "C++ symbols are shown as recorded: the native core of proton is not installed" in line


def test_recording_without_the_native_core_names_it_and_the_remedy(
    package_without_core: Path,
) -> None:
    failed = run(package_without_core, "-c", "import proton; proton.start('x')")
    assert failed.returncode == 1
    last = failed.stderr.splitlines()[-1]
    assert "native core" in last
    assert "reinstall" in last


def test_the_command_says_in_one_line_that_the_core_is_missing(package_without_core: Path) -> None:
    script = package_without_core / "script.py"
    script.write_text("print('ran')\n")
    failed = run(package_without_core, "-m", "proton", str(script))
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stderr.startswith("proton: ")


def test_writing_pftrace_without_the_native_core_says_what_to_do_and_writes_nothing(
    package_without_core: Path,
) -> None:
    trace = RECORDING.with_name("proton_trace.chrome_trace")
    failed = run(package_without_core, "-m", "proton", "convert", str(trace), "out.pftrace")
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        "proton: writing .pftrace needs the native core of proton, which is not installed; install "
        "a wheel that has it (pip install --force-reinstall proton-profiler), or write a "
        ".chrome_trace"
    ]
    assert not (package_without_core / "out.pftrace").exists()
    written = run(package_without_core, "-m", "proton", "convert", str(trace), "out.chrome_trace")
    assert written.returncode == 0, written.stderr


def test_doctor_reports_the_missing_core_as_a_problem(package_without_core: Path) -> None:
    report = run(package_without_core, "-m", "proton", "doctor")
    assert report.returncode == 1
    assert any("native core" in line and "problem" in line for line in report.stdout.splitlines())


def test_pages_are_made_and_shown_without_the_native_core(package_without_core: Path) -> None:
    page = package_without_core / "proton" / "render" / "assets" / "page.html"
    page.write_text("<p><!--proton-data--></p>")  # whether it was built or not
    written = run(package_without_core, "-m", "proton", "report", str(RECORDING), "-o", "page.html")
    assert written.returncode == 0, written.stderr
    assert (package_without_core / "page.html").exists()
    program = (
        "import proton\n"
        "from proton.render.server import browser\n"
        "browser.has_browser = lambda: False\n"
        f"proton.show({str(RECORDING)!r})"
    )
    shown = run(package_without_core, "-c", program)
    assert shown.returncode == 0, shown.stderr
    path = shown.stdout.split("the page is ")[1].split(";")[0]
    assert Path(path).stat().st_size > 1000
    Path(path).unlink()
