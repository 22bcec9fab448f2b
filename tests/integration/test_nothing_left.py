"""What a process keeps of sessions that have ended: nothing that its launches would have to pay."""

# LoadedKernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl

import proton
import proton.language as pl
from proton import _native
from proton.backends.cupti import backend as cupti_backend
from proton.backends.cupti.hub import DetachTimer
from proton.backends.instrumentation import backend
from proton.backends.instrumentation.launch_path import LaunchPath
from proton.backends.instrumentation.loaded_kernels import ProbeCost
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.fake_launches import fake_launches

torch = pytest.importorskip("torch")


@triton.jit
def double(x_ptr, B: tl.constexpr):
    at = tl.arange(0, B)
    with pl.scope("all"):
        tl.store(x_ptr + at, 2 * tl.load(x_ptr + at))


@pytest.fixture
def launches(fake_driver: FakeDriver, tmp_cwd: Path, monkeypatch: Any) -> Iterator[Any]:
    """Triton on the fake driver; what a record costs is known."""
    fresh = LaunchPath()
    fresh.kernels._cost_of = lambda records: ProbeCost(20.0, 1.0)
    monkeypatch.setattr(backend, "launches", fresh)
    with fake_launches(fake_driver) as active:
        yield active


def launch() -> None:
    double[(1,)](torch.zeros(64), B=64)


def places() -> dict[str, Any]:
    """Where a session stands in Python and in Triton while it is open."""
    from triton.compiler import compiler
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    runtime = triton.knobs.runtime
    return {
        "launch": JITFunction.run,
        "launch metadata": compiler.CompiledKernel.launch_metadata,
        "loading": vars(compiler.CompiledKernel)["_init_handles"],
        "launcher": vars(compiler.CompiledKernel)["run"],
        "trials": Autotuner._bench,
        "cache keys": compiler.get_cache_key,
        "passes": runtime.add_stages_inspection_hook,
        "mode": vars(type(triton.knobs.compilation))["instrumentation_mode"],
        "enter hooks": list(runtime.launch_enter_hook.calls),
        "exit hooks": list(runtime.launch_exit_hook.calls),
        "load hooks": list(runtime.kernel_load_end_hook.calls),
        "imports": list(sys.meta_path),
        "trace": (sys.gettrace(), sys.getprofile()),
    }


@pytest.mark.parametrize(
    "backends",
    [("cupti",), ("instrumentation",), ("cupti", "instrumentation")],
    ids="+".join,
)
def test_a_process_whose_sessions_have_ended_is_as_it_was(
    launches: Any,
    fake_driver: FakeDriver,
    backends: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # as in a process of its own: after many sessions it waits before it lets go
    monkeypatch.setattr(cupti_backend, "_detach_timer", DetachTimer(_native.Cupti.detach))
    # of tests before this one: while they live, CUPTI must keep the ids of their nodes
    has_graphs = _native.Cupti.is_loaded() and not _native.Cupti.detach()
    finalized = fake_driver.counter("cuptiFinalize")
    launch()
    before = places()
    for _ in range(2):
        for name in backends:
            session = proton.start("run", backend=name, hook="triton")
        with proton.scope("step"):
            launch()
        proton.finalize(session)
    after = places()
    assert after == before
    for counter in ("is_subscribed", "enabled_callbacks", "enabled_kinds"):
        assert fake_driver.counter(counter) == 0, counter
    if "cupti" in backends and not has_graphs:
        assert fake_driver.counter("cuptiFinalize") > finalized, "CUPTI stays in the way"
    callbacks = fake_driver.counter("callbacks")
    launch()
    assert fake_driver.counter("callbacks") == callbacks
