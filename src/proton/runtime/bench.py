"""Benchmarks by kernel time: `do_bench` and `do_bench_cudagraph`, with the arguments Triton's have.

A session of its own, without a file, sees what the function launches: the figure is what kernels
took, without copies and memsets and without what the host does between launches. Every run has a
phase of its own there, and so has the clearing of the cache before it. Open sessions see the work
as any other, and nothing else.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from proton import _native, _torch, _triton
from proton._triton.launch import cache_clearer
from proton.backends.common.base import FLUSH_LIMIT_S, Backend, make_backend
from proton.backends.default_backend import choose_backend
from proton.errors import BackendUnavailable, UsageError
from proton.runtime.environment import is_disabled, read_knobs

Times = float | list[float]

_MODES: dict[str, Callable[[list[float]], Times]] = {
    "min": min,
    "max": max,
    "mean": statistics.fmean,
    "median": statistics.median,
    "all": lambda times: times,
}
_TRIED = 5  # runs that tell how many there is time for
_REPLAYS = 10
_KEPT_RUNS = 512  # between two flushes
_GPU = "cupti"


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Times:
    """How long the kernels of one call of `fn` take, in milliseconds.

    On an NVIDIA GPU the cache is cleared before each run, by what Triton clears it with. Without
    a GPU interpreted kernels are timed (`TRITON_INTERPRET=1`).

    Args:
        fn: What to run; its result is dropped.
        warmup: Milliseconds to run it for before it is measured.
        rep: Milliseconds to measure it for; at least one run.
        grad_to_none: Tensors whose `grad` is set to None before each run.
        quantiles: What to return in place of `return_mode`: a list of these, or the one number.
        return_mode: `"mean"`, `"median"`, `"min"`, `"max"`, or `"all"` for a list of all runs.

    Raises:
        UsageError: `fn` launches no kernel that the backend sees, or an argument has no meaning.
        BackendUnavailable: this machine cannot time kernels; or events of them were lost.

    Example:
        >>> proton.testing.do_bench(lambda: add[grid](x, y, out, n), quantiles=[0.5, 0.2, 0.8])
    """
    _check(quantiles, return_mode)
    tensors = list(grad_to_none or ())
    with _KernelClock() as clock:
        fn()
        clock.flush()
        clear = clock.cache_clearer()
        each_ms = _wall_ms(lambda: _repeat(fn, _TRIED, clear), clock) / _TRIED
        _repeat(fn, max(1, int(warmup / each_ms)), lambda: None)

        def forget() -> None:
            for tensor in tensors:
                tensor.grad = None
            clear()

        times = clock.measure(fn, max(1, int(rep / each_ms)), before=forget)
    return _summarize(times, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], object],
    rep: float = 20,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Times:
    """The same for calls of `fn` that are captured into a CUDA graph, which is replayed ten times.

    A replay runs `fn` as often as `rep` milliseconds allow; each replay is one figure, for one
    call. The cache is not cleared between calls. Needs torch, and an NVIDIA GPU.

    Args:
        fn: What to capture.
        rep: Milliseconds that a replay shall take; at least one call.
        grad_to_none: Tensors whose `grad` is set to None before each call.
        quantiles: As in `do_bench`.
        return_mode: As in `do_bench`.

    Raises:
        UsageError: `fn` launches no kernel, or an argument has no meaning.
        BackendUnavailable: there is no GPU or torch is not imported; or events were lost.
    """
    _check(quantiles, return_mode)
    tensors = list(grad_to_none or ())
    with _KernelClock(needs_gpu="do_bench_cudagraph captures CUDA graphs") as clock:
        if not _torch.is_imported():
            raise BackendUnavailable(
                _GPU, reason="torch, which captures the graph, is not imported", remedy="import it"
            )

        def call() -> None:
            for tensor in tensors:
                tensor.grad = None
            fn()

        with _torch.side_stream():
            fn()
            for tensor in tensors:
                tensor.detach_()
                tensor.requires_grad_(True)
                tensor.grad = None
            clock.flush()
            each_ms = _wall_ms(lambda: _repeat(fn, _TRIED, lambda: None), clock) / _TRIED
            calls = max(1, int(rep / each_ms))
            replay = _torch.capture_graph(lambda: _repeat(call, calls, lambda: None))
            times = [time / calls for time in clock.measure(replay, _REPLAYS)]
    return _summarize(times, quantiles, return_mode)


class _KernelClock:
    """A session of its own that says what kernels took, run by run; a context manager."""

    def __init__(self, needs_gpu: str = "") -> None:
        if is_disabled():
            raise UsageError(
                "TRITON_PROTON_DISABLE is set, and benchmarks take their times from proton; "
                "unset it"
            )
        knobs = read_knobs()
        chosen = choose_backend(knobs)
        self._name = chosen.name
        if needs_gpu and self._name != _GPU:
            remedy = "use do_bench, which times interpreted kernels too"
            raise BackendUnavailable(
                _GPU, reason=f"{needs_gpu}, and {chosen.reason}", remedy=remedy
            )
        self._why = chosen.reason
        self._remedy = (
            "launch a Triton kernel in it"
            if knobs.interprets
            else "set TRITON_INTERPRET=1 to have kernels interpreted"
        )
        mode = "copies=off" if self._name == _GPU else ""
        self._backend: Backend = make_backend(self._name, mode, knobs)
        self._session = _native.Session(-1, context="shadow", data="tree")

    def __enter__(self) -> _KernelClock:
        self._backend.start(self._session)
        self._session.activate()
        return self

    def __exit__(self, *error: object) -> None:
        self._backend.stop()
        self._session.close()

    def flush(self) -> None:
        """Return once all that was launched is done and booked."""
        self._backend.flush(FLUSH_LIMIT_S)

    def cache_clearer(self) -> Callable[[], None]:
        """What clears the cache of the GPU; nothing where kernels are interpreted."""
        if self._name != _GPU or not _triton.is_installed():
            return lambda: None
        return cache_clearer()

    def measure(
        self, fn: Callable[[], object], runs: int, before: Callable[[], None] = lambda: None
    ) -> list[float]:
        """Milliseconds of kernel time in each of `runs` calls; `before` each one is not counted."""
        times: list[float] = []
        while len(times) < runs:
            phases = []
            for _ in range(min(_KEPT_RUNS, runs - len(times))):
                self._session.advance_phase()
                before()
                phases.append(self._session.advance_phase())
                fn()
            self._session.advance_phase()
            self.flush()
            times += [self._kernel_ns(phase) / 1e6 for phase in phases]
            for phase in range(phases[0] - 1, phases[-1] + 1):
                self._session.clear_phase(phase)
        self._check_complete(times)
        return times

    def _kernel_ns(self, phase: int) -> int:
        if not self._session.has_phase(phase):
            return 0
        root = json.loads(self._session.serialize("hatchet", phase, {}))[0]
        total, pending = 0, [root]
        while pending:
            node = pending.pop()
            metrics = node["metrics"]
            if "device_type" in metrics:
                total += metrics.get("time (ns)", 0)
            pending += node["children"]
        return total

    def _check_complete(self, times: list[float]) -> None:
        if losses := self._session.losses:
            lost = ", ".join(f"{kind} {count}" for kind, count in losses.items())
            raise BackendUnavailable(
                self._name,
                reason=f"not all kernels of the benchmark could be timed ({lost})",
                remedy="; ".join([*self._session.warnings, "run it alone on the GPU"]),
            )
        if not any(times):
            hint = "" if self._name == _GPU else f" ({self._why}); {self._remedy}"
            raise UsageError(
                f"the function launches no kernel that backend {self._name!r} can time{hint}"
            )


def _repeat(fn: Callable[[], object], runs: int, before: Callable[[], None]) -> None:
    for _ in range(runs):
        before()
        fn()


def _wall_ms(work: Callable[[], None], clock: _KernelClock) -> float:
    """What the work takes until the GPU is done with it; never nothing."""
    start_ns = time.monotonic_ns()
    work()
    clock.flush()
    return max(1, time.monotonic_ns() - start_ns) / 1e6


def _check(quantiles: Sequence[float] | None, return_mode: str) -> None:
    if return_mode not in _MODES:
        raise UsageError.unknown("return_mode", return_mode, choices=_MODES)
    for quantile in quantiles or ():
        if not 0 <= quantile <= 1:
            raise UsageError(f"quantile {quantile!r} is out of range; give numbers from 0 to 1")


def _summarize(times: list[float], quantiles: Sequence[float] | None, return_mode: str) -> Times:
    if quantiles is None:
        return _MODES[return_mode](times)
    found = [_quantile(sorted(times), each) for each in quantiles]
    return found[0] if len(found) == 1 else found


def _quantile(times: list[float], quantile: float) -> float:
    """Between the two nearest of the sorted times, in proportion."""
    place = quantile * (len(times) - 1)
    below = int(place)
    above = min(below + 1, len(times) - 1)
    return times[below] + (times[above] - times[below]) * (place - below)
