"""Metrics of scopes: what is stored, added up, replaced or refused."""

from __future__ import annotations

import threading
import time
from collections import UserDict
from typing import Any

import pytest

from proton import _native
from proton._native import Scope, Session, enter_scope, exit_scope
from proton.errors import UsageError
from tests.support.native import MakeSession, root_of, tree_of


@pytest.mark.parametrize(
    ("metrics", "stored"),
    [
        ({"x": 3}, {"x": 3}),
        ({"x": 1.5}, {"x": 1.5}),
        ({"x": True}, {"x": 1}),
        ({"x": [1, 2]}, {"x": [1, 2]}),
        ({"x": (1, 2.5)}, {"x": [1.0, 2.5]}),
        ({"x (inc)": 1}, {"x (inc)": 1}),
        ({"x (exc)": 1}, {"x": 1}),
        ({"x (ns)(exc)": 1}, {"x (ns)": 1}),
        ({"x(pty)": 1}, {"x": 1}),
        ({"flops": 3}, {"flops": 3.0}),
        ({"flops16": 3}, {"flops16": 3.0}),
        ({"bytes": 3.0}, {"bytes": 3}),
        ({"bytes": [1.0, 2.0]}, {"bytes": [1, 2]}),
        ({"x": -(2**63)}, {"x": -(2**63)}),
    ],
)
def test_metrics_are_stored_as_they_should_be(
    session: Session, metrics: dict[str, Any], stored: dict[str, Any]
) -> None:
    with Scope("a", metrics):
        pass
    written = tree_of(session)["a"]
    assert written == stored
    assert [type(value) for value in written.values()] == [type(v) for v in stored.values()]


def test_sums_grow_and_properties_are_replaced(session: Session) -> None:
    for value in (1, 2):
        with Scope("a", {"x": value, "y (exc)": value, "z (pty)": value, "v": [value, 1]}):
            pass
    assert tree_of(session)["a"] == {"x": 3, "y": 3, "z": 2, "v": [3, 2]}


def test_metric_kinds_are_written(session: Session) -> None:
    with Scope("a", {"x": 1, "y (exc)": 1, "z (pty)": 1}):
        pass
    kinds = root_of(session)["proton"]["metric_kinds"]
    assert kinds == {"y": "exclusive", "z": "property"}


def test_metrics_are_read_when_the_scope_is_left(session: Session) -> None:
    metrics: dict[str, int] = {}
    with Scope("a", metrics):
        metrics["x"] = 7
    assert tree_of(session)["a"] == {"x": 7}


def test_enter_scope_books_at_entry_and_exit_scope_at_exit(session: Session) -> None:
    enter_scope("a", metrics={"x": 1})
    assert tree_of(session)["a"] == {"x": 1}
    exit_scope("a", metrics={"y": 2})
    assert tree_of(session)["a"] == {"x": 1, "y": 2}


def test_a_metric_that_changes_its_type_is_refused_and_the_rest_kept(session: Session) -> None:
    with Scope("a", {"x": 1}):
        pass
    text = "metric 'x' of 'a' changed its type from int to float"
    with pytest.raises(ValueError, match=text), Scope("a", {"x": 1.5, "y": 2}):
        pass
    assert tree_of(session)["a"] == {"x": 1, "y": 2}
    assert _native.context_path() == []


def test_a_list_that_changes_its_length_is_refused(session: Session) -> None:
    with Scope("a", {"x": [1, 2]}):
        pass
    text = "changed its length from list of 2 ints to list of 3 ints"
    with pytest.raises(UsageError, match=text), Scope("a", {"x": [1, 2, 3]}):
        pass


def test_a_sum_that_leaves_64_bits_is_counted(session: Session) -> None:
    for _ in range(2):
        with Scope("a", {"x": 2**62, "v": [2**62, 2**62]}):
            pass
    assert tree_of(session)["a"]["x"] == 2**62
    assert session.losses == {"metric_overflow": 2}


def test_other_values_go_through_the_converter(session: Session) -> None:
    from proton.runtime import tensor_metrics

    class Tensor:
        pass

    asked: list[str] = []

    def convert(name: str, value: object) -> object:
        asked.append(name)
        return 2.5

    _native.set_metric_converter(convert)
    try:
        with Scope("a", {"x (exc)": Tensor()}):
            assert asked == []
    finally:
        _native.set_metric_converter(tensor_metrics.to_value)
    assert asked == ["x (exc)"]
    assert tree_of(session)["a"] == {"x": 2.5}


def test_metrics_reach_every_active_session(make_session: MakeSession) -> None:
    first, second, idle = make_session(), make_session(), make_session(active=False)
    with Scope("a", {"x": 1}):
        pass
    assert tree_of(first) == tree_of(second) == {"a": {"x": 1}}
    assert tree_of(idle) == {}


def test_timed_scopes_book_exclusive_time_under_recursion(session: Session) -> None:
    scope = Scope("a", timed=True)
    with scope, scope:
        pass
    tree = tree_of(session)
    assert tree["a"]["cpu_time (ns)"] >= tree["a/a"]["cpu_time (ns)"] > 0
    assert root_of(session)["proton"]["metric_kinds"] == {"cpu_time (ns)": "exclusive"}


def test_timed_scopes_add_up_over_threads(session: Session) -> None:
    scope = Scope("a", timed=True)
    started, ended = threading.Barrier(2), threading.Barrier(2)
    spent = []

    def work() -> None:
        begin = time.monotonic_ns()
        with scope:
            started.wait()
            ended.wait()
        spent.append(time.monotonic_ns() - begin)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    booked = tree_of(session)["a"]["cpu_time (ns)"]
    assert 0 < booked <= sum(spent)
    assert booked > max(spent) / 2


def test_any_mapping_can_give_metrics(session: Session) -> None:
    with Scope("a", UserDict({"tokens": 3})):
        pass
    assert tree_of(session)["a"]["tokens"] == 3


def test_the_root_has_a_zero_for_every_sum(session: Session) -> None:
    with Scope("a", {"flops": 2.0, "tokens": 3, "own (exc)": 1, "last (pty)": 4}):
        pass
    assert root_of(session)["metrics"] == {"flops": 0.0, "tokens": 0}
