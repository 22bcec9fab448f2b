"""Our private header of CUPTI against NVIDIA's own headers, of every version that is at hand.

Triton's wheel brings a set of headers, so one version is always checked; the long test downloads
more from the package index.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.native.fake_cuda.driver import find_compiler

ROOT = Path(__file__).parents[2]
# package, version of CUPTI, package and version with cuda.h
DOWNLOADS = [
    ("nvidia-cuda-cupti-cu12==12.6.80", "nvidia-cuda-runtime-cu12==12.6.77"),
    ("nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-runtime-cu12==12.8.90"),
    ("nvidia-cuda-cupti-cu12==12.9.79", "nvidia-cuda-runtime-cu12==12.9.79"),
    ("nvidia-cuda-cupti==13.0.85", "nvidia-cuda-runtime==13.0.96"),
    ("nvidia-cuda-cupti==13.1.115", "nvidia-cuda-runtime==13.1.80"),
    ("nvidia-cuda-cupti==13.2.86", "nvidia-cuda-runtime==13.2.86"),
    ("nvidia-cuda-cupti==13.3.75", "nvidia-cuda-runtime==13.3.29"),
    ("nvidia-cuda-cupti==13.4.92", "nvidia-cuda-runtime==13.4.92"),
]
# macro of abi_check.cpp -> the record type whose newest number it stands for
RECORDS = {
    "KERNEL_RECORD": "CUpti_ActivityKernel",
    "MEMCPY_RECORD": "CUpti_ActivityMemcpy",
    "MEMSET_RECORD": "CUpti_ActivityMemset",
    "UNIFIED_RECORD": "CUpti_ActivityUnifiedMemoryCounter",
}
# Runs on the host; a number that 13.1 and 13.2 name and later ones reserve; and the first versions
# of copies, which no program since CUDA 3 calls.
NOT_WATCHED = re.compile(r"cuLaunchHostFunc|cuGraphLaunchWithArguments|cuMemcpy_v2$")
LAST_OF_CUDA_3 = 100


def triton_headers() -> Path | None:
    """The headers inside the installed Triton."""
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "backends" / "nvidia" / "include"
    return folder if (folder / "cupti.h").exists() else None


def installed_headers() -> Iterator[list[Path]]:
    """Include folders of every complete set of headers in this environment."""
    triton = triton_headers()
    if triton is not None:
        yield [triton]
    for entry in map(Path, filter(None, sys.path)):
        for header in sorted(entry.glob("nvidia/*/include/cupti.h")):
            folders = [header.parent, *entry.glob("nvidia/cuda_runtime/include")]
            if any((folder / "cuda.h").exists() for folder in folders):
                yield [*folders, *filter(None, [triton])]
    for header in sorted(Path("/usr/local").glob("cuda*/extras/CUPTI/include/cupti.h")):
        yield [header.parent, header.parents[3] / "include"]


def newest_record(header: str, name: str) -> str:
    """The type of that name with the highest number."""
    numbers = [int(number) for number in re.findall(rf"\}}\s*{name}(\d+)\s*;", header)]
    return f"{name}{max(numbers)}"


def check_headers(folders: list[Path], tmp_path: Path) -> int:
    """Compile the check against these headers and run it; CUPTI's version number."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler to check the headers with")
    activity = (folders[0] / "cupti_activity.h").read_text(errors="replace")
    program = tmp_path / "abi_check"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            *(f"-D{macro}={newest_record(activity, name)}" for macro, name in RECORDS.items()),
            *(word for folder in folders for word in ("-isystem", str(folder))),
            f"-I{ROOT / 'src/native'}",
            f"-I{ROOT / 'tests/native'}",
            str(ROOT / "tests/native/backends/abi_check.cpp"),
            "-o",
            str(program),
        ],
        check=True,
        timeout=100,
    )
    output = subprocess.run([program], check=True, capture_output=True, text=True, timeout=10)
    watched: dict[str, set[int]] = {"version": set(), "launch": set(), "copy": set()}
    for line in output.stdout.splitlines():
        word, number = line.split()
        watched[word].add(int(number))
    check_callbacks(folders[0], watched["launch"], watched["copy"])
    return watched["version"].pop()


def check_callbacks(folder: Path, launches: set[int], copies: set[int]) -> None:
    """Every number we watch is a launch or a copy, and none of them is missing."""
    text = (folder / "cupti_driver_cbid.h").read_text(errors="replace")
    names = {
        int(number): name
        for name, number in re.findall(r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)", text)
    }
    wrong = [
        f"{number} is {names[number]}"
        for number in launches | copies
        if number in names
        and not re.match(
            "cu(Launch|GraphLaunch)" if number in launches else "cu(Memcpy|Memset|MemPrefetch)",
            names[number],
        )
    ]
    missing = [
        f"{number} ({name})"
        for number, name in names.items()
        if re.match(r"cu(Launch|GraphLaunch|Memcpy|Memset)", name)
        and number not in launches | copies
        and number > LAST_OF_CUDA_3
        and not NOT_WATCHED.match(name)
    ]
    assert not wrong, f"not launches or copies: {', '.join(wrong)}"
    assert not missing, f"launches or copies that are not watched: {', '.join(missing)}"


def test_the_headers_of_this_environment_agree_with_ours(tmp_path: Path) -> None:
    found = list(installed_headers())
    if not found:
        pytest.skip("no CUPTI headers: neither Triton nor NVIDIA's packages are installed")
    for folders in found:
        assert check_headers(folders, tmp_path) >= 24


def test_a_field_that_moved_is_named(tmp_path: Path) -> None:
    folder = triton_headers()
    if folder is None or find_compiler() is None:
        pytest.skip("needs Triton's headers and a C++ compiler")
    moved = tmp_path / "include"
    shutil.copytree(folder, moved)
    header = moved / "cupti_activity.h"
    text = header.read_text(errors="replace")
    end = re.search(r"\}\s*CUpti_ActivityGraphTrace2\s*;", text)
    assert end is not None
    start = text.rindex("uint32_t graphId", 0, end.start())
    header.write_text(text[:start] + "uint32_t stranger;\n  " + text[start:])
    command = [sys.executable, "-c", _CHECK, str(moved), str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert run.returncode != 0
    wanted = "ours::GraphRecord.graph_id is not where CUpti_ActivityGraphTrace2.graphId is"
    assert wanted in run.stderr


_CHECK = """
import sys
from pathlib import Path
from tests.integration.test_cupti_abi import check_headers
check_headers([Path(sys.argv[1])], Path(sys.argv[2]))
"""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cupti", "runtime"), DOWNLOADS)
def test_downloaded_headers_agree_with_ours(cupti: str, runtime: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", str(tmp_path)]
    got = subprocess.run([*command, cupti, runtime], capture_output=True, text=True, timeout=500)
    if got.returncode != 0:
        pytest.skip(f"cannot download {cupti} and {runtime}: {got.stderr[-300:]}")
    for wheel in tmp_path.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / wheel.stem)
    folders = [path.parent for path in tmp_path.glob("*/nvidia/*/include/cupti.h")]
    folders += [path.parent for path in tmp_path.glob("*/nvidia/*/include/cuda.h")]
    triton = triton_headers()  # for crt/host_defines.h, which the packages leave to nvcc's
    check_headers([*folders, *filter(None, [triton])], tmp_path)
