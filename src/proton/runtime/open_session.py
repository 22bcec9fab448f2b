"""One open session: its native core, its backends and hook, its phases, the head of its files.

Not thread-safe: `runtime/sessions.py` holds its lock around every call.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from signal import Signals

from proton import _native
from proton._version import __version__
from proton.backends.common.base import (
    FLUSH_LIMIT_S,
    Backend,
    Forgets,
    Pauses,
    RecordsInKernel,
    Resumes,
    make_backend,
)
from proton.errors import WriteError
from proton.model.schema import FORMAT_VERSION, to_object, to_plain
from proton.runtime import nvtx
from proton.runtime.autosave import Autosave
from proton.runtime.environment import read_rank
from proton.runtime.frameworks import TIERS, FrameworkWatch
from proton.runtime.hooks import Hook, HookManager
from proton.runtime.launch_hook import LaunchHook
from proton.runtime.options import SessionOptions
from proton.runtime.origins.watch import origins_watch
from proton.runtime.phase_files import PhaseFiles, prepare_folder
from proton.runtime.schedule import Following
from proton.runtime.source_files import identify, with_sources

# Their events reach the sink before the launch returns: a phase is complete once it is left.
_SYNCHRONOUS = {"interpreter"}

_log = logging.getLogger("proton")


class OpenSession:
    """A session from `start()` to `finalize()`.

    Attributes:
        backends: name -> the running backend, in the order they were added.
        notices: what the user should be told, not yet said.
        expected_format: what its files will probably be written in.
        complete_below: the phases before this one have all their events.
        profiled_calls: calls of `@profile` functions under way.
        pauses_after_call: whether the last of them pauses the session.
    """

    def __init__(self, session: int, options: SessionOptions) -> None:
        """Open it: active, with its backend running.

        Raises:
            ProtonError: it cannot be started; nothing is left behind.
        """
        self.id = session
        self.options = options
        self.expected_format = options.format_to_write("")
        prepare_folder(options)
        self.start_time_ns = time.time_ns()
        self.backends: dict[str, Backend] = {}
        self._asked: dict[str, SessionOptions] = {}  # backend -> what it was started with
        self.flush_limit_s = FLUSH_LIMIT_S
        self.profiled_calls = 0
        self.pauses_after_call = False
        self._is_stopped = False
        self._ended_by = ""
        self.complete_below = 0
        self._oldest_phase = 0  # phases before this one were written or cleared
        self._active_ns = 0
        self._activated_ns: int | None = None
        self._paused_ns: int | None = None  # Unix time, while it is paused
        self._says_unseen_graphs = True
        self.following: Following | None = None  # a schedule
        self.native = _native.Session(session, context=options.context, data=options.data)
        self._framework: FrameworkWatch | None = None
        if options.context in TIERS:
            self._framework = FrameworkWatch(
                session,
                options.context,
                waits=options.waits_for_framework,
                tell=self._warn,
            )
        self.files = PhaseFiles(options, self.native, self.start_time_ns)
        # around files and phases, which the background thread writes too
        self.keeping = threading.RLock()
        self.autosave: Autosave = Autosave(self, interval_s=options.journal_interval_s)
        try:
            self.add_backend(options)
            self._follow_nvtx()
            origins_watch.add(self._warn_of_origins)
            if self._framework is not None:
                self._framework.start()
            self.activate()
        except BaseException:
            self.discard()
            raise

    @property
    def notices(self) -> list[str]:
        """What the user should be told; whoever tells it clears it."""
        return self.files.notices

    def add_backend(self, options: SessionOptions) -> None:
        """Start the backend and the hook of `options` on this session."""
        backend = make_backend(options.backend, options.mode_object or options.mode, options.knobs)
        backend.start(self.native)
        try:
            self._add_hook(options.hook)
        except BaseException:
            backend.stop()
            raise
        self.backends[options.backend] = backend
        self._asked[options.backend] = options

    def differences(self, options: SessionOptions) -> list[str]:
        """What keeps `options` from joining this session, one phrase each."""
        return self._asked.get(options.backend, self.options).differences(options)

    def activate(self) -> None:
        """Record from now on. Where that fails, the session is as it was."""
        was_active = self._activated_ns is not None
        try:
            if not was_active:
                self._activated_ns = time.monotonic_ns()
                if self._active_ns > 0:
                    self._resume_backends()
            HookManager.activate(self.id)
            self.native.activate()
            self._paused_ns = None
        except BaseException:
            if not was_active:
                self._activated_ns = None
                HookManager.deactivate(self.id)
                self._pause_backends()
            raise

    def deactivate(self, *, flushing: bool = False) -> None:
        """Stop recording for now; `flushing` waits for the events of work that has ended."""
        pausing = self._pause_backends()  # first: else a flush misses what others launch meanwhile
        if flushing:
            try:
                self.flush()
            except BaseException:
                for backend in pausing if self._activated_ns is not None else ():
                    backend.resume()
                raise
        self._active_ns = self._active_time_ns()
        if self._activated_ns is not None:
            self._paused_ns = time.time_ns()
        self._activated_ns = None
        self.native.deactivate()
        HookManager.deactivate(self.id)

    def flush(self) -> None:
        """Wait for outstanding events; the phases that were left are complete then."""
        with self._timed("flushed"):
            for backend in self.backends.values():
                backend.flush(self.flush_limit_s)
        self.complete_below = self.native.phase
        self.say_unseen_graphs()
        self.write_complete_phases()

    def say_unseen_graphs(self) -> None:
        """Warn, once, of graphs that were captured before the session: their code is not known."""
        if self._says_unseen_graphs and (text := self.native.unseen_graphs):
            self._says_unseen_graphs = False
            _log.warning("session %r: %s", self.options.name, text)

    def flush_soon(self) -> None:
        """Have events of finished work come in, and wait for no work."""
        for backend in list(self.backends.values()):
            backend.flush_soon()

    def advance_phase(self) -> int:
        """Begin the next phase; the background thread sees to the one that was left."""
        phase = self.native.advance_phase()
        self.autosave.phase_left(phase - 1)
        if not self.is_asynchronous:
            self.write_complete_phases()
        return phase

    @property
    def is_asynchronous(self) -> bool:
        """Whether events may come after the launch returned."""
        return any(name not in _SYNCHRONOUS for name in self.backends)

    def left_phases(self) -> list[int]:
        """The phases in memory but the current one."""
        return self._phases()[:-1]

    def incomplete_phases(self) -> list[int]:
        """Those of them whose events have not all arrived."""
        limit = self._complete_limit()
        return [phase for phase in self.left_phases() if phase >= limit]

    def is_phase_complete(self, phase: int) -> bool:
        """Whether the phase was left and all its events have arrived."""
        return 0 <= phase < self._complete_limit()

    def clear(self, phase: int, *, up_to: bool) -> None:
        """Drop what a phase holds, or all phases up to and including it."""
        first = self._oldest_phase if up_to else phase
        with self.keeping:
            for each in range(max(first, 0), min(phase, self.native.phase) + 1):
                if self.native.has_phase(each):
                    self.native.clear_phase(each)
                    self._drop_in_kernel(each)
                    self.files.drop_early(each)
                    self.autosave.phase_dropped(each)
        if up_to:
            self._oldest_phase = max(self._oldest_phase, min(phase + 1, self.native.phase))

    def stop(self) -> None:
        """End recording for good: no backend and no hook runs on. Harmless when done twice."""
        if self._is_stopped:
            return
        self._is_stopped = True
        try:
            self.deactivate(flushing=True)
            if self.following is not None:
                self.following.end()
        finally:
            origins_watch.remove(self._warn_of_origins)
            self._stop_backends()

    def end_by_signal(self, signal: int, limit_s: float) -> None:
        """A signal is ending the process: flush no longer than this, and say so in the profile."""
        self.flush_limit_s = limit_s
        self._ended_by = Signals(signal).name if signal else ""
        if self._ended_by:
            self.native.warn(
                f"the program was ended by {self._ended_by}; "
                "scopes that were open have their time until then"
            )

    def write(self, output_format: str) -> None:
        """Write every phase that was not written yet.

        Raises:
            WriteError: the first failure, with notes of others; all phases are tried.
        """
        failure: WriteError | None = None
        header = self.common_header(self.native.phase)
        with self.keeping:
            phases = self._phases_to_write()
            for phase in phases:
                own = {**header, "phase": phase, **self._phase_facts(phase)}
                try:
                    with self._timed(f"phase {phase} written"):
                        self.files.write(phase, output_format, own, is_only=phases == [0])
                except WriteError as error:
                    if failure is not None:
                        failure.add_note(str(error))
                    failure = failure or error
        if failure is not None:
            raise failure

    def write_complete_phases(self) -> bool:
        """With periodic flushing: write the phases that are complete, and drop them.

        A failure is only noted: the program goes on. False: one is in no file, to be tried again.
        """
        if self.options.flush_format is None:
            return True
        with self.keeping:
            for phase in self.left_phases():
                if phase >= self._complete_limit():
                    break
                self.native.seal_phase(phase)  # what came after the copy would be in no file
                try:
                    with self._timed(f"phase {phase} written"):
                        self.files.write(phase, self.options.flush_format, self.header(phase))
                except WriteError as error:
                    if str(error) not in self.notices:
                        self.notices.append(str(error))
                    if error.rescued_to is None:
                        return False
                self.clear(phase, up_to=True)
        return True

    def write_early(self, phase: int) -> str:
        """Write a phase that stays in memory, in case the process is killed; why not, or ""."""
        with self.keeping:
            try:
                self.files.write_early(phase, self.expected_format, self.header(phase))
            except OSError as error:
                why_not = f"phase {phase} could not be written early: {error.strerror or error}"
                self.native.warn(why_not)
                return why_not
        return ""

    def discard(self) -> None:
        """Close it without writing anything more. Harmless when done twice."""
        try:
            if not self._is_stopped:
                self._is_stopped = True
                origins_watch.remove(self._warn_of_origins)
                self._stop_backends()
        finally:
            nvtx.leave(self.id)
            if self._framework is not None:
                self._framework.stop()
            with self.keeping:
                self.native.close()
                self.files.drop_early()
            self.autosave.end()
            self.files.release()

    def forget(self) -> None:
        """Let go of it in a forked child, where it is still the parent's."""
        self.files.forget()
        self.autosave.forget()
        origins_watch.remove(self._warn_of_origins)
        if self._framework is not None:
            self._framework.stop()
        for name, backend in self.backends.items():
            if name in _SYNCHRONOUS:  # the others use drivers, which a child must not call
                backend.stop()
            elif isinstance(backend, Forgets):
                backend.forget()

    def header(self, phase: int) -> dict[str, object]:
        """The start of the file's `proton` key."""
        return {**self.common_header(phase), **self._phase_facts(phase)}

    def common_header(self, phase: int) -> dict[str, object]:
        """What a header says whatever a phase holds; losses and the like are the core's to add."""
        options = self.options
        triton = sys.modules.get("triton")  # a program that did not import it did not use it
        return {
            "format": FORMAT_VERSION,
            "version": __version__,
            "session": _clean(options.name),
            "context": options.context,
            **self._framework_facts(),
            "data": options.data,
            "backends": list(self.backends),
            "mode": options.mode,
            "phase": phase,
            "phases": self._phases_to_write(),
            "command": [_clean(word) for word in sys.orig_argv],
            "host": os.uname().nodename,
            "pid": os.getpid(),
            "rank": read_rank(strict=False),
            "python": platform.python_version(),
            "triton": getattr(triton, "__version__", None),
            "start_time_ns": self.start_time_ns,
            "end_time_ns": self._paused_ns or time.time_ns(),
            **({"ended_by": self._ended_by} if self._ended_by else {}),
        }

    def _warn(self, text: str) -> None:
        """Say it to the user, and in the file."""
        self.notices.append(text)
        self.native.warn(text)

    def _framework_facts(self) -> dict[str, object]:
        """What was recorded of a framework, where the session is to record one."""
        if self._framework is None:
            return {}
        return {"context": self._framework.context(), **self._framework.header()}

    def _phase_facts(self, phase: int) -> dict[str, object]:
        return {**self._sources(phase), **self._in_kernel(phase), **self._origins()}

    def _origins(self) -> dict[str, object]:
        """The lines that kernels of torch.compile come from, where there are such kernels."""
        if not origins_watch.is_needed:
            return {}
        has_frames = self.options.context == "python"
        found = origins_watch.find(set(self.native.kernel_names()), with_calls=has_frames)
        return {"origins": [to_object(each) for each in found]} if found else {}

    def _warn_of_origins(self, text: str) -> None:
        self.native.warn(text)

    def _in_kernel(self, phase: int) -> dict[str, object]:
        """What instrumented kernels recorded about themselves, where some did."""
        backends = [each for each in self.backends.values() if isinstance(each, RecordsInKernel)]
        kernels = [kernel for each in backends for kernel in each.recorded_kernels(phase)]
        return {"in_kernel": [to_object(one) for one in with_sources(kernels)]} if kernels else {}

    def _drop_in_kernel(self, phase: int) -> None:
        for backend in self.backends.values():
            if isinstance(backend, RecordsInKernel):
                backend.drop_phase(phase)

    def _sources(self, phase: int) -> dict[str, object]:
        """What identifies the source files that samples of a phase lie in, where there are any."""
        files = identify(self.native.sampled_files(phase))
        return {"sampling": {"files": to_plain(files)}} if files else {}

    def what_was_missed(self) -> str:
        """What was lost and what the session was warned of, in one line; "": nothing."""
        losses, warnings = self.native.losses, self.native.warnings
        parts = [f"all that was seen was lost: {list_losses(losses)}"] if losses else []
        if warnings:
            parts.append(f"the session was warned: {'; '.join(warnings)}")
        if self.following is not None and self.following.why_empty:
            parts.append(self.following.why_empty)
        return "; ".join(parts)

    def why_empty(self) -> str:
        """Why nothing was captured, with the facts that are known; to ask before it is closed."""
        missed = self.what_was_missed()
        if self.native.losses:
            return missed
        happened = "recorded" if missed else "launched"  # a warned session may not have seen it
        return (
            f"no kernel was {happened} and no scope was entered in the "
            f"{self._active_time_ns() / 1e9:.3f} s in which the session was active; "
            + (missed or "start it before the work and finalize it after")
        )

    def _add_hook(self, asked: Hook | str | None) -> None:
        hook = LaunchHook() if asked == "triton" else asked
        if hook is None or isinstance(hook, str):
            return
        HookManager.register(hook, self.id)
        self.native.uses_launch_metadata |= isinstance(hook, LaunchHook)

    def _follow_nvtx(self) -> None:
        if self.options.knobs.enable_nvtx and (notice := nvtx.join(self.id)):
            self.notices.append(notice)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        """With PROTON_DATA_FLUSH_TIMING: say on stderr how long it took."""
        start = time.perf_counter()
        yield
        if self.options.knobs.data_flush_timing:
            took_ms = (time.perf_counter() - start) * 1000
            name = self.options.name
            print(f"proton: session {name!r}: {what} in {took_ms:.3f} ms", file=sys.stderr)

    def _active_time_ns(self) -> int:
        if self._activated_ns is None:
            return self._active_ns
        return self._active_ns + time.monotonic_ns() - self._activated_ns

    def _complete_limit(self) -> int:
        """The phases before this one are complete."""
        return self.complete_below if self.is_asynchronous else self.native.phase

    def _phases(self) -> list[int]:
        """The phases in memory; the current one is always among them."""
        current = self.native.phase
        past = range(self._oldest_phase, current)
        return [*(phase for phase in past if self.native.has_phase(phase)), current]

    def _phases_to_write(self) -> list[int]:
        """The same without the last cycle of a schedule, where the program ended at its start."""
        phases = self._phases()
        has_ended_early = self._is_stopped and self.following and self.following.is_cycle_empty
        return phases[:-1] if has_ended_early and not self.native.is_empty else phases

    def _resume_backends(self) -> None:
        for backend in self.backends.values():
            if isinstance(backend, Resumes):
                backend.resume()

    def _pause_backends(self) -> list[Pauses]:
        pausing: list[Pauses] = [
            each for each in self.backends.values() if isinstance(each, Pauses)
        ]
        for backend in pausing:
            backend.pause()
        return pausing

    def _stop_backends(self) -> None:
        """Stop all of them, even when one fails."""
        try:
            HookManager.unregister(self.id)
        finally:
            for backend in reversed(self.backends.values()):
                backend.stop()


def list_losses(losses: Mapping[str, int]) -> str:
    """How many were lost of each kind."""
    return ", ".join(f"{count} {kind}" for kind, count in sorted(losses.items()))


def _clean(text: str) -> str:
    """`text` without the lone surrogates that undecodable arguments come as."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
