"""The cupti backend of one session: start, flush and stop; the native hub does the work.

Creates no CUDA context and launches nothing: a program that never uses the GPU is not touched.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from functools import partial

from proton import _native, _triton
from proton.backends.common.base import FLUSH_LIMIT_S
from proton.backends.common.knobs import Knobs
from proton.backends.cupti.autotune_watch import shared_watch
from proton.backends.cupti.cubins import TritonCubins
from proton.backends.cupti.cupti_mode import parse_mode
from proton.backends.cupti.event_timer import EventTimer
from proton.backends.cupti.hub import (
    DetachTimer,
    find_driver,
    follow_problems,
    is_held,
    open_hub,
    unfollow_problems,
)
from proton.backends.cupti.inductor_watch import inductor_watch
from proton.backends.cupti.other_tools import hint, unrecorded
from proton.backends.cupti.sampling_mode import PCSampling
from proton.backends.cupti.sampling_setup import (
    native_options,
    prepare_sampling,
    refused,
    session_options,
)
from proton.errors import BackendUnavailable

DEVICE_TYPE = "CUDA"
SOON_LIMIT_S = 2.0
SURELY_SAMPLED = 1000  # events of which at least one would be met
TIMES_ONLY = "this profile has times only"
UNRECORDED = "unrecorded_launch"  # the loss

_log = logging.getLogger("proton")
_detach_timer = DetachTimer(lambda: _native.Cupti.detach())


class CuptiBackend:
    """Reports kernels, copies and graphs of NVIDIA GPUs to one session."""

    takes_knobs = True

    def __init__(self, mode: str = "", *, knobs: Knobs | None = None) -> None:
        """Raises UsageError for a mode that does not exist."""
        self._mode = parse_mode(mode)
        self._knobs = knobs or Knobs()
        self._sink: _native.Session | None = None
        self._timer: EventTimer | None = None  # in the hub's place, where CUPTI is taken
        self._former: EventTimer | None = None  # was, until CUPTI was free
        self._cubins: TritonCubins | None = None  # while instructions are sampled
        self._stop_waiting: Callable[[], None] = lambda: None
        self._devices: list[dict[str, str | int]] = []  # once one was used
        self._pid = os.getpid()
        self._refusals = 0  # of whole graphs, before the session
        self._samples = 0  # of the process, before the session
        self._unrecorded = 0  # launches without a record that the user was told of
        self._is_stuck = False  # the last flush did not come back in time

    def start(self, session: _native.Session) -> None:
        """Report to `session` from now on.

        Raises:
            BackendUnavailable: no driver or libcupti, or the driver refuses; with the remedy.
        """
        self._start_hub(session)
        self._sink = session
        self._sink.has_kernel_times = True
        self._stop_waiting = _triton.when_imported(lambda: shared_watch().add(self._on_autotune))
        inductor_watch.add(self._on_indistinct)

    def flush(self, limit_s: float = FLUSH_LIMIT_S) -> None:
        """Wait for the work under way and book it; at most `limit_s`, and then say so."""
        if self._sink is None:
            return
        if self._timer is None:
            self._is_stuck = not _native.Cupti.flush(limit_s)
            if self._is_stuck:
                self._sink.count_loss("flush_timeout")
            problems = _native.Cupti.take_problems()
            for problem in problems:
                self._sink.warn(problem)
            self._tell_unrecorded(self._sink, is_explained=bool(problems))
            self._find_code(self._sink)
        for timer in (self._former, self._timer):  # the hub has waited for the former one's work
            if timer is not None:
                self._flush_timer(self._sink, timer, limit_s)
        self._describe_devices(self._sink)
        if self._timer is None and (
            self._mode.graphs == "graph"
            and _native.Cupti.stats()["graph_refusals"] > self._refusals
        ):
            self._sink.warn(
                "graphs are recorded by their nodes from the first replay of a graph on that was "
                "captured before the session was active, or before it paused: CUPTI cannot trace "
                "such a graph as a whole; capture graphs while the session is active, and do not "
                "pause it before their last replay"
            )

    def flush_soon(self) -> None:
        """Have CUPTI hand over the buffers whose work is done."""
        sink = self._sink  # another thread may stop meanwhile
        if sink is not None and self._timer is None:
            _native.Cupti.flush(SOON_LIMIT_S, synchronize=False)
            self._find_code(sink)
            self._describe_devices(sink)  # a phase may be written by this, and the process killed

    def resume(self) -> None:
        """Take CUPTI where another tool held it before the pause, and does no more."""
        sink, timer = self._sink, self._timer
        if sink is None or timer is None or sink.is_active or os.getpid() != self._pid:
            return
        try:
            self._start_native(sink, None)
        except BackendUnavailable as error:
            if not is_held(error):
                sink.warn(f"CUPTI cannot be used after the pause either: {error}")
            return
        timer.leave()
        self._timer, self._former = None, timer
        unsampled = "" if self._mode.sampling is None else ", but nothing is sampled"
        _say(
            sink,
            "CUPTI was free when the session was activated again: from then on all kernels and "
            f"copies are recorded{unsampled}",
        )

    def stop(self) -> None:
        """Report no more; what was booked stays."""
        sink, self._sink = self._sink, None
        if sink is None:
            return
        self._stop_waiting()
        inductor_watch.remove(self._on_indistinct)
        if _triton.is_imported():
            shared_watch().remove(self._on_autotune)
        if self._former is not None:
            self._former.stop()
        if self._timer is not None:
            self._timer.stop()
        else:
            unfollow_problems(sink)
            _native.Cupti.stop(sink)
            self._find_code(sink)  # again: the last samples came when the session paused
            self._expect_samples(sink)
            if self._cubins is not None:
                self._cubins.stop()
            # Not when the process ends: why disturb it? Nor where CUPTI hangs: to go has no limit.
            if threading.main_thread().is_alive() and not self._is_stuck:
                _detach_timer.ask()

    def _flush_timer(self, sink: _native.Session, timer: EventTimer, limit_s: float) -> None:
        if left := timer.flush(limit_s):
            sink.count_loss("flush_timeout", left)
            sink.warn(
                f"waited {limit_s:.0f} s for the GPU to finish; {left} launches were still "
                "running and are missing"
            )

    def _start_hub(self, sink: _native.Session) -> None:
        sampling = self._mode.sampling
        try:
            if sampling is None:
                open_hub(self._knobs)
            else:
                say = partial(_say, sink)
                if (refusal := prepare_sampling(sampling, self._knobs, say)) is not None:
                    say(f"{refusal}; {TIMES_ONLY}")
                    sampling = None
            if sampling is None or not self._start_sampling(sink, sampling):
                self._start_native(sink, None)
        except BackendUnavailable as error:
            if not is_held(error) or not self._may_use_events:
                raise
            self._start_timer(sink, error)

    def _start_sampling(self, sink: _native.Session, sampling: PCSampling) -> bool:
        """Whether it could be started; False: times will do."""
        sink.set_sampling(**session_options(sampling))
        self._start_native(sink, sampling)
        follow_problems(sink)
        try:
            sink.activate()  # only now contexts that are there already are sampled, or refuse it
        except BackendUnavailable as error:
            unfollow_problems(sink)
            _native.Cupti.stop(sink)
            refusal = refused(sampling, error)
            if sampling.fallback is None:
                raise refusal from error
            _say(sink, f"{refusal}; {TIMES_ONLY}")
            return False
        self._cubins = TritonCubins(_native.Cupti.add_cubin)
        self._samples = _native.Cupti.stats()["samples"]
        return True

    def _start_native(self, sink: _native.Session, sampling: PCSampling | None) -> None:
        self._refusals = _native.Cupti.stats()["graph_refusals"]
        _native.Cupti.start(
            sink,
            graphs=self._mode.graphs,
            copies=self._mode.copies == "on",
            unified_memory=self._mode.unified_memory == "on",
            buffer_bytes=self._knobs.profile_buffer_size,
            value_bytes=self._knobs.profile_metric_buffer_size,
            graph_timing=self._knobs.graph_launch_timing,
            sampling=None if sampling is None else native_options(sampling),
        )
        if self._knobs.enable_hw_trace and (why_not := _native.Cupti.enable_hw_trace()):
            _say(sink, why_not)

    def _tell_unrecorded(self, sink: _native.Session, *, is_explained: bool) -> None:
        """Say so where launches got no record since the last time."""
        count = sink.losses.get(UNRECORDED, 0)
        is_more, self._unrecorded = count > self._unrecorded, count
        if is_more and not is_explained:
            _say(sink, unrecorded())

    def _find_code(self, sink: _native.Session) -> None:
        """Have Triton's cubins where the samples of phases in memory may need them."""
        if self._cubins is None:
            return
        self._cubins.hand_over(
            lambda: [
                each
                for phase in range(sink.phase + 1)
                if sink.has_phase(phase)
                for each in sink.missing_code(phase)
            ]
        )

    def _expect_samples(self, sink: _native.Session) -> None:
        """Say so where many kernels ran and none of them was sampled."""
        sampling = self._mode.sampling
        if self._cubins is None or sampling is None or sampling.every_ns:
            return
        if sink.event_count < SURELY_SAMPLED or _native.Cupti.stats()["samples"] > self._samples:
            return
        _say(
            sink,
            f"CUPTI gave no sample of the program's kernels though {sink.event_count} events came "
            "of them; another tool may have sampled in this process before: run the program "
            "without it",
        )

    @property
    def _may_use_events(self) -> bool:
        """Whether timing with events will do where CUPTI is taken."""
        return self._mode.sampling is None or self._mode.sampling.fallback is not None

    def _start_timer(self, sink: _native.Session, error: BackendUnavailable) -> None:
        who = hint(error)
        library = self._knobs.cuda_library or find_driver(self._knobs)
        self._timer = EventTimer.open(sink, library)
        if self._timer is None:
            if who:
                error.add_note(who.removeprefix("; "))
            raise error
        self._timer.start()
        unsampled = "" if self._mode.sampling is None else "nothing is sampled; "
        _say(
            sink,
            f"{error}{who}; {unsampled}Triton kernels are timed with CUDA events, and other "
            "kernels and copies are not seen, until the session is activated again with CUPTI free "
            "(proton.deactivate, proton.activate)",
        )

    def _describe_devices(self, sink: _native.Session) -> None:
        if sink.event_count == 0:
            return  # looking at devices would initialise the driver
        clock: dict[str, int] = {}
        if self._timer is None:
            clock["clock_residual_ns"] = _native.Cupti.stats()["clock_residual_ns"]
        self._list_devices(sink)
        for index, attributes in enumerate(self._devices):
            sink.add_device(DEVICE_TYPE, index, {**attributes, **clock})

    def _list_devices(self, sink: _native.Session) -> None:
        """Once they are known, they stay; a driver that has lost them costs no profile."""
        if self._devices:
            return
        try:
            self._devices = _native.Cupti.devices()
        except BackendUnavailable as error:
            sink.warn(f"the profile does not describe its devices: {error}")

    def _on_indistinct(self, text: str) -> None:
        if self._sink is not None:
            self._sink.warn(text)

    def _on_autotune(self, record: Mapping[str, object]) -> None:
        # a forked child inherits the watch, but the session is its parent's
        if self._sink is not None and os.getpid() == self._pid and self._sink.is_active:
            self._sink.add_autotune(record)


def _say(sink: _native.Session, text: str) -> None:
    """In the log now, and in the profile."""
    _log.warning("%s", text)
    sink.warn(text)
