"""Graph lanes of traces on a real GPU: replays by node, with the captured scopes below them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.files.detect import open_profile
from proton.model.trace import LaneKind, SpanKind
from tests.support.profiles import trace_in

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
SUFFIXES = {"chrome_trace": "chrome_trace", "perfetto": "pftrace"}


@pytest.mark.parametrize("output_format", SUFFIXES)
def test_replays_and_captured_scopes_stand_above_their_kernels(
    torch: Any, tmp_path: Path, output_format: str
) -> None:
    x = torch.ones(1024, device="cuda")
    x.add_(1)
    x.mul_(1)
    torch.cuda.synchronize()
    session = proton.start(str(tmp_path / "run"), backend="cupti", data="trace")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), proton.scope("model"):
        with proton.scope("first"):
            x.add_(1)
            x.add_(1)
        with proton.scope("second"):
            x.mul_(1)
    with proton.scope("serve"):
        for _ in range(5):
            graph.replay()
    torch.cuda.synchronize()
    proton.finalize(session, output_format=output_format)
    trace = trace_in(open_profile(tmp_path / f"run.{SUFFIXES[output_format]}"))
    lanes = trace.lanes
    names = [lane.name for lane in lanes]
    drawn = [span for span in trace.spans if lanes[span.lane].kind is LaneKind.GRAPH]
    counts = Counter("/".join(span.path) for span in drawn)
    replay = "serve/<captured_at>"
    scopes = {f"{replay}/model": 5, f"{replay}/model/first": 5, f"{replay}/model/second": 5}
    assert counts == {replay: 5, **scopes}, (counts, names)
    assert len({span.lane for span in drawn}) == 1, names
    for scope, kernels in (("first", 10), ("second", 5)):
        path = ("serve", "<captured_at>", "model", scope)
        inside = [
            (span.start_ns, span.start_ns + span.duration_ns)
            for span in trace.spans
            if span.kind is SpanKind.KERNEL and span.path[:4] == path
        ]
        around = [(s.start_ns, s.start_ns + s.duration_ns) for s in drawn if s.path == path]
        assert len(inside) == kernels, (scope, inside)
        for start_ns, end_ns in inside:
            assert any(start_ns >= a and end_ns <= b for a, b in around), (scope, inside, around)
