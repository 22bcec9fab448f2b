"""Tools of one's own in sessions, on the fake driver: who gets buffers, and what records cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

import proton
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.loaded_kernels import ProbeCost
from proton.inkernel.compiler.compile_hook import KernelRecords
from proton.inkernel.modes.instrumentation_mode import Optimize
from proton.inkernel.tool import Tool
from proton.inkernel.tool_layouts import RecordLayout, RecordsLayout, ToolBuffer
from tests.support.recorded_softmax import launch_softmax, read, softmax

torch = pytest.importorskip("torch")


@dataclass(frozen=True)
class Keeper(Tool):
    """Keeps what it is given; nobody registered it."""

    name: str = field(default="keeper-of-tests", init=False)
    passes: ClassVar[Any] = ("record-around-ops",)
    layout: ClassVar[RecordLayout] = RecordsLayout()
    taken: list[ToolBuffer] = field(default_factory=list, init=False, compare=False)

    def on_buffer(self, buffer: ToolBuffer) -> None:
        self.taken.append(buffer)


def test_a_session_takes_a_tool_that_nobody_registered(launches: Any) -> None:
    tool = Keeper()
    session = proton.start("run", backend="instrumentation", mode=tool)
    launch_softmax()
    proton.finalize(session)
    assert [each.kernel for each in tool.taken] == ["softmax"]
    _, (entry,) = read()
    assert entry["mode"] == str(tool)


def test_an_equal_tool_gets_the_buffers_of_its_own_session(launches: Any) -> None:
    first, second = Keeper(), Keeper()
    for tool in (first, second):
        session = proton.start("run", backend="instrumentation", mode=tool)
        launch_softmax()
        proton.finalize(session)
    assert (len(first.taken), len(second.taken)) == (1, 1)


def test_an_equal_tool_gets_the_buffers_of_the_launches_it_was_chosen_for(launches: Any) -> None:
    first, second = Keeper(), Keeper()
    session = proton.start("run", backend="instrumentation")
    for tool, count in ((first, 1), (second, 2)):
        proton.instrument(softmax, mode=tool)
        for _ in range(count):
            launch_softmax()
    proton.finalize(session)
    proton.restore(softmax)
    assert (len(first.taken), len(second.taken)) == (1, 2)


def test_equal_tools_of_two_sessions_at_once_get_a_buffer_each(launches: Any) -> None:
    first, second = Keeper(), Keeper()
    one = proton.start("one", backend="instrumentation", mode=first)
    two = proton.start("two", backend="instrumentation", mode=second)
    launch_softmax()
    proton.finalize(one)
    proton.finalize(two)
    assert (len(first.taken), len(second.taken)) == (1, 1)


def test_the_cost_of_a_tools_records_is_taken_off(
    launches: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measure(records: KernelRecords) -> ProbeCost:
        assert str(calibration.storage_of(records)) == "default:optimizations=sched_stores"
        return ProbeCost(8.0, 20.0, 12.0)

    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path / "costs"))
    monkeypatch.setattr(calibration, "_known", {})
    monkeypatch.setattr(calibration, "measure", measure)
    launches.path.kernels._cost_of = calibration.cost_of
    mode = Keeper(optimizations=(Optimize.SCHED_STORES,))
    session = proton.start("run", backend="instrumentation", mode=mode)
    launch_softmax()
    proton.finalize(session)
    _, (entry,) = read()
    assert entry["record_cycles"] == 8.0
