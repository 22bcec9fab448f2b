"""Real models: counts equal torch.profiler's for every kernel, total GPU times agree within 2 %.

Sessions of both alternate in one process after warm-up, one holder of CUPTI at a time; times are
compared by the median of five pairs.
"""

from __future__ import annotations

import json
import os
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(240)]

ROUNDS = 5
STEPS = 2


@pytest.fixture(autouse=True)
def _torch_lets_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's profiler gives CUPTI back after each session only if told to."""
    monkeypatch.setenv("TEARDOWN_CUPTI", os.environ.get("PROTON_TEST_TEARDOWN", "1"))


def by_torch(torch: Any, work: Callable[[], object], folder: Path) -> tuple[Counter[str], float]:
    """Kernel name -> count, and nanoseconds in all, as torch.profiler tells."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(str(folder / "torch.json"))
    events = json.loads((folder / "torch.json").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    counts = Counter(torch._C._demangle(event["name"]) for event in kernels)
    return counts, sum(float(event["dur"]) for event in kernels) * 1e3


def compare(torch: Any, record: Any, step: Callable[[], object], folder: Path) -> None:
    """Hold both against each other."""

    def work() -> None:
        for _ in range(STEPS):
            step()

    for _ in range(3):
        step()
    ratios = []
    for _ in range(ROUNDS):
        recorded = record(work)
        ours = Counter[str]()
        for path, metrics in recorded.kernels:
            ours[torch._C._demangle(path[-1])] += metrics["count"]
        theirs, time_ns = by_torch(torch, work, folder)
        assert ours == theirs
        assert recorded.file.losses == {}
        ratios.append(recorded.time_ns() / time_ns)
    assert abs(statistics.median(ratios) - 1) < 0.02, ratios


def gpt2(torch: Any) -> Any:
    """GPT-2 with random weights and eager attention."""
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(attn_implementation="eager")
    with torch.device("cuda"):
        return transformers.GPT2LMHeadModel(config)


def test_gpt2_inference(torch: Any, record: Any, tmp_path: Path) -> None:
    model = gpt2(torch).half().eval()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(ids)

    compare(torch, record, step, tmp_path)


def test_gpt2_training(torch: Any, record: Any, tmp_path: Path) -> None:
    model = gpt2(torch).train()
    ids = torch.randint(0, 50257, (1, 128), device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)

    def step() -> None:
        optimizer.zero_grad()
        model(ids, labels=ids).loss.backward()
        optimizer.step()

    compare(torch, record, step, tmp_path)


def test_resnet(torch: Any, record: Any, tmp_path: Path) -> None:
    timm = pytest.importorskip("timm")
    model = timm.create_model("resnet18").cuda().eval()
    images = torch.randn(8, 3, 224, 224, device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(images)

    compare(torch, record, step, tmp_path)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(torch: Any, record: Any, tmp_path: Path, mode: str) -> None:
    layers = [torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)]
    model = torch.compile(torch.nn.Sequential(*layers, *layers).cuda().eval(), mode=mode)
    x = torch.randn(64, 256, device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(x)

    compare(torch, record, step, tmp_path)
