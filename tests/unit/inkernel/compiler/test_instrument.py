"""Recording switched on and off: twins of loaded kernels, chosen kernels, wrong calls."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.runtime.jit import MockTensor

import proton.language as pl
from proton import _triton
from proton.errors import UsageError
from proton.inkernel.compiler.compile_hook import KernelRecords, read_records
from proton.inkernel.compiler.instrument import begin, instrument, restore
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.modes.mode_table import MMA, Default, Ops
from tests.support.recording import absent_gpu, recording

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]


TENSORS = (MockTensor(tl.float32), MockTensor(tl.float32))


@triton.jit
def add(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    with pl.scope("load"):
        v = tl.load(x + i)
    tl.store(y + i, v + 1)


@triton.jit
def scale(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * 2)


@pytest.fixture(autouse=True)
def _compiles_for_an_absent_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    with absent_gpu():
        yield
    for kernel in (add, scale):
        kernel.device_caches.clear()


def _ready(kernel: Any) -> Any:
    """The kernel that a launch would run now."""
    return kernel.warmup(*TENSORS, BLOCK=128, grid=(1,))


def _records(kernel: Any) -> KernelRecords | None:
    return read_records(_ready(kernel).metadata)


def _mode(kernel: Any) -> str:
    """The mode that a launch would record it in."""
    with choice.launching(kernel):
        return str(chosen.mode) if (chosen := choice.current()) else ""


def test_a_loaded_kernel_gets_a_twin_and_is_itself_again_afterwards() -> None:
    plain = _ready(add)
    with recording("ops"):
        twin = _ready(add)
        assert _ready(add) is twin, "compiled once"
        assert read_records(twin.metadata) is not None
    assert _ready(add) is plain, "nothing is compiled again"
    with recording("ops"):
        assert _ready(add) is twin
    with recording("cta"):
        assert _ready(add) not in (plain, twin)


def test_sessions_of_one_mode_share_recording_and_the_last_one_ends_it() -> None:
    first = begin(Ops(), warn=print)
    second = begin(Ops(), warn=print)
    first.end()
    first.end()
    assert _records(add) is not None
    second.end()
    assert _records(add) is None


def test_kernels_are_plain_while_all_sessions_pause_and_nothing_is_compiled_again() -> None:
    first = begin(Ops(), warn=print)
    second = begin(Ops(), warn=print)
    twin = _ready(add)
    first.pause()
    assert _ready(add) is twin, "the second wants records"
    second.pause()
    assert _records(add) is None
    assert choice.is_on
    first.resume()
    assert _ready(add) is twin
    first.end()
    assert _records(add) is None, "the second still pauses"
    third = begin(Ops(), warn=print)
    assert _ready(add) is twin
    third.end()
    second.end()
    second.resume()
    assert not choice.is_on


def test_a_kernel_whose_compilation_a_session_ends_under_is_what_its_key_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It once stayed under the wrong key: plain where records are asked for, or the reverse."""
    handle = begin(Ops(), warn=print)
    next_ones = [handle.pause, handle.resume]
    with monkeypatch.context() as patch:
        patch.setattr(add, "pre_run_hooks", [lambda *_, **__: next_ones.pop(0)()])
        twin, plain = _ready(add), _ready(add)
    assert next_ones == []
    assert read_records(twin.metadata) is not None
    assert read_records(plain.metadata) is None
    assert _ready(add) is twin
    handle.end()
    assert _records(add) is None


def test_what_cannot_be_installed_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no such class")

    plain = _ready(add)
    monkeypatch.setattr(_triton, "autotuner_class", fail)
    with pytest.raises(RuntimeError, match="no such class"):
        begin(Ops(), warn=print)
    assert not choice.is_on
    assert _ready(add) is plain


def test_two_modes_at_once_are_refused_by_name() -> None:
    with recording("ops"):
        with pytest.raises(UsageError, match=r"recorded in mode 'ops' already .* mode 'mma:buffer"):
            begin(MMA(buffer_type="global"), warn=print)  # type: ignore[arg-type]
        assert _records(add) is not None
    with recording("mma"):
        pass


def test_one_kernel_may_have_a_mode_of_its_own() -> None:
    assert instrument(add, mode="ops") is add
    assert _records(add) is None, "no session records"
    with recording("default"):
        first, second = _records(add), _records(scale)
        restore(add)
        third = _records(add)
    assert first is not None
    assert first.mode == "ops"
    assert second is None, "it names no scope"
    assert third is not None
    assert third.mode == "default"
    assert _records(add) is None


def test_all_kernels_may_have_one_mode() -> None:
    instrument(mode="cta")
    instrument(add, "ops")
    with recording("default"):
        modes = [(_records(kernel) or pytest.fail("plain")).mode for kernel in (add, scale)]
    restore()
    assert modes == ["ops", "cta"]
    with recording("default"):
        assert _records(scale) is None


def test_a_decorator_with_a_mode_chooses_the_kernel_below_it_alone() -> None:
    assert instrument(mode="ops")(add) is add
    with recording("cta"):
        assert _mode(add) == "ops"
        assert _mode(scale) == "cta", "no other kernel is in the decorator's mode"
    instrument(mode="mma")  # chosen for every kernel before: it stays so
    instrument(mode="loops")(add)
    with recording("cta"):
        assert (_mode(add), _mode(scale)) == ("loops", "mma")
    restore()


def test_a_decorator_above_what_is_no_kernel_chooses_nothing() -> None:
    with pytest.raises(UsageError, match="is no kernel"):
        instrument(mode="ops")(print)
    with pytest.raises(UsageError, match="nothing to restore"):
        restore()


def test_threads_may_launch_kernels_in_different_modes_at_once() -> None:
    instrument(add, "ops")
    found: dict[str, list[str]] = {"add": [], "scale": []}

    def launch(kernel: Any, name: str) -> None:
        for _ in range(20):
            records = _records(kernel)
            found[name].append(records.mode if records else "plain")

    with recording("cta"):
        _ready(add), _ready(scale)
        threads = [
            threading.Thread(target=launch, args=(kernel, name))
            for kernel, name in ((add, "add"), (scale, "scale"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    restore(add)
    assert found == {"add": ["ops"] * 20, "scale": ["cta"] * 20}


def test_an_autotuner_stands_for_its_kernel_and_its_trials_stay_plain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[bool] = []
    configs = [triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})]
    tuned = triton.autotune(configs=configs, key=[])(add)
    monkeypatch.setattr(
        type(tuned), "_bench", lambda self, *args, **kwargs: tried.append(choice.current() is None)
    )
    instrument(tuned, "ops")
    with recording("default"):
        tuned._bench()
        assert tried == [True]
        kernels = tuned.warmup(*TENSORS, grid=(1,))
        found = [read_records(kernel.metadata) for kernel in kernels]
    restore(add)
    assert [records and records.mode for records in found] == ["ops", "ops"]
    tuned._bench()
    assert tried == [True, True]


@pytest.mark.parametrize("call", [instrument, restore])
@pytest.mark.parametrize(
    "thing", [3, "ops", print, object()], ids=["number", "text", "function", "object"]
)
def test_what_is_no_kernel_is_refused(call: Any, thing: object) -> None:
    with pytest.raises(UsageError, match=r"is no kernel; pass what @triton\.jit or @gluon\.jit"):
        call(thing)


def test_a_mode_in_the_place_of_a_kernel_is_pointed_out() -> None:
    with pytest.raises(UsageError, match=r"'ops' is no kernel; .*a mode is given as mode='ops'"):
        instrument("ops")


def test_an_interpreted_kernel_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    interpreted = triton.jit(scale.fn)
    with pytest.raises(UsageError, match="an interpreted kernel has no machine code"):
        instrument(interpreted)


def test_what_was_never_instrumented_cannot_be_restored() -> None:
    with pytest.raises(ValueError, match=r"JITFunction\(.*scale\) is not instrumented"):
        restore(scale)
    with pytest.raises(ValueError, match="no kernel is instrumented; there is nothing to restore"):
        restore()


def test_an_unknown_mode_leaves_the_kernel_unharmed() -> None:
    with pytest.raises(UsageError, match="unknown mode 'heat'; choose one of"):
        instrument(add, mode="heat")
    with pytest.raises(UsageError, match="is not instrumented"):
        restore(add)


def test_a_warning_is_said_once_and_again_for_kernels_out_of_the_cache() -> None:
    def launch() -> list[str]:
        with recording("ops:sampling_strategy=selective:sampling_options=31") as warnings:
            _ready(add), _ready(add)
            add.device_caches.clear()
            _ready(add)
        return warnings

    first = launch()
    assert len(first) == 1
    assert "sampling_options names unit 31" in first[0]
    add.device_caches.clear()
    assert launch() == first


def test_recording_may_begin_before_triton_is_imported(tmp_path: Path) -> None:
    script = """
import sys
from proton.inkernel.compiler.instrument import begin
from proton.inkernel.modes.mode_table import Default
handle = begin(Default(), warn=print)
assert "triton" not in sys.modules
import triton
hook = triton.knobs.runtime.add_stages_inspection_hook
assert "proton" in type(hook).__module__
handle.end()
assert triton.knobs.runtime.add_stages_inspection_hook is None
handle = begin(Default(), warn=print)
handle.end()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60, cwd=tmp_path)


def test_a_triton_that_is_not_known_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_triton, "version", lambda: "4.0.0")
    with recording("ops") as warnings:
        assert triton.knobs.runtime.add_stages_inspection_hook is None
        assert _records(add) is None
    (warning,) = warnings
    assert warning.startswith("kernels are not recorded: this is Triton 4.0.0")


def test_everything_of_tritons_is_back_in_its_place() -> None:
    from triton._C import libtriton
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    def places() -> list[object]:
        return [
            vars(JITFunction)["run"],
            vars(Autotuner)["_bench"],
            libtriton.ir.parse_mlir_module,
            triton.knobs.runtime.add_stages_inspection_hook,
            triton.compiler.compiler.get_cache_key,
            vars(type(triton.knobs.compilation))["instrumentation_mode"],
        ]

    before = places()
    with recording("ops"):
        assert places() != before
    assert places() == before
    assert choice.current() is None
    assert Default().names == ("default",)
