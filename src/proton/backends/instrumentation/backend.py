"""The instrumentation backend of one session: records on, into the session, and off again.

Creates no CUDA context and launches nothing until the program launches a kernel.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from proton import _native
from proton.backends.base import FLUSH_LIMIT_S, EventSink
from proton.backends.cupti.hub import find_driver
from proton.backends.instrumentation.kernels import resources_of
from proton.backends.instrumentation.launches import launches
from proton.backends.instrumentation.report import to_recorded_kernel
from proton.backends.knobs import Knobs
from proton.inkernel.instrument import Handle, begin
from proton.inkernel.modes import parse_instrumentation
from proton.model.in_kernel import RecordedKernel

NAME = "instrumentation"

_log = logging.getLogger("proton")


class InstrumentationBackend:
    """Reports to one session what kernels record about themselves."""

    takes_knobs = True

    def __init__(self, mode: str = "", *, knobs: Knobs | None = None) -> None:
        """Raises UsageError for a mode that does not exist."""
        self._mode = parse_instrumentation(mode)
        self._knobs = knobs or Knobs()
        self._sink: Any = None  # the native session, which the recorder needs
        self._handle: Handle | None = None
        self._kept: dict[int, list[RecordedKernel]] = {}  # by phase, once it has stopped

    def start(self, sink: EventSink) -> None:
        """Report to `sink` from now on.

        Raises:
            UsageError: kernels are recorded in another mode at this time.
            BackendUnavailable: there is no driver, with the remedy.
        """
        _native.InKernel.load(self._knobs.cuda_library or find_driver(self._knobs, NAME))
        self._handle = begin(self._mode, warn=self._warn)
        self._sink = sink
        _native.InKernel.start(self._sink)
        launches.enter()

    def flush(self, limit_s: float = FLUSH_LIMIT_S) -> None:
        """Wait for the launches under way and book what they recorded; at most `limit_s`."""
        if self._sink is None:
            return
        if not _native.InKernel.flush(limit_s):
            self._sink.count_loss("flush_timeout")
            self._warn(
                f"waited {limit_s:.0f} s for the GPU to finish; what later kernels recorded is "
                "missing"
            )
        for problem in _native.InKernel.take_problems():
            self._warn(problem)

    def flush_soon(self) -> None:
        """Nothing to do: launches are read as soon as they have ended."""

    def stop(self) -> None:
        """Record no more; what was booked stays, and what kernels recorded is not asked again."""
        sink, self._sink = self._sink, None
        if sink is None:
            return
        self._kept = {phase: self._recorded(sink, phase) for phase in self._phases(sink)}
        launches.leave()
        _native.InKernel.stop(sink)
        if self._handle is not None:
            self._handle.end()

    def recorded_kernels(self, phase: int) -> Sequence[RecordedKernel]:
        """What kernels launched in a phase have recorded so far, each context and mode once."""
        if self._sink is None:
            return self._kept.get(phase, ())
        return self._recorded(self._sink, phase)

    def drop_phase(self, phase: int) -> None:
        """Nobody will ask for this phase again."""
        self._kept.pop(phase, None)
        if self._sink is not None:
            _native.InKernel.forget_phase(self._sink, phase)

    @staticmethod
    def _phases(sink: Any) -> list[int]:
        return [phase for phase in range(sink.phase + 1) if sink.has_phase(phase)]

    @staticmethod
    def _recorded(sink: Any, phase: int) -> list[RecordedKernel]:
        found = []
        for each in _native.InKernel.sums(sink, phase):
            kernel = launches.kernels.of_number(each["kernel"])
            found.append(to_recorded_kernel(each, kernel, resources_of(kernel)))
        return found

    def _warn(self, text: str) -> None:
        _log.warning("%s", text)
        if self._sink is not None:
            self._sink.warn(text)
