"""Kernels that operators launch, on the fake driver: below module, operator and backward work."""

# torch is no requirement of the tests, and has no types here.
# mypy: disable-error-code="misc, no-any-return, no-untyped-call, no-untyped-def, untyped-decorator"

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.native.fake_cuda.driver import FakeDriver

pytest.importorskip("torch")

import torch
from torch import nn

from tests.support.framework import Row, record, rows_of

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("tmp_cwd")]

_launch: list[Callable[[str], object]] = []  # the driver of the test that runs


@torch.library.custom_op("proton_test::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    _launch[-1]("scale_kernel")
    return x * factor


@scale.register_fake
def _(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.empty_like(x)


def _backward(ctx: Any, gradient: Any) -> Any:
    _launch[-1]("scale_backward_kernel")
    return gradient * ctx.factor, None


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.factor = inputs[1]


scale.register_autograd(_backward, setup_context=_setup)


class Scale(nn.Module):
    def forward(self, x: Any) -> Any:
        return scale(x, 2.0)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(Scale(), Scale())

    def forward(self, x: Any) -> Any:
        return self.layers(x)


@pytest.fixture(autouse=True)
def launch(fake_driver: FakeDriver) -> FakeDriver:
    _launch.append(fake_driver.launch)
    return fake_driver


def train() -> None:
    Model()(torch.ones(2, requires_grad=True)).sum().backward()


def kernels(rows: list[Row], name: str) -> list[Row]:
    return [row for row in rows if row.name == name and row.kinds[-1] == "k"]


def test_tier_ops_books_kernels_below_module_and_operator() -> None:
    rows = kernels(record(train, backend="cupti"), "scale_kernel")
    assert [row.modules() for row in rows] == [
        ["Model", "layers", "layers.0"],
        ["Model", "layers", "layers.1"],
    ]
    assert all("proton_test::scale" in row.path for row in rows)
    assert all(row.metrics["count"] == 1 for row in rows)


def test_tier_ops_books_backward_kernels_below_their_forward_operator() -> None:
    rows = kernels(record(train, backend="cupti"), "scale_backward_kernel")
    assert sorted(row.modules()[-1] for row in rows) == ["layers.0", "layers.1"]
    assert all("proton_test::scale" in row.path and "<backward>" in row.path for row in rows)


def test_tier_blame_books_kernels_below_modules_without_operators() -> None:
    rows = record(train, context="blame", backend="cupti")
    forward = kernels(rows, "scale_kernel")
    assert [row.modules()[-1] for row in forward] == ["layers.0", "layers.1"]
    assert not any("o" in row.kinds for row in forward)
    backward = kernels(rows, "scale_backward_kernel")
    assert sorted(row.modules()[-1] for row in backward) == ["layers.0", "layers.1"]
    assert all(row.path[-3] == "<backward>" for row in backward)


def test_kernels_of_all_tiers_are_the_same_in_sum() -> None:
    counts = {}
    for context in ("shadow", "python", "blame", "ops"):
        rows = record(train, context=context, backend="cupti")
        counts[context] = sum(row.metrics["count"] for row in rows if row.kinds[-1] == "k")
    assert set(counts.values()) == {4}


def test_sessions_of_other_kinds_beside_it_have_the_contexts_that_they_have_alone() -> None:
    alone = {}
    for kind in ("shadow", "python"):
        with proton.scope("step"), proton.state("busy"):
            alone[kind] = [
                (row.path, row.metrics) for row in record(train, context=kind, backend="cupti")
            ]
    others = {
        kind: proton.start(kind, context=kind, backend="cupti") for kind in ("shadow", "python")
    }
    with proton.scope("step"), proton.state("busy"):
        record(train, backend="cupti")
    for session in others.values():
        proton.finalize(session)
    for kind in others:
        found = [row for row in rows_of(f"{kind}.hatchet") if row.kinds[-1] == "k"]
        expected = [path for path, metrics in alone[kind] if "count" in metrics]
        assert [_plain(row.path) for row in found] == [_plain(path) for path in expected]


def _plain(path: tuple[str, ...]) -> list[str]:
    """Without line numbers of the test itself, which starts its sessions in two places."""
    return [name.rpartition("@")[2] if "test_framework_launches" in name else name for name in path]


def test_launch_metadata_stands_below_the_operator(fake_driver: FakeDriver) -> None:
    def work() -> None:
        Model()(torch.ones(2))

    rows = kernels(record(work, backend="cupti", hook="triton"), "scale_kernel")
    assert len(rows) == 2


def test_a_session_that_waits_has_scopes_until_a_framework_is_read() -> None:
    from proton import _native

    session = proton.start("run", context="blame", backend="cupti")
    _native.TorchObserver.read_frames(False)
    with proton.scope("early"):
        _launch[-1]("k")
    _native.TorchObserver.read_frames(True)
    with proton.scope("late"):
        _launch[-1]("k")
    proton.finalize(session)
    paths = {row.path[0]: row.kinds for row in kernels(rows_of("run.hatchet"), "k")}
    assert paths["early"] == "sk"
    assert paths["late"].startswith("sp")


def test_a_timeline_places_kernels_below_modules_and_operators() -> None:
    session = proton.start("run", context="ops", data="trace", backend="cupti")
    with proton.scope("step"):
        train()
    proton.finalize(session)
    events = json.loads(Path("run.chrome_trace").read_text())["traceEvents"]
    stacks = [
        event["args"]["call_stack"]
        for event in events
        if event.get("cat") == "kernel" and event["name"] == "scale_backward_kernel"
    ]
    assert len(stacks) == 2
    for stack in stacks:
        assert {"step", "Model", "layers", "proton_test::scale", "<backward>"} <= set(stack)
        assert not any("site-packages" in name for name in stack)
