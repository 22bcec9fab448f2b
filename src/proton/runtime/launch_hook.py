"""The launch hook: names and metrics from `@triton.jit(launch_metadata=...)` reach the sessions.

A launch goes on whatever the user's function does; what went wrong is in the profile.
"""

from __future__ import annotations

import itertools
import re
from contextvars import ContextVar

from proton import _native
from proton._triton.types import LaunchMetadata
from proton.errors import ProtonError, UsageError
from proton.runtime.hooks import Hook
from proton.runtime.scopes import metadata_state
from proton.runtime.tensor_metrics import is_tensor

RESERVED = ("name", "function", "stream")

# The launch under way in this thread or task, or the last one: its number, no other launch has it,
# and its name. `enabled`: metadata of one under way was asked for.
id: ContextVar[int | None] = ContextVar("proton_launch_id", default=None)
op_name: ContextVar[str | None] = ContextVar("proton_launch_op_name", default=None)
enabled: ContextVar[bool] = ContextVar("proton_launch_enabled", default=False)
in_hook: ContextVar[bool] = ContextVar("proton_launch_in_hook", default=False)

_launches = itertools.count()


class LaunchHook(Hook):
    """The hook behind `start(hook="triton")`. There is one; constructing it again returns it."""

    priority = 100
    _instance: LaunchHook | None = None

    def __new__(cls) -> LaunchHook:
        """The one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._include = None
            cls._instance._exclude = None
        return cls._instance

    _include: re.Pattern[str] | None
    _exclude: re.Pattern[str] | None

    def configure(self, *, include: str | None = None, exclude: str | None = None) -> None:
        """Ask for the launch metadata of some kernels only.

        Both the compiled name and the one that the metadata gives must pass. A launch whose
        metadata gives one that does not keeps its compiled name and has no metrics.

        Args:
            include: a regular expression that the kernel's name must match, from its start.
            exclude: one that it must not match. Both None: every kernel.

        Raises:
            UsageError: not a regular expression.
        """
        self._include = _compile("include", include)
        self._exclude = _compile("exclude", exclude)

    def init_handle(
        self, module: object, function: object, name: str, metadata_group: dict[str, str], hash: str
    ) -> None:
        """Nothing to do: only launches matter here."""

    def activate(self) -> None:
        """Nothing to prepare."""

    def deactivate(self) -> None:
        """Nothing to undo."""

    def enter(self, metadata: LaunchMetadata) -> None:
        """Compute the launch metadata and hand it to the sessions."""
        if in_hook.get():  # a launch made by a launch_metadata function
            return
        if enabled.get():  # the launch before this one failed, and had no exit
            self.exit(metadata)
        name = _own_name(metadata)
        id.set(next(_launches))
        op_name.set(name)
        if not self._wants(name):
            enabled.set(False)
            return
        token = in_hook.set(True)
        try:
            with metadata_state(name):
                is_entered = self._enter_op(name, metadata)
        finally:
            in_hook.reset(token)
        enabled.set(is_entered)

    def exit(self, metadata: LaunchMetadata) -> None:
        """Forget the launch metadata: the launch is over."""
        if in_hook.get():
            return
        if enabled.get():
            _native.exit_op()
            enabled.set(False)

    def _enter_op(self, own_name: str | None, metadata: LaunchMetadata) -> bool:
        """Ask for the metadata; whether sessions have taken it."""
        before = dict(getattr(metadata, "data", None) or {})
        try:
            answer = metadata.get()
        except Exception as error:
            _complain(own_name, f"failed with {type(error).__name__}: {error}")
            _native.enter_op(own_name, None)
            return True
        name = _name_in(answer, own_name)
        if name != own_name and not self._wants(name):
            return False
        op_name.set(name)
        _enter_op(name, own_name, answer, before)
        return True

    def _wants(self, name: str | None) -> bool:
        if name is None:
            return self._include is None
        if self._include is not None and not self._include.match(name):
            return False
        return self._exclude is None or not self._exclude.match(name)


def _compile(which: str, pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except (re.error, TypeError) as error:
        raise UsageError(f"{which}={pattern!r} is not a regular expression: {error}") from error


def _own_name(metadata: LaunchMetadata) -> str | None:
    """The kernel's own name, without running the user's function where that can be avoided."""
    known = getattr(metadata, "data", None)
    name = known.get("name") if isinstance(known, dict) else None
    return name if isinstance(name, str) else None


def _name_in(answer: dict[str, object], own_name: str | None) -> str | None:
    """The name that launch metadata gives, or the kernel's own."""
    name = answer.get("name", own_name)
    if isinstance(name, str) and name:
        return name
    _complain(own_name, f"gave the name {name!r}, which is no text")
    return own_name


def _enter_op(
    name: str | None, own_name: str | None, answer: dict[str, object], before: dict[str, object]
) -> None:
    """Have the sessions book the launch under `name`, with the metrics of the answer."""
    for key in ("function", "stream"):
        if key in before and answer.get(key) is not before[key]:
            _complain(own_name, f"uses the reserved key {key!r}; give it another name")
    metrics = {key: value for key, value in answer.items() if key not in RESERVED}
    numbers = {key: value for key, value in metrics.items() if _is_metric(key, value)}
    if len(numbers) < len(metrics):
        _count("launch_metadata_value", len(metrics) - len(numbers))
    try:
        _native.enter_op(name, numbers or None)
    except ProtonError:
        _native.enter_op(name, _recordable(own_name, numbers))


def _is_metric(key: object, value: object) -> bool:
    if not isinstance(key, str):
        return False
    return isinstance(value, (int, float, list, tuple)) or is_tensor(value)


def _recordable(own_name: str | None, metrics: dict[str, object]) -> dict[str, object] | None:
    """Those metrics that the core takes one by one."""
    good = {}
    for key, value in metrics.items():
        try:
            _native.enter_op(own_name, {key: value})
        except ProtonError as error:
            _complain(own_name, f"gave a metric that cannot be recorded: {error}")
        else:
            _native.exit_op()
            good[key] = value
    return good or None


def _complain(kernel: str | None, what: str) -> None:
    text = f"launch metadata of kernel {kernel!r} {what}"
    for sink in _sinks():
        sink.warn(text)
        sink.count_loss("launch_metadata_error")


def _count(kind: str, count: int) -> None:
    for sink in _sinks():
        sink.count_loss(kind, count)


def _sinks() -> list[_native.Session]:
    """The active sessions that asked for launch metadata."""
    from proton.runtime.sessions import open_sessions

    natives = (opened.native for opened in open_sessions())
    return [native for native in natives if native.uses_launch_metadata and native.is_active]
