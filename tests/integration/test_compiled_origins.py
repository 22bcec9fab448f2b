"""Kernels of torch.compile lead to lines of the program, on cold and on warm caches.

Inductor compiles for the CPU here; the fake driver launches kernels of the names that it gave.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import proton
from proton.analysis.origins.line_times import kernel_times
from proton.analysis.prepare import prepare
from proton.cli.viewer import main as viewer
from proton.files.detect import open_profile
from proton.model.origins import KernelOrigins, OriginLine
from proton.runtime.origins.watch import origins_watch
from tests.native.fake_cuda.driver import FakeDriver

MODEL = """\
import sys
from pathlib import Path

import torch

import proton
from tests.native.fake_cuda.driver import FakeDriver


def forward(x, weight):
    y = torch.mm(x, weight)
    y = torch.relu(y)
    z = y * 2
    return z.sin().sum()


def main(name, folder):
    driver = FakeDriver(Path(folder))
    session = proton.start(name, backend="cupti")
    x, weight = torch.ones(8, 16), torch.ones(16, 16, requires_grad=True)
    torch.compile(forward)(x, weight).backward()
    from torch._inductor.codecache import PyCodeCache

    for module in PyCodeCache.modules:
        for kernel in vars(module):
            if kernel.startswith("cpp_fused"):
                driver.launch(kernel, 600)
    proton.finalize(session)


main(*sys.argv[1:])
"""
_ROOT = Path(__file__).parents[2]


def _record(name: str, folder: Path, driver: FakeDriver, driver_folder: Path) -> None:
    subprocess.run(
        [sys.executable, "model.py", name, str(driver_folder)],
        cwd=folder,
        check=True,
        timeout=100,
        env={
            **os.environ,
            **driver.environment,
            "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")]),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        },
    )


def _lines(origins: KernelOrigins) -> list[tuple[str, int]]:
    return [(os.path.basename(line.file), line.line) for line in origins.lines]


@pytest.mark.torch
@pytest.mark.timeout(240)
def test_lines_are_known_on_a_cold_and_on_a_warm_cache(
    tmp_path: Path,
    fake_driver: FakeDriver,
    fake_driver_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "model.py").write_text(MODEL)
    _record("cold", tmp_path, fake_driver, fake_driver_folder)
    _record("warm", tmp_path, fake_driver, fake_driver_folder)
    cold, warm = (open_profile(tmp_path / f"{name}.hatchet") for name in ("cold", "warm"))
    assert not cold.warnings
    by_direction = {each.lines[0].is_backward: each for each in cold.origins}
    assert _lines(by_direction[False]) == [("model.py", 12), ("model.py", 13), ("model.py", 14)]
    assert [line.ops for line in by_direction[False].lines][:2] == [("aten.relu",), ("aten.mul",)]
    assert ("model.py", 12) in _lines(by_direction[True])
    assert not any(each.is_partial for each in cold.origins)
    assert warm.origins == cold.origins
    capsys.readouterr()
    assert viewer(["--origins", str(tmp_path / "warm.hatchet")]) == 0
    shown = capsys.readouterr().out
    assert "lines are known for 1.20 us of 1.20 us of GPU time (100.0%)" in shown
    assert "model.py:12 in forward  400 ns  divided        2  aten.relu" in shown


LINE = OriginLine("model.py", 9, "forward", ("aten.relu",), ("relu",))
WRAPPER = f"/cache/ab/cab{'z' * 49}.py"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor as it is once it has loaded a generated file with two kernels and a call."""
    names = ("fused_0", "never_1", "extern_kernels.mm")
    kernels = [KernelOrigins(name, WRAPPER, 0, (LINE,)) for name in names[:2]]
    kernels.append(KernelOrigins(names[2], WRAPPER, 2, (LINE,)))
    module = ModuleType("torch._inductor.codecache")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(origins_watch, "_known", {WRAPPER: kernels})
    monkeypatch.setattr(origins_watch, "add", lambda warn: None)  # there is nothing to wrap


@pytest.mark.usefixtures("loaded", "tmp_cwd")
@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_file_has_the_origins_of_what_was_recorded(fake_driver: FakeDriver, data: str) -> None:
    session = proton.start("run", backend="cupti", data=data)
    fake_driver.launch("fused_0", 10)
    proton.finalize(session)
    (path,) = Path().glob("run.*")
    (origins,) = open_profile(path).origins
    assert (origins.kernel, [*origins.lines]) == ("fused_0", [LINE])


@pytest.mark.usefixtures("loaded", "tmp_cwd")
def test_kernels_of_libraries_get_the_line_of_their_call(fake_driver: FakeDriver) -> None:
    code = compile("def call(launch):\n    launch('sm90_gemm', 10)\n", WRAPPER, "exec")
    wrapper: dict[str, Any] = {}
    exec(code, wrapper)
    session = proton.start("run", backend="cupti", context="python")
    wrapper["call"](fake_driver.launch)
    proton.finalize(session)
    (kernel,) = kernel_times(prepare(open_profile("run.hatchet")))
    assert (kernel.kernel, kernel.found.lines) == ("sm90_gemm", (LINE,))


@pytest.mark.usefixtures("loaded", "tmp_cwd")
def test_phases_have_origins_each_and_together(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    for _ in range(2):
        fake_driver.launch("fused_0", 10)
        proton.data.advance_phase(session)
    proton.finalize(session)
    assert [each.kernel for each in open_profile("run.part_0.hatchet").origins] == ["fused_0"]
