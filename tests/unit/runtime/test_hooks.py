"""Which hooks run when, and for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from proton._triton.types import LaunchMetadata
from proton.hooks import Hook, HookManager


class Noted(Hook):
    """Notes what happens to it."""

    def __init__(self, name: str = "hook", priority: int = 0, log: list[str] | None = None) -> None:
        self.name, self.priority, self.log = name, priority, [] if log is None else log

    def init_handle(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        self.log.append(f"{self.name} init {name}")

    def destroy_handle(self, module: Any, function: Any, *args: Any) -> None:
        self.log.append(f"{self.name} destroy")

    def enter(self, metadata: LaunchMetadata) -> None:
        self.log.append(f"{self.name} enter")

    def exit(self, metadata: LaunchMetadata) -> None:
        self.log.append(f"{self.name} exit")

    def activate(self) -> None:
        self.log.append(f"{self.name} on")

    def deactivate(self) -> None:
        self.log.append(f"{self.name} off")


class Failing(Noted):
    """Cannot be activated."""

    def activate(self) -> None:
        raise RuntimeError("no")


METADATA: Any = None  # these hooks do not look at it


@pytest.fixture(autouse=True)
def _no_hooks() -> Iterator[None]:
    yield
    HookManager.unregister()


def test_a_registered_hook_runs() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.enter(METADATA)
    HookManager.exit(METADATA)
    assert hook.log == ["hook on", "hook enter", "hook exit"]


def test_hooks_enter_by_priority_and_exit_in_reverse() -> None:
    log: list[str] = []
    HookManager.register(Noted("low", 1, log), 0)
    HookManager.register(Noted("high", 9, log), 0)
    log.clear()
    HookManager.enter(METADATA)
    HookManager.exit(METADATA)
    assert log == ["high enter", "low enter", "low exit", "high exit"]


def test_a_hook_of_two_sessions_runs_once_and_until_both_are_off() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.register(hook, 1)
    HookManager.deactivate(0)
    assert HookManager.active_hooks == [hook]
    HookManager.deactivate(1)
    assert hook.log == ["hook on", "hook off"]


def test_a_hook_that_was_paused_can_be_activated_again() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.deactivate()
    assert HookManager.session_hooks[0] == {hook: False}
    HookManager.activate(0)
    assert HookManager.active_hooks == [hook]


def test_unregistering_takes_the_hook_off() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.unregister(0)
    assert (HookManager.active_hooks, dict(HookManager.session_hooks)) == ([], {})
    assert hook.log == ["hook on", "hook off"]


def test_unknown_sessions_are_ignored() -> None:
    HookManager.unregister(99)
    HookManager.activate(99)
    HookManager.deactivate(99)
    assert dict(HookManager.session_hooks) == {}


def test_a_hook_that_fails_to_activate_leaves_nothing_registered() -> None:
    with pytest.raises(RuntimeError, match="no"):
        HookManager.register(Failing(), 0)
    assert (HookManager.active_hooks, dict(HookManager.session_hooks)) == ([], {})


def test_kernel_loads_and_unloads_reach_the_hooks() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.init_handle(None, None, "kernel", {}, "hash")
    HookManager.destroy_handle(None, None)
    assert hook.log[1:] == ["hook init kernel", "hook destroy"]


def test_forgetting_calls_no_hook() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.forget()
    assert hook.log == ["hook on"]


def test_a_hook_that_was_paused_during_a_launch_is_still_left() -> None:
    hook = Noted()
    HookManager.register(hook, 0)
    HookManager.enter(METADATA)
    HookManager.deactivate(0)
    HookManager.exit(METADATA)
    assert hook.log == ["hook on", "hook enter", "hook off", "hook exit"]


def test_a_hook_that_became_active_during_a_launch_is_not_left() -> None:
    hook = Noted()
    HookManager.enter(METADATA)
    HookManager.register(hook, 0)
    HookManager.exit(METADATA)
    assert hook.log == ["hook on"]


def test_a_hook_that_fails_reaches_the_launch_and_the_others_are_left() -> None:
    class FailingEnter(Noted):
        def enter(self, metadata: LaunchMetadata) -> None:
            raise RuntimeError("no launch")

    log: list[str] = []
    HookManager.register(Noted("first", 9, log), 0)
    HookManager.register(FailingEnter("second", 1, log), 0)
    log.clear()
    with pytest.raises(RuntimeError, match="no launch"):
        HookManager.enter(METADATA)
    assert log == ["first enter", "first exit"]


def test_triton_calls_us_only_while_a_session_has_a_hook() -> None:
    knobs = pytest.importorskip("triton.knobs")
    chain = knobs.runtime.launch_enter_hook
    before = list(chain.calls)
    HookManager.register(Noted(), 0)
    assert len(chain.calls) == len(before) + 1
    HookManager.unregister(0)
    assert chain.calls == before
