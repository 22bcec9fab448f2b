"""The observer on the torch that is installed, against what torch.profiler sees in the same run."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest

from tests.native.fake_cuda.driver import find_compiler
from tests.native.frameworks.library import BLAME, OFF, OPS, Observer

torch: Any = pytest.importorskip("torch")
if find_compiler() is None:
    pytest.skip("needs a C++ compiler", allow_module_level=True)

EVALUATION = "autograd::engine::evaluate_function: "
BACKWARD_FUNCTION = 1  # of torch's RecordScope


@pytest.fixture(scope="module")
def attached() -> Observer:
    return Observer(torch)


@pytest.fixture
def observer(attached: Observer) -> Iterator[Observer]:
    attached.clear()
    yield attached
    attached.set_tier(OFF)
    attached.clear()


def mlp_step() -> Callable[[], None]:
    model = torch.nn.Sequential(
        *(layer for _ in range(4) for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU()))
    )
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(8, 16)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def transformer_step() -> Callable[[], None]:
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    embedding = torch.nn.Embedding(50, 32)
    words = torch.randint(0, 50, (2, 10))

    def step() -> None:
        logits = model(embedding(words)) @ embedding.weight.t()
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), words.flatten()).backward()

    return step


def convolution_step() -> Callable[[], None]:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten()
    )
    head = torch.nn.LazyLinear(5)
    images = torch.randn(2, 3, 8, 8)
    head(model(images))

    def step() -> None:
        head(model(images)).log_softmax(-1).sum().backward()

    return step


def calls_by_nesting(observer: Observer) -> Counter[tuple[str, ...]]:
    """How often each operator ran below which others, from its backward node on."""
    calls: Counter[tuple[str, ...]] = Counter()
    for row in observer.take_sums():
        names = [name for name in row.path.split("/") if name != "<recompute>"]
        if "<backward>" in names:
            names = names[len(names) - names[::-1].index("<backward>") :]
        calls[tuple(names)] += row.calls
    return calls


def calls_of_kineto(profile: Any) -> Counter[tuple[str, ...]]:
    """The same as Kineto saw it; `profile.events()` leaves out some, so times tell the nesting."""
    calls: Counter[tuple[str, ...]] = Counter()
    around: list[tuple[int, tuple[str, ...]]] = []  # end, names from the node on
    events = profile.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: (event.start_ns(), -event.duration_ns())):
        while around and around[-1][0] <= event.start_ns():
            around.pop()
        outer = around[-1][1] if around else ()
        name = event.name()
        if name.startswith(EVALUATION):  # what the engine runs after a node belongs to the node
            names: tuple[str, ...] = (name.removeprefix(EVALUATION),)
        else:
            names = (name,) if event.scope() == BACKWARD_FUNCTION else (*outer, name)
            calls[names] += 1
        around.append((event.start_ns() + event.duration_ns(), names))
    return calls


def test_calibration_finds_one_place_for_each_field(attached: Observer) -> None:
    number, forward_thread = attached.places
    assert 0 < number < forward_thread < 64


@pytest.mark.parametrize("make_step", [mlp_step, transformer_step, convolution_step])
def test_operators_equal_those_of_kineto_one_for_one(
    observer: Observer, make_step: Callable[[], Callable[[], None]]
) -> None:
    step = make_step()
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        observer.set_tier(OPS)
        step()
        step()
        observer.set_tier(OFF)
    ours, theirs = calls_by_nesting(observer), calls_of_kineto(profile)
    assert ours == theirs
    assert sum(ours.values()) > 100


@pytest.mark.parametrize("make_step", [mlp_step, transformer_step, convolution_step])
def test_every_numbered_node_finds_its_forward_operator(
    observer: Observer, make_step: Callable[[], Callable[[], None]]
) -> None:
    step = make_step()
    observer.set_tier(OPS)
    step()
    assert observer.counts().unknown_forward == 0
    assert observer.counts().backward_nodes > 5
    pairs = {
        (match[1], match[2])
        for row in observer.take_sums()
        if (match := re.search(r"([^/]+)/<backward>/([^/:]+)Backward\d*$", row.path))
    }
    assert len(pairs) >= 5

    def fold(name: str) -> str:
        return name.removeprefix("aten::").replace("_", "").lower()

    others = {(op, node) for op, node in pairs if fold(op) != fold(node)}
    assert others <= {("aten::nll_loss_forward", "NllLoss")}


def on_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.mark.parametrize("seed", range(8))
def test_nodes_of_a_random_program_stand_below_the_frames_that_made_them(
    observer: Observer, seed: int
) -> None:
    random = Random(seed)
    values = [torch.randn(3, 3, requires_grad=True) for _ in range(3)]
    made: Counter[tuple[str, str]] = Counter()

    def run_one() -> None:
        left, right = random.choice(values), random.choice(values)
        unary = [torch.tanh, torch.sin, torch.t]
        binary = [partial(function, other=right) for function in (torch.add, torch.mul)]
        function = random.choice([*unary, *binary, partial(torch.mm, mat2=right)])
        frame = f"frame{random.randrange(10)}"
        with observer.frame(frame):
            if random.random() < 0.2:
                with torch.no_grad():
                    function(left)
            result = function(left)
        made[frame, result.grad_fn.name()] += 1
        values.append(result)

    observer.set_tier(OPS)
    for _ in range(60):
        if random.random() < 0.2:
            on_a_thread(run_one)
        else:
            run_one()
    torch.stack(values).sum().backward()
    observer.set_tier(OFF)
    seen: Counter[tuple[str, str]] = Counter()
    for row in observer.take_sums():
        if match := re.fullmatch(r"(frame\d)/[^/]+/<backward>/([^/]+Backward\d)", row.path):
            seen[match[1], match[2]] += row.calls
    assert seen == made
    assert observer.counts().unknown_forward == 0


def test_calls_and_time_of_an_operator(observer: Observer) -> None:
    left, right = torch.ones(400, 400), torch.ones(400, 400)
    torch.mm(left, right)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        observer.set_tier(OPS)
        with observer.frame("main"):
            for _ in range(20):
                torch.mm(left, right)
        observer.set_tier(OFF)
    theirs = sum(
        event.time_range.elapsed_us() for event in profile.events() if event.name == "aten::mm"
    )
    (row,) = (row for row in observer.take_sums() if row.path == "main/aten::mm")
    assert row.calls == 20
    assert row.time_ns == pytest.approx(theirs * 1000, rel=0.1)


def test_numbers_of_two_threads_are_told_apart(observer: Observer) -> None:
    observer.set_tier(OPS)
    results: dict[str, Any] = {}

    def run(name: str, function: Callable[[Any], Any]) -> None:
        with observer.frame(name):
            results[name] = function(torch.ones(2, requires_grad=True))

    for name, function in (("first", torch.exp), ("second", torch.sin)):
        on_a_thread(partial(run, name, function))
    numbers = {result.grad_fn._sequence_nr() for result in results.values()}
    assert len(numbers) == 1
    for result in results.values():
        result.sum().backward()
    paths = {row.path for row in observer.take_sums()}
    assert "first/aten::exp/<backward>/ExpBackward0" in paths
    assert "second/aten::sin/<backward>/SinBackward0" in paths
    assert observer.counts().unknown_forward == 0


def test_create_graph_books_the_second_backward_below_the_first(observer: Observer) -> None:
    observer.set_tier(OPS)
    weight = torch.ones(3, requires_grad=True)
    (gradient,) = torch.autograd.grad(weight.exp().sum(), weight, create_graph=True)
    gradient.square().sum().backward()
    paths = {row.path for row in observer.take_sums()}
    assert "aten::exp/<backward>/ExpBackward0/aten::mul/<backward>/MulBackward0/aten::mul" in paths
    assert not any("<recompute>" in path for path in paths)
    assert observer.counts().unknown_forward == 0


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_mark_what_they_run_again(observer: Observer, use_reentrant: bool) -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
    batch = torch.randn(2, 4, requires_grad=True)
    observer.set_tier(OPS)
    with observer.frame("main"):
        result = torch.utils.checkpoint.checkpoint(layer, batch, use_reentrant=use_reentrant)
        result.sum().backward()
    observer.set_tier(OFF)
    calls: Counter[str] = Counter()
    for row in observer.take_sums():
        if row.path.endswith("/aten::tanh"):
            calls["again" if "<recompute>" in row.path else "first"] += row.calls
        if row.path.endswith("<backward>/TanhBackward0"):
            calls["node below what ran again"] += "<recompute>" in row.path
    assert calls["first"] == 1
    assert calls["again"] == 1
    assert calls["node below what ran again"] == use_reentrant
    assert observer.counts().unknown_forward == 0


def test_what_functions_of_python_run_stands_where_it_is_called(observer: Observer) -> None:
    class Cube(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, value: Any) -> Any:
            context.save_for_backward(value)
            with observer.frame("forward"):
                return value.pow(3)

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            (value,) = context.saved_tensors
            with observer.frame("backward"):
                return 3 * value.square() * gradient

    observer.set_tier(OPS)
    with observer.frame("main"):
        Cube.apply(torch.ones(2, requires_grad=True)).sum().backward()
    observer.set_tier(OFF)
    paths = {row.path for row in observer.take_sums()}
    assert "main/Cube" in paths
    assert "main/forward/aten::pow" in paths
    assert "main/Cube/<backward>/CubeBackward" in paths
    assert "main/Cube/<backward>/CubeBackward/aten::square" in paths
    assert observer.counts().unknown_forward == 0


def test_record_function_is_a_scope_with_frames_inside(observer: Observer) -> None:
    observer.set_tier(OPS)
    with observer.frame("main"), torch.profiler.record_function("step"), observer.frame("model"):
        torch.ones(2).exp()
    observer.set_tier(OFF)
    rows = {row.path: row for row in observer.take_sums()}
    assert rows["main/step"].kind == "s"
    assert rows["main/step/model/aten::exp"].kind == "o"


def test_an_operator_that_fails_leaves_nothing_open(observer: Observer) -> None:
    observer.set_tier(OPS)
    with pytest.raises(RuntimeError):
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    assert observer.context() == "?"
    torch.ones(2).exp()
    assert "aten::exp" in {row.path for row in observer.take_sums()}


def test_in_tier_blame_nodes_lead_to_where_kernels_were_launched(observer: Observer) -> None:
    contexts = []

    class Note(torch.autograd.Function):  # type: ignore[misc]
        """Launches something in both passes."""

        @staticmethod
        def forward(_: Any, value: Any) -> Any:
            return value.clone()

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            contexts.append(observer.context())
            return gradient

    observer.set_tier(BLAME)
    value = torch.ones(2, requires_grad=True)
    for name in ("first", "second"):
        with observer.frame(name):
            value = Note.apply(value)
            observer.note_launch()
    value.sum().backward()
    assert contexts == ["second/<backward>/NoteBackward", "first/<backward>/NoteBackward"]
    assert observer.counts().backward_launches == 2
    assert observer.take_sums() == []


def test_a_forked_child_runs_operators(observer: Observer) -> None:
    observer.set_tier(OPS)
    torch.ones(2).exp()
    child = os.fork()
    if child == 0:
        observer.reset_after_fork()
        torch.ones(2).exp()
        os._exit(0 if observer.take_sums() == [] else 1)
    assert os.waitpid(child, 0)[1] == 0
    torch.ones(2).sin()
    assert {"aten::exp", "aten::sin"} <= {row.path for row in observer.take_sums()}
