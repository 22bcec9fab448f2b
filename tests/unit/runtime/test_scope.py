"""Scopes and their metrics."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Generator, Iterator
from typing import Any

import pytest

import proton
from proton.errors import MetricTypeError, ScopeMismatch, UsageError

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def recorded(session: int, profile_of: Any) -> Any:
    """What the session holds now."""
    return lambda: profile_of(proton.data.get(session))


def test_kernels_stand_below_their_scopes(gpu: Any, recorded: Any) -> None:
    with proton.scope("a"):
        gpu.launch("k")
        with proton.scope("b"):
            gpu.launch("k")
    assert recorded().paths() == ["a", "a/k", "a/b", "a/b/k"]


def test_a_scope_without_work_is_in_the_tree(recorded: Any) -> None:
    with proton.scope("empty"):
        pass
    assert recorded().metrics("empty") == {}


def test_one_object_may_be_entered_again_and_again(gpu: Any, recorded: Any) -> None:
    reused = proton.scope("a")
    for _ in range(3):
        with reused, reused:
            gpu.launch("k")
    assert recorded().metrics("a/a/k")["count"] == 3


def test_a_decorated_function_is_a_scope(gpu: Any, recorded: Any) -> None:
    @proton.scope("work")
    def work(x: int) -> int:
        """Do it."""
        gpu.launch("k")
        return x + 1

    assert work(1) == 2
    assert (work.__name__, work.__doc__) == ("work", "Do it.")
    assert recorded().paths() == ["work", "work/k"]


def test_the_scope_has_name_and_metrics_as_attributes() -> None:
    scope = proton.scope("a", {"x": 1})
    assert (scope.name, scope.metrics) == ("a", {"x": 1})


def test_a_decorated_coroutine_is_a_scope(gpu: Any, recorded: Any) -> None:
    @proton.scope("work")
    async def work() -> None:
        await asyncio.sleep(0)
        gpu.launch("k")

    assert inspect.iscoroutinefunction(work)
    asyncio.run(work())
    assert recorded().paths() == ["work", "work/k"]


def test_a_decorated_generator_does_not_claim_its_callers_work(gpu: Any, recorded: Any) -> None:
    @proton.scope("items", {"x": 1})
    def items() -> Iterator[int]:
        gpu.launch("inner")
        yield 1
        gpu.launch("inner")
        yield 2

    for _ in items():
        gpu.launch("outer")
    profile = recorded()
    assert profile.paths() == ["items", "items/inner", "outer"]
    assert profile.metrics("items")["x"] == 1  # once a call, not once an item


def test_interleaved_generators_keep_to_their_own_scopes(gpu: Any, recorded: Any) -> None:
    def items(name: str) -> Generator[None, None, None]:
        for _ in range(2):
            gpu.launch(f"k{name}")
            yield

    first, second = (proton.scope(name)(items)(name) for name in "ab")
    for _ in zip(first, second, strict=False):
        pass
    second.close()
    assert recorded().paths() == ["a", "a/ka", "b", "b/kb"]


@pytest.mark.parametrize(
    ("metrics", "stored"),
    [
        ({"x": 3}, {"x": 3}),
        ({"x": -(2**63)}, {"x": -(2**63)}),
        ({"x": 0.5}, {"x": 0.5}),
        ({"x": True}, {"x": 1}),
        ({"x": [1, 2]}, {"x": [1, 2]}),
        ({"x": [0.5, 1.5]}, {"x": [0.5, 1.5]}),
        ({"x": (1, 2)}, {"x": [1, 2]}),
        ({"x (ns)": 3}, {"x (ns)": 3}),
        ({"x (inc)": 3}, {"x (inc)": 3}),
        ({"x (exc)": 3}, {"x": 3}),
        ({"x (pty)": 3}, {"x": 3}),
        ({"x (ns)(exc)": 3}, {"x (ns)": 3}),
        ({"flops": 3}, {"flops": 3.0}),
        ({"flops16": 3}, {"flops16": 3.0}),
        ({"bytes": 3.0}, {"bytes": 3}),
    ],
)
def test_metrics_of_every_kind_are_stored(metrics: Any, stored: Any, recorded: Any) -> None:
    with proton.scope("a", metrics):
        pass
    found = recorded().metrics("a")
    assert found == stored
    assert [type(value) for value in found.values()] == [type(value) for value in stored.values()]


@pytest.mark.parametrize(
    ("name", "total"), [("x", 3), ("x (inc)", 3), ("x (exc)", 3), ("x (pty)", 2)]
)
def test_values_add_up_but_properties_keep_the_last(name: str, total: int, recorded: Any) -> None:
    for value in (1, 2):
        with proton.scope("a", {name: value}):
            pass
    (found,) = recorded().metrics("a").values()
    assert found == total


def test_lists_add_up_item_by_item(recorded: Any) -> None:
    for value in ([1, 2], [10, 20]):
        with proton.scope("a", {"x": value}):
            pass
    assert recorded().metrics("a")["x"] == [11, 22]


def test_the_kinds_of_metrics_are_in_the_header(recorded: Any) -> None:
    with proton.scope("a", {"x (exc)": 1, "y (pty)": 2, "z": 3}):
        pass
    kinds = recorded().header["metric_kinds"]
    assert (kinds["x"], kinds["y"]) == ("exclusive", "property")
    assert "z" not in kinds


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 2**63, -(2**63) - 1, "text", None, {}, [1, "a"], [math.nan]],
)
def test_a_bad_value_is_refused_and_the_scopes_stay_right(
    value: Any, gpu: Any, recorded: Any
) -> None:
    with (
        proton.scope("outer"),
        pytest.raises((ValueError, TypeError), match="'x'"),
        proton.scope("a", {"x": value}),
    ):
        pass
    gpu.launch("after")
    assert recorded().paths()[-1] == "after"


def test_text_as_a_metric_is_a_type_error(session: int) -> None:
    with pytest.raises(TypeError), proton.scope("a", {"x": "text"}):
        pass


def test_a_bad_value_put_in_during_the_scope_is_refused_at_its_end(gpu: Any, recorded: Any) -> None:
    metrics = {"x": 1.0}
    with pytest.raises(UsageError, match="'x' is nan"), proton.scope("a", metrics):
        metrics["x"] = math.nan
    gpu.launch("after")
    assert recorded().paths() == ["a", "after"]


def test_metrics_are_those_at_the_end_of_the_scope(recorded: Any) -> None:
    metrics: dict[str, int] = {}
    with proton.scope("a", metrics):
        metrics["x"] = 3
    assert recorded().metrics("a") == {"x": 3}


@pytest.mark.parametrize("name", ["", "a\0b", 3, None])
def test_a_bad_metric_name_is_refused(name: Any, session: int) -> None:
    with pytest.raises((ValueError, TypeError), match="metric name"):
        proton.scope("a", {name: 1})


@pytest.mark.parametrize("name", [3, None, b"a"])
def test_a_scope_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(TypeError):
        proton.scope(name)


def test_a_lone_surrogate_is_stored_replaced_and_counted(recorded: Any) -> None:
    with proton.scope("a\ud800b"):
        pass
    profile = recorded()
    assert profile.paths() == ["a\ufffdb"]
    assert profile.losses["invalid_text"] >= 1


def test_a_metric_that_changes_its_type_is_refused_and_the_first_stands(recorded: Any) -> None:
    with proton.scope("node", {"x": 1}):
        pass
    with pytest.raises(ValueError, match=r"node.*'x'|'x'.*node"), proton.scope("node", {"x": 0.5}):
        pass
    assert recorded().metrics("node") == {"x": 1}


def test_a_list_that_changes_its_length_is_refused_and_the_first_stands(recorded: Any) -> None:
    with proton.scope("node", {"x": [1, 2]}):
        pass
    with pytest.raises(ValueError, match="'x'"), proton.scope("node", {"x": [1, 2, 3]}):
        pass
    assert recorded().metrics("node") == {"x": [1, 2]}


def test_an_exception_in_the_body_passes_and_metrics_are_booked(recorded: Any) -> None:
    with pytest.raises(KeyError), proton.scope("a", {"x": 1}):
        raise KeyError("body")
    assert recorded().metrics("a") == {"x": 1}


def test_a_timed_scope_books_its_wall_time(recorded: Any) -> None:
    with proton.cpu_timed_scope("a", {"x": 1}):
        pass
    profile = recorded()
    assert profile.metrics("a")["cpu_time (ns)"] > 0
    assert profile.metrics("a")["x"] == 1
    assert profile.header["metric_kinds"]["cpu_time (ns)"] == "exclusive"


@pytest.mark.parametrize("name", ["cpu_time", "cpu_time (ns)"])
def test_a_timed_scope_measures_cpu_time_itself(name: str) -> None:
    with pytest.raises(ValueError, match="'cpu_time' is measured here; give yours another name"):
        proton.cpu_timed_scope("a", {name: 1})


def test_a_timed_scope_decorates_too(recorded: Any) -> None:
    @proton.cpu_timed_scope("a")
    def work() -> int:
        return 3

    assert work() == 3
    assert recorded().metrics("a")["cpu_time (ns)"] > 0


def test_enter_and_exit_make_a_scope_with_metrics_from_both(gpu: Any, recorded: Any) -> None:
    entered = proton.enter_scope("a", metrics={"x": 1})
    gpu.launch("k")
    assert proton.exit_scope("a", metrics={"y": 2}) == entered
    profile = recorded()
    assert profile.paths() == ["a", "a/k"]
    assert profile.metrics("a") == {"x": 1, "y": 2}


def test_exit_needs_no_name(recorded: Any) -> None:
    proton.enter_scope("a")
    proton.exit_scope()
    assert recorded().paths() == ["a"]


def test_enter_and_exit_give_no_id_when_off() -> None:
    assert proton.enter_scope("a") is None
    assert proton.exit_scope("a") is None


def test_exit_with_nothing_entered_is_refused() -> None:
    with pytest.raises(ScopeMismatch):
        proton.exit_scope("a")


def test_what_cannot_be_decorated_is_refused() -> None:
    with pytest.raises(UsageError, match="not a function"):
        proton.scope("a")(3)  # type: ignore[type-var]


def test_a_bad_metric_in_enter_scope_is_refused_and_nothing_entered(
    gpu: Any, recorded: Any
) -> None:
    with pytest.raises(MetricTypeError):
        proton.enter_scope("a", metrics={"x": "text"})
    gpu.launch("k")
    assert recorded().paths()[-1] == "k"
