"""Triton kernels on a real GPU: names and metrics of launch metadata, autotuning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proton

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


def test_triton_kernels_are_counted(torch: Any, record: Any, kernels: Any) -> None:
    x = torch.zeros(4096, device="cuda")
    launch = kernels.add_one[(4,)]
    launch(x, 4096, BLOCK=1024)

    def work() -> None:
        for step in range(5):
            with proton.scope(f"step_{step % 2}"):
                launch(x, 4096, BLOCK=1024)

    recorded = record(work)
    assert recorded.counts() == {"add_one": 5}
    assert recorded.count_under("step_0") == 3
    assert x[0].item() == 6


def test_launch_metadata_names_the_kernel_and_adds_its_metrics(
    torch: Any, record: Any, kernels: Any
) -> None:
    x = torch.ones(4096, device="cuda")

    def work() -> None:
        with proton.scope("scaled"):
            for size in (1024, 4096, 4096):
                kernels.scale[(4,)](x, size, BLOCK=1024)

    recorded = record(work, hook="triton")
    assert recorded.counts("scale") == {"scale_1024": 1, "scale_4096": 2}
    metrics = {path[-1]: found for path, found in recorded.kernels}
    assert metrics["scale_4096"]["flops32"] == 8192.0
    assert metrics["scale_4096"]["bytes"] == 65536


def test_without_the_hook_kernels_keep_their_names(torch: Any, record: Any, kernels: Any) -> None:
    x = torch.ones(4096, device="cuda")
    recorded = record(lambda: kernels.scale[(4,)](x, 4096, BLOCK=1024))
    assert recorded.counts("scale") == {"scale": 1}


def test_autotuning_is_kept_with_times_and_resources(torch: Any, record: Any, kernels: Any) -> None:
    x = torch.ones(1 << 20, device="cuda")

    def work() -> None:
        with proton.scope("tuning"):
            kernels.tuned[lambda meta: (-(-(1 << 20) // meta["BLOCK"]),)](x, 1 << 20)

    recorded = record(work)
    (found,) = recorded.file.header["autotune"]
    assert (found["kernel"], found["key"], found["path"]) == ("tuned", [1 << 20], ["tuning"])
    assert found["interpreted"] is False
    assert [config["kwargs"]["BLOCK"] for config in found["configs"]] == [128, 256, 1024]
    for config in found["configs"]:
        assert config["time_ns"] > 500
        assert config["registers"] > 0
        assert config["spills"] == 0
        assert config["shared_bytes"] >= 0
    times = [config["time_ns"] for config in found["configs"]]
    assert times[found["winner"]] == min(times)
    assert recorded.count_under("tuning", "tuned") == 1
    assert recorded.count_under("tuning", "<autotune>", kind="tuned") >= 3


def test_a_session_that_names_no_backend_takes_this_one(
    torch: Any, kernels: Any, tmp_path: Path, profile_of: Any
) -> None:
    x = torch.zeros(1024, device="cuda")
    session = proton.start(str(tmp_path / "run"))
    kernels.add_one[(1,)](x, 1024, BLOCK=1024)
    proton.finalize(session)
    found = profile_of(tmp_path / "run.hatchet")
    assert found.header["backends"] == ["cupti"]
    assert found.metrics("add_one")["device_type"] == "CUDA"
