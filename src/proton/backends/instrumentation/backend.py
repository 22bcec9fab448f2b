"""The instrumentation backend of one session: records on, into the session, and off again.

Creates no CUDA context and launches nothing until the program launches a kernel.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack

from proton import _native
from proton._mode_text import BaseMode
from proton.backends.common.base import FLUSH_LIMIT_S
from proton.backends.common.knobs import Knobs
from proton.backends.cupti.hub import find_driver
from proton.backends.instrumentation.kept_buffers import KeptBuffers
from proton.backends.instrumentation.kernel_changes import KernelChanges
from proton.backends.instrumentation.launch_path import launches
from proton.backends.instrumentation.loaded_kernels import LoadedKernel
from proton.backends.instrumentation.report import Sum, to_recorded_kernel
from proton.inkernel.compiler.instrument import Handle, begin, forget_locks
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.tool import Tool
from proton.model.in_kernel import RecordedKernel

NAME = "instrumentation"
DEVICE_TYPE = "CUDA"

_log = logging.getLogger("proton")


class InstrumentationBackend:
    """Reports to one session what kernels record about themselves."""

    takes_knobs = True

    def __init__(self, mode: str | BaseMode = "", *, knobs: Knobs | None = None) -> None:
        """Raises UsageError for a mode that does not exist."""
        self._mode = parse_instrumentation(mode)
        self._knobs = knobs or Knobs()
        self._sink: _native.Session | None = None  # the native session, which the recorder needs
        self._handle: Handle | None = None
        self._last: dict[int, list[RecordedKernel]] = {}  # by phase, once it has stopped
        self._buffers = KeptBuffers(
            launches.kernels.of_number,
            launches.note_of,
            self._warn,
            tools=[part for part in self._mode.parts if isinstance(part, Tool)],
        )
        self._changes = KernelChanges()

    def start(self, session: _native.Session) -> None:
        """Report to `session` from now on.

        Raises:
            UsageError: kernels are recorded in another mode at this time.
            BackendUnavailable: there is no driver, with the remedy.
        """
        _native.InKernel.load(self._knobs.cuda_library or find_driver(self._knobs, NAME))
        with ExitStack() as undo:
            _native.InKernel.start(session)
            undo.callback(_native.InKernel.stop, session)
            launches.enter()
            undo.callback(launches.leave)
            self._sink = session  # which is told why kernels cannot be recorded
            undo.callback(setattr, self, "_sink", None)
            # last: whoever launches from now on gets a kernel with records, which needs a buffer
            self._handle = begin(self._mode, warn=self._warn)
            undo.pop_all()

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
        self._buffers.take(self._sink)
        self._describe_devices(self._sink)

    def flush_soon(self) -> None:
        """Hand kept buffers on; launches are read as soon as they have ended in any case."""
        if (sink := self._sink) is not None:
            self._buffers.take(sink)

    def pause(self) -> None:
        """Leave kernels plain while no session of this backend is active."""
        if self._handle is not None:
            self._handle.pause()

    def resume(self) -> None:
        """Have kernels record again."""
        if self._handle is not None:
            self._handle.resume()

    def stop(self) -> None:
        """Record no more; what was booked stays, and what kernels recorded is not asked again."""
        sink, self._sink = self._sink, None
        if sink is None:
            return
        try:
            self._take_last(sink)
        finally:
            if self._handle is not None:
                self._handle.end()  # first: whoever launches from now on gets the plain kernel
            launches.leave()
            _native.InKernel.stop(sink)

    def forget(self) -> None:
        """Leave kernels plain in a forked child, whose sessions may be of another mode."""
        if self._sink is None:
            return
        self._sink = None
        forget_locks()
        if self._handle is not None:
            self._handle.end()
        launches.forget()

    def _take_last(self, sink: _native.Session) -> None:
        """Keep what there is to be asked for, as nobody will record more."""
        self._buffers.take(sink)
        sums = {phase: _native.InKernel.sums(sink, phase) for phase in self._phases(sink)}
        for problem in self._changes.complete(
            _kernel_of(one) for each in sums.values() for one in each
        ):
            _log.warning("%s", problem)
            sink.warn(problem)
        self._last = {phase: self._recorded(each) for phase, each in sums.items()}
        if not any(self._last.values()):
            hint = "" if "ops" in self._mode.names else "; mode='ops' records operations"
            sink.warn(
                f"no kernel with records was launched: mode {str(self._mode)!r} found nothing to "
                f"record, or kernels came from elsewhere than Triton{hint}"
            )

    def recorded_kernels(self, phase: int) -> Sequence[RecordedKernel]:
        """What kernels launched in a phase have recorded so far, each context and mode once."""
        if self._sink is None:
            return self._last.get(phase, ())
        sums = _native.InKernel.sums(self._sink, phase)
        self._changes.look_up(map(_kernel_of, sums))
        return self._recorded(sums)

    def drop_phase(self, phase: int) -> None:
        """Nobody will ask for this phase again."""
        self._last.pop(phase, None)
        self._buffers.forget_phase(phase)
        if self._sink is not None:
            _native.InKernel.forget_phase(self._sink, phase)

    def _describe_devices(self, sink: _native.Session) -> None:
        """Only where kernels have run, and where nobody else says it: it initialises the driver."""
        if sink.event_count == 0 or sink.has_kernel_times:
            return
        for index, attributes in enumerate(_native.InKernel.devices()):
            sink.add_device(DEVICE_TYPE, index, attributes)

    @staticmethod
    def _phases(sink: _native.Session) -> list[int]:
        return [phase for phase in range(sink.phase + 1) if sink.has_phase(phase)]

    def _recorded(self, sums: Sequence[Sum]) -> list[RecordedKernel]:
        return [
            to_recorded_kernel(
                each,
                kernel := _kernel_of(each),
                changed=self._changes.of(kernel),
                memory=self._buffers.memory_of(each["key"]),
            )
            for each in sums
        ]

    def _warn(self, text: str) -> None:
        _log.warning("%s", text)
        if self._sink is not None:
            self._sink.warn(text)


def _kernel_of(sum_: Sum) -> LoadedKernel:
    return launches.kernels.of_number(sum_["kernel"])
