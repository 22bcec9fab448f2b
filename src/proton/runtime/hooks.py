"""Hooks: what runs when Triton loads a kernel and around each launch; and who has which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from contextvars import ContextVar
from typing import ClassVar

from proton import _triton
from proton._triton.types import LaunchMetadata


class Hook(ABC):
    """Subclass it and give an instance to `start(hook=...)`.

    Hooks of higher `priority` enter first and exit last. An exception in a hook reaches the launch.
    """

    priority: int = 0

    @abstractmethod
    def init_handle(
        self, module: object, function: object, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """A kernel was loaded."""

    def destroy_handle(self, module: object, function: object, *args: object) -> None:  # noqa: B027
        """A kernel was unloaded (Triton 3.8 and later)."""

    @abstractmethod
    def enter(self, metadata: LaunchMetadata) -> None:
        """A kernel is about to be launched, on the launching thread."""

    @abstractmethod
    def exit(self, metadata: LaunchMetadata) -> None:
        """The launch has returned."""

    @abstractmethod
    def activate(self) -> None:
        """The first session that has this hook became active."""

    @abstractmethod
    def deactivate(self) -> None:
        """The last session that has this hook became inactive."""


# The launch under way in this thread or task. Launches made by a hook come and go before.
_entered: ContextVar[tuple[Hook, ...]] = ContextVar("proton_entered_hooks", default=())


class HookManager:
    """Which hooks run, and for which sessions they were registered. Static."""

    active_hooks: ClassVar[list[Hook]] = []  # by priority, highest first
    session_hooks: ClassVar[dict[int, dict[Hook, bool]]] = defaultdict(dict)  # hook -> is active

    @staticmethod
    def register(hook: Hook, session: int) -> None:
        """Give `session` the hook, active."""
        try:
            HookManager._activate_one(hook, session)
        except BaseException:
            HookManager.session_hooks[session].pop(hook, None)
            HookManager._forget_if_bare(session)
            HookManager._follow_triton()
            raise

    @staticmethod
    def unregister(session: int | None = None) -> None:
        """Take the hooks of one session, or of all, away. Unknown ids are ignored."""
        for owner in HookManager._chosen(session):
            try:
                HookManager.deactivate(owner)
            finally:
                HookManager.session_hooks.pop(owner, None)
        HookManager._follow_triton()

    @staticmethod
    def activate(session: int | None = None) -> None:
        """Have the hooks of one session, or of all, run again."""
        for owner in HookManager._chosen(session):
            for hook in list(HookManager.session_hooks[owner]):
                HookManager._activate_one(hook, owner)

    @staticmethod
    def deactivate(session: int | None = None) -> None:
        """Stop the hooks of one session, or of all; one that another session needs goes on."""
        for owner in HookManager._chosen(session):
            for hook in list(HookManager.session_hooks[owner]):
                HookManager._deactivate_one(hook, owner)

    @staticmethod
    def init_handle(
        module: object, function: object, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """Triton's call when a kernel was loaded."""
        for hook in tuple(HookManager.active_hooks):
            hook.init_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def destroy_handle(module: object, function: object, *args: object) -> None:
        """Triton's call when a kernel was unloaded."""
        for hook in tuple(HookManager.active_hooks):
            hook.destroy_handle(module, function, *args)

    @staticmethod
    def enter(metadata: LaunchMetadata) -> None:
        """Triton's call before a launch. When a hook fails, those before it are left again."""
        entered: list[Hook] = []
        try:
            for hook in tuple(HookManager.active_hooks):
                hook.enter(metadata)
                entered.append(hook)
        except BaseException:
            for hook in reversed(entered):
                hook.exit(metadata)
            raise
        _entered.set(tuple(entered))

    @staticmethod
    def exit(metadata: LaunchMetadata) -> None:
        """Triton's call after a launch: leaves the hooks that it entered, active still or not."""
        entered = _entered.get()
        _entered.set(())
        for hook in reversed(entered):
            hook.exit(metadata)

    @staticmethod
    def forget() -> None:
        """Drop everything without calling a hook: in a forked child the hooks are the parent's."""
        HookManager.active_hooks.clear()
        HookManager.session_hooks.clear()
        HookManager._follow_triton()

    @staticmethod
    def _activate_one(hook: Hook, session: int) -> None:
        if hook not in HookManager.active_hooks:
            hook.activate()
            HookManager.active_hooks.append(hook)
            HookManager.active_hooks.sort(key=lambda hook: -hook.priority)
        HookManager.session_hooks[session][hook] = True
        HookManager._follow_triton()

    @staticmethod
    def _deactivate_one(hook: Hook, session: int) -> None:
        HookManager.session_hooks[session][hook] = False
        is_needed = any(hooks.get(hook) for hooks in HookManager.session_hooks.values())
        if hook in HookManager.active_hooks and not is_needed:
            HookManager.active_hooks.remove(hook)
            hook.deactivate()

    @staticmethod
    def _chosen(session: int | None) -> list[int]:
        if session is None:
            return list(HookManager.session_hooks)
        return [session] if session in HookManager.session_hooks else []

    @staticmethod
    def _forget_if_bare(session: int) -> None:
        if not HookManager.session_hooks.get(session):
            HookManager.session_hooks.pop(session, None)

    @staticmethod
    def _follow_triton() -> None:
        """Stand in Triton's hook chains while a session has a hook.

        Also while it is paused: a launch that another thread is making must find its exit.
        """
        _set_installed(bool(HookManager.session_hooks))


_stop_waiting: Callable[[], None] | None = None  # for Triton's import; None: not installed


def _set_installed(is_wanted: bool) -> None:
    """Stand in Triton's hook chains, from its import on, or leave them. Does not import Triton."""
    global _stop_waiting
    if is_wanted == (_stop_waiting is not None):
        return
    if _stop_waiting is None:
        _stop_waiting = _triton.when_imported(_join_chains)
        return
    _stop_waiting()
    _stop_waiting = None
    if _triton.is_imported():
        _leave_chains()


def _join_chains() -> None:
    # outermost: others may ask for the metadata
    _triton.add_launch_hooks(HookManager.enter, HookManager.exit, is_outermost=True)
    runtime = _triton.runtime_knobs()
    runtime.kernel_load_end_hook.add(HookManager.init_handle)
    if hasattr(runtime, "kernel_unload_hook"):  # Triton 3.8
        runtime.kernel_unload_hook.add(HookManager.destroy_handle)


def _leave_chains() -> None:
    _triton.remove_launch_hooks(HookManager.enter, HookManager.exit)
    runtime = _triton.runtime_knobs()
    runtime.kernel_load_end_hook.remove(HookManager.init_handle)
    if hasattr(runtime, "kernel_unload_hook"):
        runtime.kernel_unload_hook.remove(HookManager.destroy_handle)
