"""States: a label on the work done under them, innermost first; not part of the scope path."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from proton import _native
from proton.errors import ScopeMismatch
from proton.runtime.wrapping import wrap

F = TypeVar("F", bound=Callable[..., Any])

# Work done to compute launch metadata or metrics is labelled with this; viewers leave it out.
COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
COMPUTE_METADATA_SCOPE_PREFIX = f"{COMPUTE_METADATA_SCOPE_NAME}:"

enter_state = _native.enter_state
exit_state = _native.exit_state


class state:  # noqa: N801 - the name users know
    """Labels kernels launched inside it: one frame between the scope path and the kernel.

    A context manager and a decorator. States nest: the innermost one labels, and the outer one
    is back when it is left. One object may be entered many times, by many threads.

    Example:
        >>> with proton.scope("step"), proton.state("warmup"):
        ...     kernel[grid](x)  # ROOT / step / warmup / kernel
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> state:
        enter_state(self.name)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        try:
            exit_state()
        except ScopeMismatch:
            if exc is None:  # else it would hide the exception that is on its way
                raise

    def __call__(self, function: F) -> F:
        """`function`, labelled whenever it runs."""
        return wrap(function, lambda: self)


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    """The state that work for the launch metadata of `kernel_name` is labelled with."""
    if kernel_name is None:
        return COMPUTE_METADATA_SCOPE_NAME
    return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name


def metadata_state(kernel_name: str | None = None) -> state:
    """A state for work that is not the program's own: computing launch metadata or metrics."""
    return state(get_metadata_state_name(kernel_name))
