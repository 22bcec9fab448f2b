"""The interpreter backend: Triton kernels run on the CPU, every launch an event with its counts.

The map of the room: `engine` routes Triton's launches here; `interpreted_launch` runs one and names
the line where a kernel fails; `kernel_functions` prepares functions, `arguments` their arguments;
`builder`, `memory`, `libdevice` and `numeric` are the operations, counted; `patched_language` puts
them under `triton.language`, with reductions; `interpreted_autotuning` tries configurations;
`events` is the stream of single operations for clients such as a visualizer, which `observe` feeds.
Triton and numpy are imported only once the program has imported Triton.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from proton import _native, _triton
from proton.backends.common.base import FLUSH_LIMIT_S
from proton.errors import BackendUnavailable, UsageError

if TYPE_CHECKING:  # not to break a cycle: it imports numpy
    from proton.backends.interpreter.interpreted_launch import FinishedLaunch

DEVICE_TYPE = "CPU"
DEVICE_ID = 0

_log = logging.getLogger("proton")


class InterpreterBackend:
    """Runs Triton kernels through Triton's interpreter and reports each launch to one session.

    Kernels are interpreted from `start` to `stop`, whether the session is active or not (there may
    be no GPU to run them on); they become events while it is active.
    """

    def __init__(self, mode: str = "") -> None:
        if mode:
            raise UsageError(f"backend 'interpreter' has no mode {mode!r}; leave the mode out")
        self._sink: _native.Session | None = None
        self._stop_waiting: Callable[[], None] = lambda: None
        self._is_described = False

    def start(self, session: _native.Session) -> None:
        """Interpret kernels from now on, or from the program's import of Triton on.

        Raises:
            BackendUnavailable: Triton is imported and numpy is not installed.
        """
        self._sink = session
        if _triton.is_imported():
            self._connect()
        else:
            self._stop_waiting = _triton.when_imported(self._connect_late)

    def flush(self, limit_s: float = FLUSH_LIMIT_S) -> None:
        """Nothing is ever outstanding: a launch is over when it returns."""

    def flush_soon(self) -> None:
        """Nothing is ever outstanding."""

    def stop(self) -> None:
        """Give kernels back to Triton, unless another session interprets them."""
        self._stop_waiting()
        if self._sink is not None and _triton.is_imported():
            _engine().remove(self)
        self._sink = None

    def on_launch(self, launch: FinishedLaunch) -> None:
        """Book a launch; `flops` and `bytes` are the counted ones where metadata gave none."""
        sink = self._sink
        if sink is None or not sink.is_active:
            return
        if not self._is_described:
            self._describe_device(sink)
        given = launch.given if sink.uses_launch_metadata else frozenset()
        filled = dict(launch.metrics)
        if not any(metric.startswith("flops") for metric in given):
            filled["flops"] = float(filled["counted_flops"])
        if "bytes" not in given:
            filled["bytes"] = filled["counted_bytes"]
        sink.on_kernel(
            launch.name,
            launch.start_ns,
            launch.end_ns,
            device_type=DEVICE_TYPE,
            device_id=DEVICE_ID,
            metrics=filled,
        )

    def on_failed_launch(self) -> None:
        """Count a launch that raised: it has no event."""
        if self._sink is not None and self._sink.is_active:
            self._sink.count_loss("failed_kernel")

    def on_autotune(self, record: Mapping[str, object]) -> None:
        """Keep one autotuning run."""
        if self._sink is not None and self._sink.is_active:
            self._sink.add_autotune(record)

    def _connect(self) -> None:
        _engine().add(self)

    def _connect_late(self) -> None:
        """Connect during the program's own import of Triton, which must not fail for our sake."""
        try:
            self._connect()
        except BackendUnavailable as error:
            _log.warning("%s", error)
            if self._sink is not None:
                self._sink.warn(str(error))

    def _describe_device(self, sink: _native.Session) -> None:
        unknown = dict.fromkeys(("bus_width", "clock_rate", "memory_clock_rate", "num_sms"), 0)
        sink.add_device(DEVICE_TYPE, DEVICE_ID, {"arch": "interpreter", **unknown})
        self._is_described = True


def _engine() -> Any:
    """The process's engine; importing it needs numpy, which Triton itself does not ask for."""
    try:
        return import_module("proton.backends.interpreter.engine").shared_engine()
    except ImportError as error:
        raise BackendUnavailable(
            "interpreter",
            reason=f"{error.name or 'a module'} cannot be imported ({error})",
            remedy="pip install 'proton-profiler[interpreter]'",
        ) from error
    except AttributeError as error:  # Triton's interpreter is no public interface
        if _triton.is_supported():
            raise
        raise BackendUnavailable(
            "interpreter",
            reason=f"Triton {_triton.version()} has another interpreter ({error})",
            remedy="use Triton 3.6 to 3.9",
        ) from error
