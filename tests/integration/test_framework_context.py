"""Modules, operators and backward work of torch on the CPU, in sessions of tier blame and ops."""

# torch is no requirement of the tests, and has no types here.
# mypy: disable-error-code="misc, no-any-return, no-untyped-call, no-untyped-def, untyped-decorator"

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proton

pytest.importorskip("torch")

import torch
from torch import nn

from tests.support.framework import (
    Transformer,
    calls_of,
    header_of,
    record,
    rows_of,
    train_step,
)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("tmp_cwd"),
    pytest.mark.filterwarnings("ignore::proton.errors.ProtonWarning"),
]


def kineto_calls(events: Any) -> Counter[str]:
    """What torch.profiler saw."""
    return Counter(event.name() for event in events)


def test_rows_stand_below_the_modules_that_named_modules_lists() -> None:
    model = Transformer()
    rows = record(lambda: train_step(model))
    found = {row.name for row in rows if row.kinds[-1] == "m"}
    # attention calls the function of its output layer, not the layer
    names = {name for name, module in model.named_modules() if name and name != "h"}
    assert found == names - {f"h.{i}.attn.out_proj" for i in range(2)} | {"Transformer"}


def test_operators_of_a_layer_have_the_way_to_it_above_them() -> None:
    rows = record(lambda: train_step(Transformer()))
    [gelu] = [row for row in rows if row.path[-2:] == ("h.1.mlp.1", "aten::gelu")]
    assert gelu.modules() == ["Transformer", "h.1", "h.1.mlp", "h.1.mlp.1"]
    lines = [
        name.rpartition("@")[2]
        for name, kind in zip(gelu.path, gelu.kinds, strict=True)
        if kind == "p"
    ]
    assert lines[-3:] == ["train_step", "forward", "forward"]
    assert not any("site-packages" in name for name in gelu.path)


def test_a_loop_over_equal_layers_tells_them_apart() -> None:
    layers = nn.ModuleList(nn.Linear(4, 4, bias=False) for _ in range(3))

    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    rows = record(lambda: Loop()(torch.ones(2, 4)))
    calls = {row.path[-2]: row.metrics["calls"] for row in rows if row.name == "aten::linear"}
    assert calls == {"layers.0": 1, "layers.1": 1, "layers.2": 1}


@pytest.fixture
def one_thread() -> Iterator[None]:
    """torch's own workers call operators too, which its profiler does not see."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_calls_of_operators_are_those_of_torch_profiler() -> None:
    from torch.profiler import ProfilerActivity, profile

    model = Transformer()
    record(lambda: train_step(model))  # the first session calls operators of its own
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        rows = record(lambda: train_step(model))
    ours = calls_of(rows)
    # events() leaves out an operator that calls one of its own name alone
    theirs = kineto_calls(profiler.profiler.kineto_results.events())
    names = {name for name in theirs if name.startswith("aten::")}
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}
    assert len(names) > 20


def test_backward_work_stands_below_its_forward_operator() -> None:
    rows = record(lambda: train_step(Transformer()))
    nodes = [row for row in rows if row.kinds.endswith("bo")]
    assert {row.name for row in nodes} >= {"GeluBackward0", "AddmmBackward0", "EmbeddingBackward0"}
    gelus = {row.modules()[-1] for row in nodes if row.name == "GeluBackward0"}
    assert gelus == {"h.0.mlp.1", "h.1.mlp.1"}
    for row in nodes:
        if row.name == "GeluBackward0":
            assert row.path[-3:] == ("aten::gelu", "<backward>", "GeluBackward0")


def test_backward_nodes_are_as_many_as_torch_ran() -> None:
    model = Transformer()
    seen: Counter[str] = Counter()
    tokens = torch.arange(6).reshape(2, 3)
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    pending: list[Any] = [loss.grad_fn]
    known: set[Any] = {loss.grad_fn}
    while pending:
        node = pending.pop()
        seen[node.name().removeprefix("torch::autograd::")] += 1
        fresh = {child for child, _ in node.next_functions if child is not None} - known
        known |= fresh
        pending += fresh
    rows = record(lambda: train_step(model))
    ran = Counter({row.name: 0 for row in rows})
    for row in rows:
        if row.kinds.endswith("bo"):
            ran[row.name.removeprefix("torch::autograd::")] += row.metrics["calls"]
    assert +ran == seen


def test_time_of_operators_below_an_operator_is_no_longer_than_its_own() -> None:
    rows = record(lambda: train_step(Transformer()))
    times = {row.path: row.metrics["cpu_time (ns)"] for row in rows if "calls" in row.metrics}
    below: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row.kinds.endswith("oo") and "calls" in row.metrics:
            below[row.path[:-1]] += row.metrics["cpu_time (ns)"]
    assert below
    assert all(times[path] >= time for path, time in below.items())


def test_scopes_stand_above_frames_and_modules() -> None:
    def work() -> None:
        model = Transformer()
        with proton.scope("step"):
            train_step(model)

    rows = record(work)
    assert all(row.path[0] == "step" for row in rows if row.modules())


def test_the_modules_of_two_models_are_told_apart() -> None:
    first, second = Transformer(layers=1), Transformer(layers=1)

    def work() -> None:
        train_step(first)
        train_step(second)

    rows = record(work)
    roots = {row.modules()[0] for row in rows if row.modules()}
    assert roots == {"Transformer", "Transformer (2)"}


def test_models_that_live_one_after_the_other_share_a_row() -> None:
    def work() -> None:
        for _ in range(5):
            train_step(Transformer(layers=1))
            gc.collect()

    rows = record(work)
    assert {row.modules()[0] for row in rows if row.modules()} == {"Transformer"}
    [norm] = [row for row in rows if row.path[-2:] == ("h.0.norm", "aten::layer_norm")]
    assert norm.metrics["calls"] == 5


def test_a_module_that_is_deleted_keeps_its_name_and_leaves_its_address() -> None:
    class Host(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            for name in ("first", "second"):
                if hasattr(self, name):
                    x = getattr(self, name)(x)
            return x

    def work() -> None:
        host = Host()
        host(torch.ones(1, 4))
        del host.first
        host.second = nn.Linear(4, 4)  # often where the first one was
        host(torch.ones(1, 4))

    rows = record(work)
    calls = {row.path[-2]: row.metrics["calls"] for row in rows if row.name == "aten::linear"}
    assert calls == {"first": 1, "second": 1}


def test_a_shared_module_has_its_first_name() -> None:
    shared = nn.Linear(4, 4)
    rows = record(lambda: nn.Sequential(shared, nn.ReLU(), shared)(torch.ones(1, 4)))
    calls = {row.path[-2]: row.metrics["calls"] for row in rows if row.name == "aten::linear"}
    assert calls == {"0": 2}


def test_names_of_wrappers_are_left_out() -> None:
    class DistributedDataParallel(nn.Module):  # as torch's, which needs a process group
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: Any) -> Any:
            return self.module(x)

    inner = nn.Sequential(nn.Linear(4, 4))
    rows = record(lambda: DistributedDataParallel(inner)(torch.ones(1, 4)))
    [linear] = [row for row in rows if row.name == "aten::linear"]
    assert linear.modules() == ["DistributedDataParallel", "Sequential", "0"]


def test_threads_have_their_own_paths() -> None:
    def work() -> None:
        models = [Transformer(layers=1) for _ in range(2)]
        for number, model in enumerate(models):

            def run(model: Any = model, number: int = number) -> None:
                with proton.scope(f"thread{number}"):
                    train_step(model)

            thread = threading.Thread(target=run)
            thread.start()
            thread.join()

    rows = record(work)
    for number in range(2):
        names = {row.name for row in rows if row.path[0] == f"thread{number}" and row.is_backward}
        assert "GeluBackward0" in names
    assert not [row for row in rows if row.is_backward and not row.path[0].startswith("thread")]


@pytest.mark.parametrize("is_reentrant", [False, True])
def test_recomputation_is_marked(is_reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    block = nn.Sequential(nn.Linear(4, 4), nn.GELU())

    def work() -> None:
        x = torch.ones(1, 4, requires_grad=True)
        checkpoint(block, x, use_reentrant=is_reentrant).sum().backward()

    rows = record(work)
    recomputed = [row for row in rows if "<recompute>" in row.path]
    assert "aten::gelu" in {row.name for row in recomputed}
    assert sum(row.metrics.get("calls", 0) for row in rows if row.name == "aten::gelu") == 2


def test_a_backward_pass_of_a_backward_pass_is_recorded() -> None:
    def work() -> None:
        x = torch.ones(3, requires_grad=True)
        (gradient,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
        gradient.sum().backward()

    rows = record(work)
    nested = [row for row in rows if row.kinds.count("b") == 2 and row.name == "MulBackward0"]
    assert nested


def test_a_function_of_the_programs_own_has_its_backward_below_it() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0] * 2

    rows = record(lambda: Double.apply(torch.ones(2, requires_grad=True)).sum().backward())
    [node] = [row for row in rows if row.kinds.endswith("bo") and row.name == "DoubleBackward"]
    assert node.metrics["calls"] == 1


def test_a_failed_operator_leaves_no_broken_stack() -> None:
    def work() -> None:
        with pytest.raises(RuntimeError):
            torch.ones(2, 3) @ torch.ones(2, 3)
        torch.ones(2) + 1

    rows = record(work)
    [add] = [row for row in rows if row.name == "aten::add"]
    assert "aten::matmul" not in add.path


def test_torch_profiler_inside_a_session_and_around_it() -> None:
    from torch.profiler import ProfilerActivity, profile

    model = Transformer(layers=1)

    def work() -> None:
        with profile(activities=[ProfilerActivity.CPU]):
            train_step(model)

    inside = calls_of(record(work))
    with profile(activities=[ProfilerActivity.CPU]):
        around = calls_of(record(lambda: train_step(model)))
    assert inside["aten::gelu"] == around["aten::gelu"] == 1
    assert inside["GeluBackward0"] == around["GeluBackward0"] == 1


def test_phases_have_the_calls_of_their_own_time() -> None:
    model = Transformer(layers=1)

    session = proton.start("run", context="ops")
    assert session is not None
    train_step(model)
    proton.data.advance_phase(session)
    train_step(model)
    train_step(model)
    proton.finalize(session)
    parts = [calls_of(rows_of(f"run.part_{part}.hatchet"))["aten::gelu"] for part in (0, 1)]
    assert parts == [1, 2]


def test_what_ran_while_a_session_paused_is_not_recorded() -> None:
    model = Transformer(layers=1)

    def work() -> None:
        train_step(model)
        proton.deactivate()
        train_step(model)
        proton.activate()
        train_step(model)

    assert calls_of(record(work))["aten::gelu"] == 2


def test_sessions_of_other_kinds_beside_it_stay_what_they_are() -> None:
    model = Transformer(layers=1)
    others = [proton.start(kind, context=kind) for kind in ("shadow", "python")]
    with proton.scope("step"):
        record(lambda: train_step(model))
    for session in others:
        proton.finalize(session)
    for kind in ("shadow", "python"):
        assert not {letter for row in rows_of(f"{kind}.hatchet") for letter in row.kinds} & set(
            "mob"
        )
    assert [row.path for row in rows_of("shadow.hatchet")] == [("step",)]


def test_the_file_says_which_tier_was_on_and_since_when() -> None:
    record(lambda: torch.ones(1) + 1)
    header = header_of("run.hatchet")
    assert header["context"] == "ops"
    said = header["framework_context"]
    assert said["tier"] == "ops"
    assert said["torch"] == torch.__version__
    assert header["start_time_ns"] <= said["since_ns"] <= header["end_time_ns"]
    assert "refused" not in said


def test_a_forked_child_records_for_itself() -> None:
    model = Transformer(layers=1)

    def work() -> None:
        train_step(model)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                session = proton.start("child", context="ops")
                with torch.no_grad():
                    model.head(torch.ones(1, 8))
                proton.finalize(session)
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0

    rows = record(work)
    assert calls_of(rows)["aten::gelu"] == 1
    assert Path("child.hatchet").exists()
    assert calls_of(rows_of("child.hatchet"))["aten::linear"] == 1
