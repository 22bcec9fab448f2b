"""Samples on the fake driver, from the hardware's counts to contexts, lines and files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from proton import _native
from proton._native import Cubin, Cupti, Session
from proton.files.detect import open_profile
from tests.native.fake_cuda.driver import FakeDriver

CUBINS = Path(__file__).parents[1] / "data" / "cubins"
HEADER: dict[str, object] = {"session": "run"}

Open = Callable[..., Session]


@pytest.fixture
def sample(fake_driver: FakeDriver) -> Iterator[Open]:
    """`sample(data=, **facts)`: an active session that samples."""
    Cupti.load(
        fake_driver.environment["TRITON_CUPTI_LIB_PATH"],
        fake_driver.environment["PROTON_CUDA_LIBRARY"],
    )
    opened: list[Session] = []

    def make(data: str = "tree", **facts: Any) -> Session:
        session = Session(len(opened), context="shadow", data=data)
        opened.append(session)
        session.set_sampling(period_cycles=1 << 14, **facts)
        Cupti.start(session, sampling={})
        session.activate()
        return session

    yield make
    for session in opened:
        Cupti.stop(session)
        session.close()


def nodes_of(root: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for child in root["children"]:
        name = f"{path}/{child['frame']['name']}"
        yield name, child["metrics"]
        yield from nodes_of(child, name)


def saved(session: Session) -> tuple[dict[str, Mapping[str, Any]], Mapping[str, Any]]:
    """Every node's metrics by its path, and the `sampling` object."""
    assert Cupti.flush()
    root = json.loads(session.serialize("hatchet", 0, HEADER))[0]
    return dict(nodes_of(root)), root["proton"]["sampling"]


def test_samples_stand_on_the_lines_of_a_triton_kernel(
    fake_driver: FakeDriver, sample: Open, tmp_path: Path
) -> None:
    image = (CUBINS / "triton39_softmax_sm90.cubin").read_bytes()
    cubin = Cubin(image)
    (kernel,) = [name for name in cubin.functions() if not name.startswith("$")]
    stacks = cubin.locate(kernel, range(0, len(cubin.code(kernel)), 16))
    number, stack = next((i, stack) for i, stack in enumerate(stacks) if len(stack) > 1)
    fake_driver.sample(kernel, 16 * number, "long_scoreboard", 12, 4)
    session = sample()
    function = fake_driver.module_function(fake_driver.load_module(image), kernel, 100)
    with _native.Scope("forward"):
        fake_driver.launch_function(function, 2)
    nodes, sampling = saved(session)
    path = f"/forward/{kernel}"
    for file, line, _, called in stack:
        path += f"/{file}:{line}@{called or (kernel if file == stack[0][0] else '<inlined>')}"
    assert nodes[path] == {
        "num_samples": 24,
        "num_stalled_samples": 24,
        "num_latency_samples": 8,
        "stalled_long_scoreboard": 24,
    }
    (seen,) = sampling["kernels"]
    assert (seen["lines"], seen["arch"], seen["samples"]) == ("found", 90, 24)
    assert seen["instruction_count"] == len(seen["instructions"]) == len(stacks)
    ((offset, code, line, count, latency, _),) = (row for row in seen["instructions"] if row[3])
    assert (offset, count, latency) == (16 * number, 24, 8)
    assert len(code) == 24
    assert sampling["lines"][line][:2] == list(stack[-1][:2])
    assert set(session.sampled_files(0)) == {file for each in stacks for file, _, _, _ in each}
    assert session.missing_code(0) == []
    session.write(str(tmp_path / "run.hatchet"), "hatchet", 0, HEADER)
    read = open_profile(tmp_path / "run.hatchet").sampling
    assert read is not None
    assert read.kernels[0].instructions[number].samples == 24


def test_contexts_share_samples_by_time_and_unknown_code_is_told(
    fake_driver: FakeDriver, sample: Open
) -> None:
    fake_driver.sample("k", 32, "barrier", 100)
    session = sample()
    for scope, time_ns in (("a", 300), ("b", 100)):
        with _native.Scope(scope):
            fake_driver.launch("k", time_ns)
    nodes, sampling = saved(session)
    assert nodes["/a/k"]["num_samples"] == 150
    assert nodes["/b/k"]["num_samples"] == 50
    assert sampling["is_split"] is True
    assert sampling["kernels"][0]["lines"] == "no cubin"
    assert [symbol for _, symbol in session.missing_code(0)] == ["k"]


def test_a_filter_is_a_python_callable(fake_driver: FakeDriver, sample: Open) -> None:
    fake_driver.sample("_Z4gemmPf", 0, "wait", 8)
    fake_driver.sample("relu", 0, "wait", 4)
    session = sample(include=re.compile(r"gemm\(float|wanted").search)
    with _native.Scope("a"):
        fake_driver.launch("_Z4gemmPf", 10)
        fake_driver.launch("relu", 30)
    with _native.Scope("wanted"):
        fake_driver.launch("relu", 10)
    nodes, sampling = saved(session)
    assert nodes["/a/_Z4gemmPf"]["num_samples"] == 8
    assert nodes["/wanted/relu"]["num_samples"] == 2
    assert "num_samples" not in nodes["/a/relu"]
    assert (sampling["samples"], sampling["left_out"]) == (10, 6)


def test_what_a_filter_raises_is_passed_on(fake_driver: FakeDriver, sample: Open) -> None:
    def include(name: str) -> bool:
        raise LookupError(name)

    fake_driver.sample("k", 0, "wait", 8)
    session = sample(include=include)
    fake_driver.launch("k", 10)
    assert Cupti.flush()
    with pytest.raises(LookupError, match="k"):
        session.serialize("hatchet", 0, HEADER)


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_traces_have_totals_by_kernel_and_line(
    fake_driver: FakeDriver, sample: Open, tmp_path: Path, output_format: str
) -> None:
    fake_driver.sample("k", 0, "wait", 8, 2)
    session = sample(data="trace")
    fake_driver.launch("k", 10)
    assert Cupti.flush()
    path = tmp_path / "run"
    session.write(str(path), output_format, 0, HEADER)
    sampling = open_profile(path).sampling
    assert sampling is not None
    (kernel,) = sampling.kernels
    assert (kernel.samples, kernel.line_samples[0][:3]) == (8, (-1, 8, 2))
    assert sampling.reasons[next(iter(kernel.line_samples[0].reasons))] == "wait"


def test_samples_belong_to_the_phase_in_which_they_are_read_out(
    fake_driver: FakeDriver, sample: Open
) -> None:
    fake_driver.sample("k", 0, "wait", 8)
    session = sample()
    fake_driver.launch("k", 10)
    assert Cupti.flush()
    session.advance_phase()
    fake_driver.launch("k", 10)
    fake_driver.launch("k", 10)
    assert Cupti.flush()
    counts = []
    for phase in (0, 1):
        root = json.loads(session.serialize("hatchet", phase, HEADER))[0]
        counts.append(dict(nodes_of(root))["/k"]["num_samples"])
    assert counts == [8, 16]
