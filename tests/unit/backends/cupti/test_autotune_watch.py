"""What is kept of Triton's autotuning on a GPU; the autotuner is a stand-in of the same shape."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

from proton import _native
from proton.backends.cupti.autotune_watch import AutotuneWatch, resources_of, shared_watch


class Function:
    """A jitted function: `run` launches and returns the compiled kernel."""

    def __init__(self) -> None:
        self.launches = 0
        self.paths: list[list[str]] = []

    def run(self, x: int, B: int) -> Any:
        self.launches += 1
        self.paths.append(_native.context_path())
        if B == 99:
            raise RuntimeError("out of resource: shared memory")
        return SimpleNamespace(n_regs=B, n_spills=0, metadata=SimpleNamespace(shared=16 * B))


class Autotuner:
    """As much of Triton's autotuner as the watch touches."""

    def __init__(self, *sizes: int) -> None:
        def kernel() -> None: ...

        self.base_fn, self.fn = kernel, Function()
        self.arg_names, self.keys = ["x"], ["x"]
        self.configs = [
            SimpleNamespace(kwargs={"B": size}, num_warps=4, num_stages=3) for size in sizes
        ]
        self.cache: dict[int, Any] = {}

    def run(self, x: int) -> Any:
        if x not in self.cache:
            timings = {id(c): self._bench(x, config=c) for c in self.configs}
            self.cache[x] = min(self.configs, key=lambda c: timings[id(c)])
        return self.fn.run(x, **self.cache[x].kwargs)

    def _bench(self, x: int, *, config: Any) -> list[float]:
        with contextlib.suppress(RuntimeError):
            for _ in range(3):
                self.fn.run(x, **config.kwargs)
            return [config.kwargs["B"] / 1000, 0.0, 1.0]
        return [float("inf")] * 3


@pytest.fixture
def kind() -> type[Autotuner]:
    """A class of one's own, as the watch changes it."""
    return type("Own", (Autotuner,), {n: vars(Autotuner)[n] for n in ("run", "_bench")})


def run_watched(kind: type[Autotuner], *sizes: int) -> tuple[Any, list[Any]]:
    watch, records = AutotuneWatch(kind), list[Any]()
    watch.add(records.append)
    autotuner = kind(*sizes)
    try:
        autotuner.run(7)
        autotuner.run(7)
    finally:
        watch.remove(records.append)
    return autotuner, records


def test_every_configuration_is_kept_with_its_time_and_what_it_needs(kind: type[Autotuner]) -> None:
    _, (record,) = run_watched(kind, 32, 16)
    assert record["winner"] == 1
    assert record["interpreted"] is False
    assert [each["time_ns"] for each in record["configs"]] == [32_000, 16_000]
    assert (
        record["configs"][0] | {"registers": 32, "spills": 0, "shared_bytes": 512}
        == (record["configs"][0])
    )


def test_a_configuration_that_cannot_run_says_why(kind: type[Autotuner]) -> None:
    _, (record,) = run_watched(kind, 99, 16)
    assert record["configs"][0]["time_ns"] is None
    assert record["configs"][0]["error"] == "RuntimeError: out of resource: shared memory"
    assert record["winner"] == 1


def test_benchmark_launches_stand_under_a_scope_of_their_own(kind: type[Autotuner]) -> None:
    autotuner, _ = run_watched(kind, 16, 32)
    assert autotuner.fn.paths == [["<autotune>"]] * 6 + [[]] * 2


def test_a_run_that_finds_its_choice_made_leaves_no_record(kind: type[Autotuner]) -> None:
    _, records = run_watched(kind, 16, 32)
    assert len(records) == 1


def test_nothing_stays_behind(kind: type[Autotuner]) -> None:
    before = dict(vars(kind))
    autotuner, _ = run_watched(kind, 16, 99)
    assert dict(vars(kind)) == before
    assert "run" not in vars(autotuner.fn)


def test_where_somebody_wrapped_ours_it_stays_and_passes_calls_through(
    kind: type[Autotuner],
) -> None:
    watch, records = AutotuneWatch(kind), list[Any]()
    watch.add(records.append)
    ours = kind.run
    kind.run = lambda self, x: ours(self, x)  # type: ignore[method-assign]
    watch.remove(records.append)
    assert kind(16, 32).run(7).n_regs == 16
    assert records == []


def test_a_kernel_that_tells_nothing_has_no_resources() -> None:
    assert resources_of(None) == {}


def test_the_watch_is_shared() -> None:
    pytest.importorskip("triton")
    assert shared_watch() is shared_watch()
