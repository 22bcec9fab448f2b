"""Scopes, states and stacks of the native core, as Python sees them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from proton import _native
from proton._native import Scope, context_path, enter_scope, exit_scope
from proton.errors import MetricTypeError, ScopeMismatch, UsageError
from tests.support.native import run_thread

# Scope objects


def test_a_scope_shows_its_name_and_metrics() -> None:
    scope = Scope("a", {"x": 1})
    assert (scope.name, scope.metrics, repr(scope)) == ("a", {"x": 1}, "proton.scope('a')")


def test_a_scope_takes_keywords() -> None:
    scope = Scope(name="a", metrics=None)
    assert scope.metrics is None


def test_a_scope_without_a_name_is_refused() -> None:
    with pytest.raises(TypeError):
        Scope()  # type: ignore[call-arg]


def test_a_name_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match="scope name must be a string, not int"):
        Scope(3)  # type: ignore[arg-type]


def test_a_scope_can_be_renamed() -> None:
    scope = Scope("a")
    scope.name = "b"
    with scope:
        assert context_path() == ["b"]


def test_a_name_of_a_string_subclass_counts_by_its_text() -> None:
    class Loud(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    with Scope(Loud("a")):
        assert context_path() == ["a"]


def test_entering_gives_the_scope_itself() -> None:
    scope = Scope("a")
    with scope as entered:
        assert entered is scope


def test_scopes_nest() -> None:
    with Scope("a"), Scope("b"):
        assert context_path() == ["a", "b"]
    assert context_path() == []


def test_one_object_may_be_entered_again_while_open() -> None:
    scope = Scope("a")
    with scope, scope:
        assert context_path() == ["a", "a"]
    assert context_path() == []


def test_an_exception_passes_through() -> None:
    with pytest.raises(KeyError), Scope("a"):
        raise KeyError
    assert context_path() == []


def test_calling_a_scope_asks_the_decorator() -> None:
    from proton.runtime.scopes import decorate

    seen: list[Any] = []
    _native.set_scope_decorator(lambda *given: seen.append(given))  # type: ignore[type-var]
    try:
        scope = Scope("a")
        scope(len)
    finally:
        _native.set_scope_decorator(decorate)
    assert seen == [(scope, len)]


def test_a_subclass_has_state_of_its_own() -> None:
    class Named(Scope):
        def __init__(self, name: str) -> None:
            super().__init__(name + "!")
            self.extra = 1

    with Named("a") as scope:
        assert context_path() == ["a!"]
    assert scope.extra == 1  # type: ignore[attr-defined]


def test_a_subclass_that_forgets_its_base_says_so() -> None:
    class Forgetful(Scope):
        def __init__(self) -> None:
            pass

    with pytest.raises(UsageError, match="the scope has no name"), Forgetful():
        pass


def test_scopes_do_not_leak() -> None:
    def enter_many() -> None:
        for _ in range(1000):
            with Scope("a", {"x": 1}):
                pass

    enter_many()
    gc.collect()
    before = sys.getallocatedblocks()
    enter_many()
    assert sys.getallocatedblocks() - before < 50


def test_depth_ten_thousand_works(session: _native.Session) -> None:
    scopes = [Scope("a") for _ in range(10_000)]
    for scope in scopes:
        scope.__enter__()
    assert session.depth() == 10_000
    for scope in reversed(scopes):
        scope.__exit__(None, None, None)
    assert context_path() == []


# Ids


def test_the_id_is_none_with_no_session() -> None:
    with Scope("a") as scope:
        assert scope.id is None


def test_every_entry_has_an_id_of_its_own(session: _native.Session) -> None:
    scope = Scope("a")
    with scope:
        outer = scope.id
        with scope:
            assert scope.id != outer
        assert scope.id == outer


def test_enter_scope_and_exit_scope_give_one_id(session: _native.Session) -> None:
    entered = enter_scope("a")
    assert entered is not None
    assert exit_scope("a") == entered


def test_enter_scope_gives_none_with_no_session() -> None:
    assert enter_scope("a") is None
    assert exit_scope() is None


# Mismatches


def test_exit_scope_of_nothing_is_refused() -> None:
    with pytest.raises(ScopeMismatch, match="cannot exit scope 'a': enter_scope opened none"):
        exit_scope("a")


def test_exit_scope_with_a_wrong_name_changes_nothing() -> None:
    enter_scope("a")
    with pytest.raises(ScopeMismatch, match="cannot exit scope 'b': the innermost open one is 'a'"):
        exit_scope("b")
    assert context_path() == ["a"]
    exit_scope("a")


def test_exit_scope_does_not_see_with_blocks() -> None:
    with Scope("a"), pytest.raises(ScopeMismatch):
        exit_scope("a")


def test_exit_scope_inside_a_with_block_takes_effect_when_that_ends() -> None:
    enter_scope("a")
    with Scope("b"):
        exit_scope("a")
        assert context_path() == ["a", "b"]
    assert context_path() == []


def test_a_with_block_closes_what_enter_scope_left_open(session: _native.Session) -> None:
    with Scope("a"):
        enter_scope("b")
    assert context_path() == []
    assert session.losses == {"unclosed_scope": 1}


def test_leaving_a_scope_that_was_not_entered_is_counted(session: _native.Session) -> None:
    Scope("a").__exit__()
    assert session.losses == {"unmatched_exit": 1}


def test_a_scope_left_on_another_thread_is_counted_there(session: _native.Session) -> None:
    scope = Scope("a")
    with scope:
        run_thread(scope.__exit__)
        assert context_path() == ["a"]
    assert session.losses == {"unmatched_exit": 1}


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric'"):
        enter_scope("a", metric=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes one positional argument, not 2"):
        exit_scope("a", {})  # type: ignore[call-arg]


# States


def test_exit_state_of_nothing_is_refused() -> None:
    with pytest.raises(ScopeMismatch, match="cannot exit a state"):
        _native.exit_state()


def test_a_state_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match="state name must be a string"):
        _native.enter_state(1)  # type: ignore[arg-type]


# Metrics at the call


@pytest.mark.parametrize(
    ("metrics", "error", "text"),
    [
        ({"x": float("nan")}, UsageError, "metric 'x' is nan; only finite numbers"),
        ({"x": float("-inf")}, UsageError, "metric 'x' is -inf"),
        ({"x": 2**63}, UsageError, "metric 'x' does not fit into 64 bits"),
        ({"x": "text"}, MetricTypeError, "metric 'x' is 'text' of type 'str'"),
        ({"x": None}, MetricTypeError, "metric 'x' is None"),
        ({"x": []}, UsageError, "metric 'x' is an empty list"),
        ({"x": [1, "a"]}, MetricTypeError, "metric 'x' has 'a' in its list"),
        ({"": 1}, UsageError, "metric name '' is empty"),
        ({"(exc)": 1}, UsageError, r"metric name '\(exc\)' is empty"),
        ({1: 1}, MetricTypeError, "metric name 1 is not a string"),
        ({"a\0b": 1}, UsageError, "NUL"),
        (5, MetricTypeError, "metrics 5 are no mapping"),
        ([1], MetricTypeError, r"metrics \[1\] are no mapping"),
    ],
)
def test_a_bad_metric_is_refused_and_the_stack_stays_right(
    session: _native.Session, metrics: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Scope("a", metrics)
    with pytest.raises(error, match=text):
        enter_scope("a", metrics=metrics)
    assert context_path() == []
    enter_scope("b")
    with pytest.raises(error, match=text):
        exit_scope("b", metrics=metrics)
    assert context_path() == []


def test_a_bad_metric_is_nobodys_business_while_nothing_records() -> None:
    with Scope("a", {"x": float("nan")}):
        pass


def test_a_bad_metric_gives_way_to_the_exception_of_the_block(session: _native.Session) -> None:
    metrics: dict[str, Any] = {}
    with pytest.raises(KeyError), Scope("a", metrics):
        metrics["x"] = "text"
        raise KeyError
    assert session.losses == {"bad_metric": 1}


def test_a_generator_closed_out_of_order_does_not_corrupt_the_stack() -> None:
    def generate() -> Iterator[None]:
        with Scope("generator"):
            yield

    generator = generate()
    with Scope("outer"):
        next(generator)
    generator.close()  # type: ignore[attr-defined]
    assert context_path() == []


def test_a_scope_dropped_while_open_leaves_no_dangling_owner() -> None:
    with Scope("outer"):
        Scope("dropped").__enter__()
        gc.collect()
        other = Scope("other")
        other.__exit__()
        assert context_path() == ["outer", "dropped"]
    assert context_path() == []
