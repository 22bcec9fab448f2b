"""Real models: counts equal torch.profiler's for every kernel, total GPU times agree within 2 %.

Sessions of both alternate in one process after warm-up, one holder of CUPTI at a time (where torch
lets go of it); times are compared by the median of five pairs. The models are large enough for
kernels of tens of microseconds: with a compiled layer of 256 features, whose kernels take a few
microseconds, counts were equal too, but our total was 2.1 % above torch's (1.018 to 1.023 in five
pairs, on an H200); why is not known.
"""

from __future__ import annotations

import json
import statistics
import time
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
    monkeypatch.setenv("TEARDOWN_CUPTI", "1")


def by_torch(torch: Any, work: Callable[[], object], folder: Path) -> tuple[Counter[str], float]:
    """Kernel name -> count, and nanoseconds in all, as torch.profiler tells."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    for _ in range(20):  # it lets go on a thread of its own, during a later call of CUDA
        torch.cuda.synchronize()
        time.sleep(0.01)
    profiler.export_chrome_trace(str(folder / "torch.json"))
    events = json.loads((folder / "torch.json").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    counts = Counter(torch._C._demangle(event["name"]) for event in kernels)
    return counts, sum(float(event["dur"]) for event in kernels) * 1e3


def compare(
    torch: Any,
    record: Any,
    step: Callable[[], object],
    folder: Path,
    *,
    alternates: bool = True,
) -> None:
    """Hold both against each other; `alternates` False: first all of ours, then all of torch's."""

    def work() -> None:
        for _ in range(STEPS):
            step()

    def by_us() -> tuple[Counter[str], float]:
        recorded = record(work)
        assert recorded.file.losses == {}
        counts = Counter[str]()
        for path, metrics in recorded.kernels:
            counts[torch._C._demangle(path[-1])] += metrics["count"]
        return counts, recorded.time_ns()

    for _ in range(3):
        step()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(by_us())
        if alternates:
            theirs.append(by_torch(torch, work, folder))
    while len(theirs) < ROUNDS:
        theirs.append(by_torch(torch, work, folder))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[0] == other[0]
    ratios = [mine[1] / other[1] for mine, other in zip(ours, theirs, strict=True)]
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
    layers = [torch.nn.Linear(2048, 2048), torch.nn.GELU(), torch.nn.LayerNorm(2048)]
    model = torch.compile(torch.nn.Sequential(*layers, *layers).cuda().eval(), mode=mode)
    x = torch.randn(2048, 2048, device="cuda")

    def step() -> None:
        with torch.no_grad():
            model(x)

    # with CUDA graphs torch keeps CUPTI once its profiler has run
    compare(torch, record, step, tmp_path, alternates=mode == "default")
