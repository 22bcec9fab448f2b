"""The kernel of known regions, compiled by Triton and run on the fake driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import proton
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.calibration import KERNEL
from proton.backends.instrumentation.launch_path import launches
from proton.files.detect import open_profile
from tests.native.fake_cuda.driver import FakeDriver

triton = pytest.importorskip("triton")


def test_a_passage_of_it_is_what_a_record_costs(
    fake_driver: FakeDriver, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proton.backends.instrumentation.calibration_kernel import ARGUMENTS, chosen_kernel
    from proton.inkernel.modes.mode_table import parse_instrumentation
    from tests.support.fake_launches import STEP_CYCLES, fake_launches

    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_cwd / "cache"))
    monkeypatch.setattr(calibration, "_known", {})
    monkeypatch.setattr(launches, "kernels", type(launches.kernels)(calibration.cost_of))
    session = proton.start("run", backend="instrumentation", mode="cta")
    proton.start("run", backend="cupti")
    with (
        fake_launches(fake_driver),
        chosen_kernel(parse_instrumentation("default:buffer_type=global")) as kernel,
        proton.scope("layer"),
    ):
        kernel[(2,)](*ARGUMENTS, num_warps=4)  # its own cost is measured in a session apart
    proton.finalize(session)
    (cost,) = calibration.read_costs(calibration.cache_file()).values()
    assert (cost.cycles, cost.empty_cycles) == (STEP_CYCLES, STEP_CYCLES)
    profile = open_profile("run.hatchet")
    (entry,) = profile.in_kernel
    assert (entry.launches, entry.record_cycles) == (1, STEP_CYCLES)
    layer = json.loads(Path("run.hatchet").read_bytes())[0]["children"][0]
    counts = [(each["frame"]["name"], each["metrics"]["count"]) for each in layer["children"]]
    assert counts == [(KERNEL, 1)], "the launches that measure are in nobody's profile"


def test_it_is_not_run_into_a_graph_that_the_program_captures(
    fake_driver: FakeDriver,
    tmp_cwd: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from proton.backends.instrumentation.calibration_kernel import ARGUMENTS, chosen_kernel
    from proton.inkernel.modes.mode_table import parse_instrumentation
    from tests.support.fake_launches import fake_launches

    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_cwd / "cache"))
    monkeypatch.setattr(calibration, "_known", {})
    monkeypatch.setattr(launches, "kernels", type(launches.kernels)(calibration.cost_of))
    stream = fake_driver.stream()
    session = proton.start("run", backend="instrumentation", mode="cta")
    with (
        fake_launches(fake_driver) as active,
        chosen_kernel(parse_instrumentation("default:buffer_size=4096")) as kernel,
    ):
        active.stream = stream
        fake_driver.calls.fake_capture_begin(stream)
        kernel[(2,)](*ARGUMENTS, num_warps=4)
        graph = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
        fake_driver.replay(graph)
    proton.finalize(session)
    assert "a graph is being captured; launch a kernel before that" in caplog.text
    assert calibration.read_costs(calibration.cache_file()) == {}
    (entry,) = open_profile("run.hatchet").in_kernel
    assert (entry.launches, entry.record_cycles) == (1, 0)
