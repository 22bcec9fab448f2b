"""What a backend is, which there are, and how one is loaded. Knows no backend in particular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from proton.backends.knobs import Knobs
from proton.errors import BackendUnavailable, UsageError
from proton.model.in_kernel import RecordedKernel

FLUSH_LIMIT_S = 30.0

MetricInput = int | float | list[int] | list[float]


class EventSink(Protocol):
    """Where a backend puts what it saw: one session. Implemented by `_native.Session`."""

    @property
    def is_active(self) -> bool:
        """Whether events are recorded now; a backend may skip work while not."""

    def on_kernel(
        self,
        name: str,
        start_ns: int,
        end_ns: int,
        *,
        device_type: str,
        device_id: int,
        lane: int = 0,
        metrics: Mapping[str, MetricInput] | None = None,
        context: int | None = None,
    ) -> None:
        """Book one finished kernel under the calling thread's current context.

        With `context`, of `launch_context`, it is booked there instead, with the launch metadata of
        that moment and no other metrics.

        Times are nanoseconds of `time.monotonic_ns`'s clock. The name and metrics that launch
        metadata gave for the launch under way (`_native.enter_op`) apply where the session asked
        for the launch hook.
        """

    def launch_context(self) -> int:
        """Where launches of the calling thread belong now, for `on_kernel` later."""

    def add_device(
        self, device_type: str, device_id: int, attributes: Mapping[str, str | int]
    ) -> None:
        """Describe a device for the file's device map: arch, num_sms, clock_rate, ..."""

    def add_autotune(self, record: Mapping[str, object]) -> None:
        """Keep one autotuning run (JSON-able; docs/reference/file-format has its keys)."""

    def count_loss(self, kind: str, count: int = 1) -> None:
        """Count events that were seen but not recorded; `kind` is a short snake_case word."""

    def warn(self, text: str) -> None:
        """Keep one line for the reader of the profile; equal lines are kept once, with a count."""


class Backend(Protocol):
    """Turns GPU work into events. One instance serves one session."""

    def __init__(self, mode: str) -> None: ...

    def start(self, sink: EventSink) -> None:
        """Report to `sink` from now on."""

    def flush(self, limit_s: float = FLUSH_LIMIT_S) -> None:
        """Return once every event of work that was launched before the call has reached the sink.

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


# name -> "module:class", imported only when chosen; None: known, but not in this version
BACKENDS: dict[str, str | None] = {
    "cupti": "proton.backends.cupti.backend:CuptiBackend",
    "rocprofiler": None,
    "instrumentation": "proton.backends.instrumentation.backend:InstrumentationBackend",
    "interpreter": "proton.backends.interpreter:InterpreterBackend",
}


def load_backend(name: str) -> type[Backend]:
    """The class behind a backend's name (any case).

    Raises:
        UsageError: no backend has this name.
        BackendUnavailable: this version or this machine cannot run it.
    """
    if name.lower() not in BACKENDS:
        raise UsageError.unknown("backend", name, choices=BACKENDS)
    target = BACKENDS[name.lower()]
    if target is None:
        raise BackendUnavailable(
            name.lower(),
            reason="this version of proton does not have it yet",
            remedy="use backend='interpreter' (--backend interpreter)",
        )
    module, _, attribute = target.partition(":")
    return cast(type[Backend], getattr(import_module(module), attribute))


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
