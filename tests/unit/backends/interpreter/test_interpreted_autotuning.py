# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton import _native
from proton.backends.interpreter import InterpreterBackend
from proton.errors import KernelError

pytestmark = pytest.mark.matrix


def _tuned(blocks: tuple[int, ...] = (16, 64), **options: Any) -> Any:
    @triton.autotune([triton.Config({"BLOCK": b}, num_warps=2) for b in blocks], ["n"], **options)
    @triton.jit
    def accumulate(x, dst, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(dst + i, tl.load(x + i, mask=i < n), mask=i < n)

    return accumulate


def _launch(kernel: Any, dst: Any, n: int = 64) -> None:
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](np.ones(n, np.float32), dst, n)


def test_each_configuration_runs_once_and_then_the_winner(sink: Any) -> None:
    _launch(_tuned(), np.zeros(64, np.float32))
    assert [launch.metrics["programs"] for launch in sink.launches[:2]] == [4, 1]
    assert len(sink.launches) == 3


def test_the_record_has_every_configuration_its_time_and_the_winner(sink: Any) -> None:
    with _native.Scope("layer"):
        _launch(_tuned(), np.zeros(64, np.float32))
    (record,) = sink.autotuned
    assert (record["kernel"], record["key"], record["path"]) == ("accumulate", [64], ["layer"])
    assert record["interpreted"] is True
    assert [config["kwargs"] for config in record["configs"]] == [{"BLOCK": 16}, {"BLOCK": 64}]
    assert {config["num_warps"] for config in record["configs"]} == {2}
    times = [config["time_ns"] for config in record["configs"]]
    assert record["winner"] == times.index(min(times))
    assert record["configs"][0]["config"].startswith("BLOCK: 16, num_warps: 2")


def test_trials_run_in_the_scope_frame_autotune(sink: Any) -> None:
    paths: list[list[str]] = []
    sink.on_kernel = lambda *args, **kwargs: paths.append(_native.context_path())
    with _native.Scope("layer"):
        _launch(_tuned(), np.zeros(64, np.float32))
    assert paths == [["layer", "<autotune>"], ["layer", "<autotune>"], ["layer"]]


def test_a_key_is_tuned_once(sink: Any) -> None:
    kernel = _tuned()
    for n in (64, 64, 32):
        _launch(kernel, np.zeros(64, np.float32), n)
    assert [record["key"] for record in sink.autotuned] == [[64], [32]]


def test_reset_to_zero_works_on_numpy_arrays(sink: Any) -> None:
    dst = np.full(64, 7, np.float32)
    _launch(_tuned(reset_to_zero=["dst"]), dst)
    assert (dst == 1).all()


def test_restore_value_works_on_numpy_arrays(sink: Any) -> None:
    dst = np.full(64, 7, np.float32)
    _launch(_tuned(restore_value=["dst"]), dst)
    assert (dst == 8).all()


def test_hooks_of_the_user_are_called_with_arguments_by_name(sink: Any) -> None:
    calls: list[tuple[str, Any]] = []
    kernel = _tuned(
        pre_hook=lambda kwargs, reset_only=False: calls.append(("pre", kwargs["BLOCK"])),
        post_hook=lambda kwargs, exception: calls.append(("post", exception)),
    )
    _launch(kernel, np.zeros(64, np.float32))
    assert calls[:4] == [("pre", 16), ("post", None), ("pre", 64), ("post", None)]


def test_configurations_are_pruned_before(sink: Any) -> None:
    def keep_large(configs: Any, named_args: Any, **kwargs: Any) -> Any:
        return [config for config in configs if config.kwargs["BLOCK"] >= 32]

    kernel = _tuned((16, 32, 64), prune_configs_by={"early_config_prune": keep_large})
    _launch(kernel, np.zeros(64, np.float32))
    (record,) = sink.autotuned
    assert [config["kwargs"]["BLOCK"] for config in record["configs"]] == [32, 64]


def test_a_configuration_that_fails_is_recorded_and_the_others_go_on(sink: Any) -> None:
    dst = np.zeros(64, np.float32)
    _launch(_tuned((3, 64), reset_to_zero=["dst"]), dst)  # arange wants powers of two
    (record,) = sink.autotuned
    failed, passed = record["configs"]
    assert failed["time_ns"] is None
    assert "kernel 'accumulate' failed" in failed["error"]
    assert "error" not in passed
    assert record["winner"] == 1
    assert (dst == 1).all()


def test_when_every_configuration_fails_the_launch_fails(sink: Any) -> None:
    with pytest.raises(KernelError):
        _launch(_tuned((3, 5)), np.zeros(64, np.float32))
    (record,) = sink.autotuned
    assert record["winner"] is None


def test_a_parameter_given_twice_is_an_error(sink: Any) -> None:
    kernel = _tuned()
    x = np.zeros(64, np.float32)
    with pytest.raises(ValueError, match="BLOCK"):
        kernel[(1,)](x, x, 64, BLOCK=64)


def test_one_configuration_needs_no_trial(sink: Any) -> None:
    _launch(_tuned((64,)), np.zeros(64, np.float32))
    assert len(sink.launches) == 1
    assert sink.autotuned == []


def test_choices_made_on_interpreted_times_are_forgotten_after_the_session(new_sink: Any) -> None:
    kernel = _tuned()
    backend = InterpreterBackend("")
    backend.start(new_sink())
    _launch(kernel, np.zeros(64, np.float32))
    assert kernel.cache
    backend.stop()
    assert not kernel.cache


def test_warmup_of_an_autotuned_kernel_runs_nothing(sink: Any) -> None:
    x = np.zeros(64, np.float32)
    _tuned().warmup(x, x, 64, grid=(1,))
    assert sink.launches == []
