"""A chrome trace of GPT-2's training is no larger than the known tool's file allows."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from proton.files.detect import open_profile
from proton.files.write import to_bytes
from proton.model.trace import SpanKind
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "tests" / "data" / "triton36_trace.chrome_trace"
STEPS = 2

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("trace_size")


@pytest.fixture
def path(benchmark: Any, fake_driver: FakeDriver) -> Path:
    """A trace of steps of training on the fake driver."""
    found: Path = benchmark.record(STEPS, "chrome_trace")
    return found


def test_the_encoder_of_the_known_format_writes_a_real_file_of_it(benchmark: Any) -> None:
    events = json.loads(KNOWN.read_bytes())["traceEvents"]
    assert benchmark.known_file(events, version="3.6") == KNOWN.read_bytes().rstrip()


def test_kernels_and_scopes_are_as_small_and_the_whole_half_larger(
    benchmark: Any, path: Path
) -> None:
    sizes = benchmark.measure(path)
    assert sizes.kernels == STEPS * 2095
    assert sizes.kernels_and_scopes <= benchmark.BAR_SAME * sizes.known
    assert sizes.whole <= benchmark.BAR_WHOLE * sizes.known_36 <= benchmark.BAR_WHOLE * sizes.known
    packed = benchmark.record(STEPS, "perfetto").stat().st_size
    results = benchmark.results_of(sizes, packed, STEPS)
    assert all(result.is_met is not False for result in results)
    assert sizes.whole / packed >= 20


def test_nothing_that_a_viewer_needs_is_lost(path: Path) -> None:
    trace = trace_in(open_profile(path))
    kernels = [span for span in trace.spans if span.kind is SpanKind.KERNEL]
    launches = {at: span for at, span in enumerate(trace.spans) if span.kind is SpanKind.LAUNCH}
    assert len(kernels) == STEPS * 2095
    assert {"grid", "block", "registers"} <= kernels[0].attributes.keys()
    assert len({span.attributes["registers"] for span in kernels}) > 40
    assert {span.attributes["function"] for span in launches.values()} >= {"cuLaunchKernel"}
    for source, target in trace.flows:
        work = trace.spans[target]
        assert launches[source].name == f"launch {work.name}"
        assert launches[source].path == (*work.path[:-1], f"launch {work.name}")
    assert len(trace.flows) == len(launches)


def test_what_is_read_is_written_by_python_as_the_core_wrote_it(path: Path) -> None:
    ours = json.loads(path.read_bytes())
    again = json.loads(to_bytes(open_profile(path), "chrome_trace"))

    def plain(file: Any) -> list[dict[str, Any]]:
        events = [event for event in file["traceEvents"] if event["ph"] != "M"]
        for event in events:
            event["args"].pop("scope_id", None)  # counted anew
            event.pop("bind_id", None)
        return events

    assert plain(again) == plain(ours)
    assert again["proton"]["spans"] == ours["proton"]["spans"]
