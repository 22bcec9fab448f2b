"""What a record costs: the key it is kept under, the file, and the measuring itself."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton import _native
from proton.backends.instrumentation import calibration
from proton.backends.instrumentation.calibration import (
    cache_file,
    cost_in,
    cost_of,
    make_key,
    read_costs,
    write_cost,
)
from proton.backends.instrumentation.loaded_kernels import ProbeCost
from proton.inkernel.compiler.compile_hook import KernelRecords


def records(memory: str = "shared", count: int = 4, mode: str = "ops") -> KernelRecords:
    record_map = {
        "strategy": "circular",
        "memory": memory,
        "clock_bits": 32,
        "static_records": count,
        "regions": [],
    }
    return KernelRecords(mode, 0, 512, 128, record_map, 4, {})


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(calibration, "_known", {})


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    class Device(_native.InKernel):
        @staticmethod
        def describe_device() -> tuple[str, int]:
            return "Fake GPU", 13000

    monkeypatch.setattr(_native, "InKernel", Device)


def test_the_key_tells_machines_and_ways_of_storing_apart() -> None:
    key = make_key(records(), "NVIDIA H200", 13000)
    assert "NVIDIA H200" in key
    assert key == make_key(records(mode="loops"), "NVIDIA H200", 13000)
    others = [
        make_key(records("global"), "NVIDIA H200", 13000),
        make_key(replace(records(), optimizations=["sched_stores"]), "NVIDIA H200", 13000),
        make_key(records(), "NVIDIA H100", 13000),
        make_key(records(), "NVIDIA H200", 12080),
    ]
    assert len({key, *others}) == 5


def test_costs_are_kept_in_a_file_that_others_may_write_too() -> None:
    costs = {"a": ProbeCost(8.0, 20.0, 12.0), "b": ProbeCost(10.0, 28.5, 19.0)}
    for key, cost in costs.items():
        write_cost(cache_file(), key, cost)
    assert read_costs(cache_file()) == costs


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": 3}', '{"a": [1, 2]}', '{"a": ["x", 1, 2]}', "\0"]
)
def test_a_damaged_file_knows_nothing_and_is_written_anew(text: str) -> None:
    cache_file().parent.mkdir(parents=True)
    cache_file().write_text(text)
    assert read_costs(cache_file()) == {}
    write_cost(cache_file(), "a", ProbeCost(8.0, 20.0, 12.0))
    assert read_costs(cache_file()) == {"a": ProbeCost(8.0, 20.0, 12.0)}


def test_the_folder_is_the_users_for_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROTON_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_file() == Path("/somewhere/proton/record_costs.json")


def sums(empty: float = 20.0, once: float = 220.0, twice: float = 432.0) -> list[dict[str, Any]]:
    found = [
        {"region": 0, "p10": empty - 1, "p50": empty, "p90": empty + 0.5, "min": 18},
        {"region": 1, "p10": once, "p50": once + 40, "p90": once + 90, "min": once},
        {"region": 2, "p10": twice, "p50": twice + 70, "p90": twice + 90, "min": twice},
    ]
    return [{"regions": [{"count": 80, **region} for region in reversed(found)]}]


def test_a_record_costs_what_twice_the_work_takes_less_than_the_work_twice() -> None:
    assert cost_in(sums()) == ProbeCost(8.0, 20.0, 13.0)
    assert cost_in(sums(empty=6.0)) == ProbeCost(8.0, 6.0, 9.0), "stores that are put off"


def test_passages_that_do_not_fit_together_tell_no_cost() -> None:
    with pytest.raises(RuntimeError, match="recorded 0 of its 3 regions"):
        cost_in([{"regions": []}])
    lost = sums()
    lost[0]["regions"][0]["count"] = 0
    with pytest.raises(RuntimeError, match="recorded 2 of its 3 regions"):
        cost_in(lost)
    for twice in (200.0, 440.0, 500.0):
        with pytest.raises(RuntimeError, match=f"220 cycles with a record.* {twice:.0f}"):
            cost_in(sums(twice=twice))


def test_it_is_measured_once_and_known_afterwards(
    device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[KernelRecords] = []

    def measure(of: KernelRecords) -> ProbeCost:
        measured.append(of)
        return ProbeCost(8.0, 21.0, 13.0)

    monkeypatch.setattr(calibration, "measure", measure)
    assert cost_of(records()) == ProbeCost(8.0, 21.0, 13.0)
    assert cost_of(records()) == ProbeCost(8.0, 21.0, 13.0)
    monkeypatch.setattr(calibration, "_known", {})  # as in the next process
    assert cost_of(records()) == ProbeCost(8.0, 21.0, 13.0)
    assert len(measured) == 1
    cost_of(records("global"))
    assert len(measured) == 2


def test_a_kernel_without_records_costs_nothing(device: None) -> None:
    assert cost_of(records(count=0)) == ProbeCost()


def test_what_cannot_be_measured_is_said_and_is_nothing(
    device: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def measure(of: KernelRecords) -> ProbeCost:
        raise TypeError("no such luck")

    monkeypatch.setattr(calibration, "measure", measure)
    with caplog.at_level(logging.WARNING, "proton"):
        assert cost_of(records()) == ProbeCost()
    assert "the cost of records is not known, and not taken off: no such luck" in caplog.text
