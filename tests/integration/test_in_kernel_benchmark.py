"""The benchmarks of in-kernel recording, as far as they go without a GPU: kernels compute what
torch does, compile with the regions they should have, and samples become the right figures.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """A module of the benchmarks, or of the GPU tests, by name."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "gpu"))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module


@pytest.fixture
def compiled_regions() -> Callable[..., list[str]]:
    """Compile a source for sm_90 with its regions recorded; their names."""
    import triton
    from triton.backends.compiler import GPUTarget

    from proton.inkernel.compiler.compile_hook import read_records
    from proton.inkernel.compiler.instrument import begin
    from proton.inkernel.modes.mode_table import parse_instrumentation

    def compile_it(source: Any, **options: int) -> list[str]:
        said: list[str] = []
        handle = begin(parse_instrumentation("default"), warn=said.append)
        try:
            kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
        finally:
            handle.end()
        records = read_records(kernel.metadata)
        assert records is not None, said
        assert kernel.asm["cubin"]
        return [region["name"] for region in records.record_map["regions"]]

    return compile_it


@needs_triton
@needs_torch
@pytest.mark.torch
def test_the_kernels_compute_what_torch_computes() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "in_kernel.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "persistent_matmul" in done.stdout


@needs_triton
def test_each_of_the_ten_kernels_has_one_region(
    benchmark_module: Any, compiled_regions: Any
) -> None:
    work = benchmark_module("in_kernel_work")
    assert len(work.TEN) == 10
    found = {
        name: compiled_regions(work.source(name), **case.options)
        for name, case in work.CASES.items()
    }
    assert {name: len(regions) for name, regions in found.items() if name in work.TEN} == (
        dict.fromkeys(work.TEN, 1)
    )
    assert set(found["recorded_matmul"]) == {"loop", "dot"}


@needs_triton
def test_every_known_duration_compiles_in_a_region(
    benchmark_module: Any, compiled_regions: Any
) -> None:
    from triton.compiler import ASTSource

    kernels = benchmark_module("accuracy_kernels")
    parts = benchmark_module("accuracy_suite").PARTS
    for code in sorted({part.code for part in parts.values()}):
        arguments = {"start": "i64", "sink_ptr": "*i64", "count": "i32", "turns": "i32"}
        constants = {"NAME": code, "PART": getattr(kernels, code).value, "THREADS": 32}
        signature = arguments | dict.fromkeys(constants, "constexpr")
        source = ASTSource(kernels.recorded, signature, constants)
        assert compiled_regions(source, num_warps=1) == [code]


@pytest.fixture
def fake_gpu(
    fake_driver: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    """Triton on the fake driver, and a torch whose GPU is the host; a record costs 20 cycles."""
    torch: Any = import_module("torch")
    from proton.backends.instrumentation import backend
    from proton.backends.instrumentation.launch_path import LaunchPath
    from proton.backends.instrumentation.loaded_kernels import ProbeCost
    from tests.support.fake_launches import fake_launches

    fresh = LaunchPath()
    fresh.kernels._cost_of = lambda records: ProbeCost(20.0, 20.0, 1.0)
    monkeypatch.setattr(backend, "launches", fresh)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    for name in ("zeros", "randn", "empty", "randperm"):
        made = getattr(torch, name)
        on_host = lambda *a, made=made, device=None, **k: made(*a, **k)  # noqa: E731
        monkeypatch.setattr(torch, name, on_host)
    with fake_launches(fake_driver):
        yield monkeypatch


@needs_triton
@needs_torch
@pytest.mark.torch
def test_truth_and_records_of_a_region_are_brought_together(
    benchmark_module: Any, fake_gpu: pytest.MonkeyPatch
) -> None:
    suite = benchmark_module("accuracy_suite")
    fake_gpu.setattr(suite, "RINGS", dict.fromkeys(suite.RINGS, 32))
    (found,) = suite.Suite(["8 asynchronous copies, as an event"]).measure(launches=2)
    assert (found.truth, found.measured) == (0.0, 180.0)  # the fake computes nothing
    assert (found.error, found.allowed) == (180.0, 15.0)


@needs_triton
@needs_torch
@pytest.mark.torch
def test_a_row_is_measured_with_and_without_records(
    benchmark_module: Any, fake_gpu: pytest.MonkeyPatch
) -> None:
    process = benchmark_module("in_kernel_process")
    fake_gpu.setattr(process, "WALL_CALLS", 3)
    found = process.measure(["none", "scope"], ["wall"], 1)
    assert found["failed"] == {}
    (cycle,) = found["samples"]["wall"]
    assert 0 < cycle["none"] < cycle["scope"]


def test_samples_become_figures(benchmark_module: Any) -> None:
    in_kernel = benchmark_module("in_kernel")
    samples = in_kernel.Samples()
    slow = {"softmax": 1.21}
    process = {
        row: [{"none": 2.0, "scope": 2.0 * slow.get(row, 1.0), "cta": 2.0, "memory": 5.0}]
        for row in in_kernel.TEN
    }
    process["wall"] = [{"none": 10.0, "scope": 45.0}]
    process["back_to_back"] = [{"none": 0.0, "scope": 18.0}]
    process["recorded_matmul"] = [{"none": 1.0, "records": 1.04}]
    samples.processes.append(process)
    results = {each.figure: each for each in in_kernel.results_of(samples, {})}
    geomean = results["ten kernels, one scope each: geomean"]
    assert geomean.estimate.median == pytest.approx(1.21**0.1)
    worst = results["ten kernels, one scope each: worst"]
    assert (worst.note, worst.is_met) == ("softmax", False)
    assert results["wall time added to a launch, profile written"].estimate.median == 35.0
    assert results["a record, back to back"].is_met
    assert results["attention, heat map"].estimate.median == 2.5
    assert results["ten kernels, mode cta: worst"].is_met


def test_options_that_mean_nothing_are_refused(
    benchmark_module: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        benchmark_module("in_kernel").make_parser().parse_args(["--rows", "sort"])
    assert "persistent_matmul" in capsys.readouterr().err
