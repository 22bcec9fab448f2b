"""Our private header of NVTX against NVIDIA's own headers, and a program built with those.

torch's wheels bring a set of headers; the long test downloads more from the package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton.runtime import nvtx
from tests.native.fake_cuda.driver import find_compiler

ROOT = Path(__file__).parents[2]
DOWNLOADS = ["nvidia-nvtx-cu12==12.1.105", "nvidia-nvtx-cu12==12.9.79", "nvidia-nvtx==13.4.92"]


def installed_headers() -> Iterator[Path]:
    """Include folders of every set of headers in this environment."""
    for entry in map(Path, filter(None, sys.path)):
        for header in sorted(entry.glob("nvidia/*/include/nvtx3/nvToolsExt.h")):
            yield header.parents[1]
    for header in sorted(Path("/usr/local").glob("cuda*/include/nvtx3/nvToolsExt.h")):
        yield header.parents[1]


def check_headers(folder: Path, tmp_path: Path) -> None:
    """Compile the check against these headers; the program then finds our library through NVTX."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler to check the headers with")
    program = tmp_path / "abi_check"
    command = [compiler, "-std=c++20", "-isystem", str(folder), f"-I{ROOT / 'src/native'}"]
    source = ROOT / "tests/native/nvtx/abi_check.cpp"
    subprocess.run([*command, str(source), "-o", str(program), "-ldl"], check=True, timeout=100)
    for path, code in ((nvtx._PATH, 0), ("/nowhere/lib.so", 1)):
        environment = {**os.environ, nvtx.VARIABLE: path}
        done = subprocess.run([program], env=environment, timeout=10, check=False)
        assert done.returncode == code, path


def test_our_header_agrees_with_the_headers_at_hand(tmp_path: Path) -> None:
    folders = list(installed_headers())
    if not folders:
        pytest.skip("no NVTX headers here; the long test downloads some")
    for folder in folders:
        check_headers(folder, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("package", DOWNLOADS)
def test_our_header_agrees_with_headers_of_other_versions(package: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path)]
    done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot download {package}: {done.stderr.strip().splitlines()[-1]}")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (header,) = tmp_path.glob("nvidia/*/include/nvtx3/nvToolsExt.h")
    check_headers(header.parents[1], tmp_path)
