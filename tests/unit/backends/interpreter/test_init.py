# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter import InterpreterBackend
from proton.backends.interpreter.interpreted_launch import FinishedLaunch
from proton.errors import BackendUnavailable, UsageError

pytestmark = pytest.mark.matrix


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def launch() -> np.ndarray[Any, Any]:
    x = np.ones(100, np.float32)
    double[(2,)](x, 100, BLOCK=64)
    return x


def test_a_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="no mode 'fast'"):
        InterpreterBackend("fast")


def test_a_launch_is_one_event_of_device_cpu_0(sink: Any) -> None:
    assert launch().sum() == 200
    (event,) = sink.launches
    assert (event.name, event.device) == ("double", ("CPU", 0))
    assert event.start_ns < event.end_ns


def test_the_device_is_described_once_and_only_when_a_kernel_ran(sink: Any) -> None:
    assert sink.devices == []
    launch()
    launch()
    ((kind, index, attributes),) = sink.devices
    assert (kind, index, attributes["arch"]) == ("CPU", 0, "interpreter")


def test_an_inactive_session_gets_no_event_but_kernels_run(sink: Any) -> None:
    sink.is_active = False
    assert launch().sum() == 200
    assert sink.launches == []


def test_each_active_session_gets_the_launch(sink: Any, new_sink: Any) -> None:
    other = new_sink()
    backend = InterpreterBackend("")
    backend.start(other)
    try:
        launch()
    finally:
        backend.stop()
    launch()
    assert (len(sink.launches), len(other.launches)) == (2, 1)


def test_counts_fill_flops_and_bytes_where_metadata_gives_none(sink: Any) -> None:
    launch()
    assert sink.metrics["flops"] == float(sink.metrics["counted_flops"]) == 128.0
    assert sink.metrics["bytes"] == sink.metrics["counted_bytes"] == 800


def test_flops_of_launch_metadata_stand_for_a_session_that_uses_it(sink: Any) -> None:
    sink.uses_launch_metadata = True
    backend = InterpreterBackend("")
    backend._sink = sink
    counts = {"counted_flops": 5, "counted_bytes": 6}
    backend.on_launch(FinishedLaunch("k", 0, 1, counts, frozenset({"flops16"})))
    assert "flops" not in sink.metrics
    assert sink.metrics["bytes"] == 6
    backend.on_launch(FinishedLaunch("k", 0, 1, counts, frozenset({"bytes"})))
    assert sink.metrics["flops"] == 5.0
    assert "bytes" not in sink.metrics


def test_stopping_gives_kernels_back_to_triton(sink: Any) -> None:
    run = vars(triton.JITFunction)["run"]
    other = InterpreterBackend("")
    other.start(sink)
    other.stop()
    assert vars(triton.JITFunction)["run"] is run  # the fixture's backend still interprets


def test_nothing_of_triton_stays_replaced_after_the_last_stop(new_sink: Any) -> None:
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.interpreter import InterpretedFunction

    owners = (triton.JITFunction, InterpretedFunction, Autotuner, triton, tl, tl.core, tl.tensor)
    before = [dict(vars(owner)) for owner in owners]
    backend = InterpreterBackend("")
    backend.start(new_sink())
    launch()
    backend.stop()
    assert [dict(vars(owner)) for owner in owners] == before


def test_stopping_twice_is_harmless(new_sink: Any) -> None:
    backend = InterpreterBackend("")
    backend.start(new_sink())
    backend.stop()
    backend.stop()


def test_a_failed_launch_is_counted_as_a_loss(sink: Any) -> None:
    with pytest.raises(RuntimeError):
        double[(1,)](np.ones(4, np.float32), None, BLOCK=4)
    assert sink.losses == {"failed_kernel": 1}
    assert sink.launches == []


def test_a_session_may_start_before_triton_is_imported(
    run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "kernels.py").write_text(
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef zero(x, BLOCK: tl.constexpr):\n"
        "    tl.store(x + tl.arange(0, BLOCK), 0.0)\n"
    )
    result = run_python(
        """
        import sys
        import proton
        proton.start("run")
        assert "triton" not in sys.modules and "numpy" not in sys.modules
        from kernels import zero
        import numpy
        x = numpy.ones(8, numpy.float32)
        zero[(1,)](x, BLOCK=8)
        assert x.sum() == 0
        proton.finalize()
        """
    )
    assert result.returncode == 0, result.stderr
    assert '"zero"' in (tmp_path / "run.hatchet").read_text()


def test_a_program_without_triton_never_imports_it(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = run_python(
        """
        import sys
        import proton
        proton.start("run")
        with proton.scope("a"):
            pass
        proton.finalize()
        print(sorted({"triton", "torch", "numpy"} & set(sys.modules)))
        """
    )
    assert (result.returncode, result.stdout) == (0, "[]\n"), result.stderr


def test_a_triton_with_another_interpreter_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, new_sink: Any
) -> None:
    from proton.backends.interpreter import engine

    def fail() -> None:
        raise AttributeError("no attribute '_patch_lang_core'")

    monkeypatch.setattr(engine, "shared_engine", fail)
    with pytest.raises(AttributeError):
        InterpreterBackend("").start(new_sink())
    monkeypatch.setattr(triton, "__version__", "3.12.0")
    with pytest.raises(BackendUnavailable, match=r"Triton 3\.12\.0 .* use Triton 3\.6 to 3\.9"):
        InterpreterBackend("").start(new_sink())


def test_without_numpy_the_error_names_the_extra(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import triton
        import proton
        try:
            proton.start("run")
        except proton.errors.BackendUnavailable as error:
            print(error)
        """
    )
    assert "pip install 'proton-profiler[interpreter]'" in result.stdout, result.stderr
    assert sys.executable  # the interpreter of the test itself is left alone
