"""What torch.compile runs to choose kernels: torch is the real one, its GPU a stand-in."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import proton
from proton import _native, _torch
from proton._import_watch import ImportWatch
from proton.backends.cupti.inductor_watch import InductorWatch, inductor_watch

BENCHMARKING, HEURISTICS = _torch.AUTOTUNING_MODULES


@pytest.fixture
def seen() -> Iterator[list[list[str]]]:
    """Paths that candidates ran in; a session is active, as scopes count in one only."""
    session = _native.Session(0, context="shadow", data="tree")
    session.activate()
    yield []
    session.close()


@pytest.fixture
def watch() -> Iterator[Callable[[], tuple[InductorWatch, list[str]]]]:
    """Makes a watch that listens, and gives what it warned of."""
    made: list[tuple[InductorWatch, Callable[[str], None]]] = []

    def make() -> tuple[InductorWatch, list[str]]:
        warnings: list[str] = []
        own = InductorWatch()
        made.append((own, warnings.append))
        own.add(made[-1][1])
        return own, warnings

    yield make
    for own, warn in made:
        own.remove(warn)


def _note(seen: list[list[str]]) -> Callable[..., float]:
    def run(*args: object, **kwargs: object) -> float:
        seen.append(_native.context_path())
        return 1.0

    return run


@pytest.fixture
def benchmarker(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A benchmarker of torch's on a GPU that is none: what would time a candidate runs it once."""
    benchmarking = pytest.importorskip(BENCHMARKING)
    standing_in = property(lambda self: lambda fn, **options: fn() or 1.0)
    monkeypatch.setattr(benchmarking.TritonBenchmarker, "triton_do_bench", standing_in)
    return benchmarking.TritonBenchmarker()


@pytest.mark.torch
def test_benchmarkers_of_torch_run_candidates_below_the_frame(
    seen: list[list[str]], watch: Any, benchmarker: Any
) -> None:
    run = _note(seen)
    before = inspect.signature(benchmarker.benchmark_gpu)
    plain = vars(type(benchmarker))["benchmark_gpu"]
    own, warnings = watch()
    assert warnings == []
    with _native.Scope("step"):
        assert benchmarker.benchmark_gpu(run) == 1.0
        benchmarker.benchmark(run, (), {}, device="cuda")  # calls the other
        run()
    assert seen == [["step", "<autotune>"], ["step", "<autotune>"], ["step"]]
    assert inspect.signature(benchmarker.benchmark_gpu) == before
    own.remove(own._recording[0])
    assert vars(type(benchmarker))["benchmark_gpu"] is plain
    benchmarker.benchmark_gpu(run)
    assert seen[-1] == []


class Launcher:
    """A compiled candidate; it launches when it is called."""

    n_spills = 0
    config = SimpleNamespace(num_warps=4, num_stages=2, kwargs={})

    def __init__(self, seen: list[list[str]]) -> None:
        self.run = _note(seen)

    def __call__(self, *args: object, stream: int) -> None:
        self.run()


@pytest.mark.torch
def test_triton_kernels_of_torch_are_tried_below_the_frame_and_run_outside_it(
    seen: list[list[str]], watch: Any, benchmarker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heuristics = pytest.importorskip(HEURISTICS)
    monkeypatch.setattr(heuristics, "benchmarker", benchmarker)
    tuner = heuristics.CachingAutotuner.__new__(heuristics.CachingAutotuner)
    vars(tuner).update(
        launchers=[Launcher(seen), Launcher(seen)],
        custom_kernel=True,
        inductor_meta={},
        compile_id=None,
        is_backward=False,
        fn=SimpleNamespace(__name__="triton_poi_0"),
        device_props=SimpleNamespace(type="cuda"),
        coordesc_tuner=SimpleNamespace(cache_benchmark_result=lambda config, ms: None),
        get_device_interface=lambda: SimpleNamespace(
            get_raw_stream=lambda device: 0, current_device=lambda: 0
        ),
        copy_args_to_cpu_if_needed=lambda *args: {},
        maybe_clone_args=lambda copies, *args: (args, {}),
        restore_args_from_cpu=lambda copies: None,
        reset_to_zero_args=lambda *args: _note(seen)(),  # launches fills
        _close_static_launcher=lambda launcher: None,
    )
    _, warnings = watch()
    assert warnings == []
    with _native.Scope("step"):
        timings = tuner.benchmark_all_configs("x")
        tuner.launchers[0]("x", stream=0)
    assert list(timings.values()) == [1.0, 1.0]
    assert seen == [["step", "<autotune>"]] * 5 + [["step"]]


def _fake(name: str, monkeypatch: pytest.MonkeyPatch, **names: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_a_torch_of_another_layout_breaks_nothing_and_one_line_says_so(
    seen: list[list[str]], watch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Benchmarker:
        def lazy_benchmark(self, fn: Callable[[], float]) -> float:
            return fn()

    _fake(BENCHMARKING, monkeypatch, Benchmarker=Benchmarker)
    _fake(HEURISTICS, monkeypatch, AnotherAutotuner=object)
    monkeypatch.setattr(_torch, "version", lambda: "9.9")
    own, warnings = watch()
    text = "what torch.compile runs to choose kernels is not told apart from the program: torch "
    text += "9.9 has no "
    assert warnings == [
        f"{text}{BENCHMARKING}.Benchmarker.benchmark_gpu",
        f"{text}{HEURISTICS}.CachingAutotuner.bench",
    ]
    Benchmarker().lazy_benchmark(_note(seen))
    assert seen == [[]]
    later: list[str] = []
    own.add(later.append)
    assert later == warnings
    own.remove(later.append)


def test_an_older_torch_has_fewer_methods(
    seen: list[list[str]], watch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Benchmarker:
        def benchmark_gpu(self, fn: Callable[[], float]) -> float:
            return fn()

    class OwnBenchmarker(Benchmarker):
        def benchmark_gpu(self, fn: Callable[[], float]) -> float:
            return super().benchmark_gpu(fn)

    class CachingAutotuner:
        def bench(self, fn: Callable[[], float]) -> float:
            if fn is None:
                raise RuntimeError("out of registers")
            return fn()

    _fake(BENCHMARKING, monkeypatch, Benchmarker=Benchmarker, Own=OwnBenchmarker, one=3)
    _fake(HEURISTICS, monkeypatch, CachingAutotuner=CachingAutotuner)
    _, warnings = watch()
    OwnBenchmarker().benchmark_gpu(_note(seen))
    with pytest.raises(RuntimeError, match="out of registers"):
        CachingAutotuner().bench(None)  # type: ignore[arg-type]
    CachingAutotuner().bench(_note(seen))
    assert (seen, warnings) == ([["<autotune>"], ["<autotune>"]], [])


def _waited_for() -> list[str]:
    watches = [each for each in sys.meta_path if isinstance(each, ImportWatch)]
    return sorted(each._name for each in watches if each._name in _torch.AUTOTUNING_MODULES)


def test_torch_is_waited_for_and_not_imported(watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (BENCHMARKING, HEURISTICS):
        monkeypatch.delitem(sys.modules, name, raising=False)
    own, warnings = watch()
    assert BENCHMARKING not in sys.modules
    assert _waited_for() == [BENCHMARKING, HEURISTICS]
    own.remove(own._recording[0])
    assert _waited_for() == []
    assert warnings == []


def test_a_session_has_what_torch_compile_tries_below_the_frame(
    fake_driver: Any, tmp_cwd: Any, profile_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Benchmarker:
        def benchmark_gpu(self, fn: Callable[[], object]) -> object:
            fake_driver.memset(64, 5)
            return fn()

    _fake(BENCHMARKING, monkeypatch, Benchmarker=Benchmarker)
    session = proton.start("run", backend="cupti")
    with proton.scope("step"):
        Benchmarker().benchmark_gpu(lambda: fake_driver.launch("triton_poi_0", 100))
        fake_driver.launch("triton_poi_0", 7)
    proton.finalize(session)
    assert sorted(profile_of("run.hatchet").paths()) == [
        "step",
        "step/<autotune>",
        "step/<autotune>/<memset>",
        "step/<autotune>/triton_poi_0",
        "step/triton_poi_0",
    ]
    assert inductor_watch._recording == []
