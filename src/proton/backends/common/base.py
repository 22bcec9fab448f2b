"""What a backend is, which there are, and how one is loaded. Knows no backend in particular."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from proton import _native
from proton.backends.common.foreign import foreign_backends, load_foreign
from proton.backends.common.knobs import Knobs
from proton.errors import BackendUnavailable, UsageError
from proton.model.in_kernel import RecordedKernel

FLUSH_LIMIT_S = 30.0


class Backend(Protocol):
    """Turns GPU work into events. One instance serves one session.

    What it uses of the session (`_native.Session`):

    - `is_active`: whether events are recorded now; a backend may skip work while not.
    - `on_kernel`: book one finished kernel under the calling thread's current context, or under
      `context`, of `launch_context`, with the launch metadata of that moment and no other metrics.
      Times are nanoseconds of `time.monotonic_ns`'s clock. The name and metrics that launch
      metadata gave for the launch under way (`_native.enter_op`) apply where the session asked for
      the launch hook.
    - `launch_context`: where launches of the calling thread belong now, for `on_kernel` later.
    - `add_device`: describe a device for the file's device map: arch, num_sms, clock_rate, ...
    - `add_autotune`: keep one autotuning run (docs/reference/file-format has its keys).
    - `count_loss`: count events that were seen but not recorded, by a short snake_case word.
    - `warn`: keep one line for the reader of the profile; equal lines are kept once, with a count.
    """

    def __init__(self, mode: str) -> None: ...

    def start(self, session: _native.Session) -> None:
        """Report to `session` from now on."""

    def flush(self, limit_s: float = FLUSH_LIMIT_S) -> None:
        """Return once every event of work that was launched before the call has been booked.

        After `limit_s` it gives up and says so in the profile.
        """

    def flush_soon(self) -> None:
        """Have events of work that is done come in; any thread, waits for no work, never fails."""

    def stop(self) -> None:
        """Report no more, and leave no hook behind."""


@runtime_checkable
class Resumes(Protocol):
    """What a backend has besides that may come to see more than when it started."""

    def resume(self) -> None:
        """The session paused, and will be active again once this returns; never fails."""


@runtime_checkable
class Pauses(Resumes, Protocol):
    """What a backend has besides that would cost something while its session is inactive."""

    def pause(self) -> None:
        """The session is inactive from now on; never fails."""


@runtime_checkable
class Forgets(Protocol):
    """A backend that has something to let go of in a forked child, where it is the parent's."""

    def forget(self) -> None:
        """Be as if it had never started; locks may be held by threads that are not here."""


@runtime_checkable
class RecordsInKernel(Protocol):
    """What a backend has besides whose kernels record about themselves; any thread may ask."""

    def recorded_kernels(self, phase: int) -> Sequence[RecordedKernel]:
        """What kernels launched in a phase have recorded so far, each context and mode once."""

    def drop_phase(self, phase: int) -> None:
        """Nobody will ask for this phase again."""


_METHODS = ("start", "flush", "flush_soon", "stop")  # of a backend

# name -> "module:class", imported only when chosen; None: known, but not in this version
BACKENDS: dict[str, str | None] = {
    "cupti": "proton.backends.cupti.backend:CuptiBackend",
    "rocprofiler": None,
    "instrumentation": "proton.backends.instrumentation.backend:InstrumentationBackend",
    "interpreter": "proton.backends.interpreter:InterpreterBackend",
}


def load_backend(name: str) -> type[Backend]:
    """The class behind a backend's name (any case), ours or another package's.

    Raises:
        UsageError: no backend has this name.
        BackendUnavailable: this version or this machine cannot run it, or its package is broken.
    """
    check_backend(name)
    if name.lower() not in BACKENDS:
        return cast(type[Backend], load_foreign(name.lower(), _METHODS))
    target = BACKENDS[name.lower()]
    if target is None:
        raise BackendUnavailable(
            name.lower(),
            reason="this version of proton does not have it yet",
            remedy="use backend='interpreter' (--backend interpreter)",
        )
    module, _, attribute = target.partition(":")
    return cast(type[Backend], getattr(import_module(module), attribute))


def check_backend(name: object) -> None:
    """Raise UsageError, with the choices, where no backend has this name (any case).

    Other packages are asked only where it is none of ours.
    """
    if isinstance(name, str) and name.lower() in BACKENDS:
        return
    foreign = foreign_backends()
    if not isinstance(name, str) or name.lower() not in foreign:
        raise UsageError.unknown("backend", name, choices={*BACKENDS, *foreign})


def make_backend(name: str, mode: object, knobs: Knobs) -> Backend:
    """A backend for one session; one whose class says `takes_knobs` gets them too.

    Args:
        name: Of the backend.
        mode: Its text, or an object that this backend takes instead.
        knobs: As the session has them.

    Raises:
        UsageError: the name or the mode means nothing.
        BackendUnavailable: this version or this machine cannot run it.
    """
    kind = load_backend(name)
    if getattr(kind, "takes_knobs", False):
        return cast(Backend, cast(Any, kind)(mode, knobs=knobs))
    return kind(cast(str, mode))
