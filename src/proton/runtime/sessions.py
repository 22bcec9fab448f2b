"""The sessions of this process: who is open, and the functions users open and close them with.

Everything here may be called from any thread. Light to import: what a session needs is loaded
when one is started.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from proton import _native
from proton.errors import ProtonError, ProtonWarning, SessionNotFound, UsageError, WriteError
from proton.runtime.background import BackgroundThread, follow_forks
from proton.runtime.request import SessionRequest

if TYPE_CHECKING:  # not to break a cycle: `import proton` must not load them
    from proton._mode_text import BaseMode
    from proton.runtime.hooks import Hook
    from proton.runtime.open_session import OpenSession
    from proton.runtime.options import SessionOptions
    from proton.runtime.schedule import Schedule

T = TypeVar("T")

SIGNAL_FLUSH_LIMIT_S = 3.0
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Flags:
    """What Proton is doing in this process; `flags` is the only instance.

    Attributes:
        profiling_on: a session is open.
        instrumentation_on: a session with the instrumentation backend is open.
        command_line: the process was started by the `proton` command, which owns the session.
    """

    __slots__ = ("command_line", "instrumentation_on", "profiling_on")

    def __init__(self) -> None:
        self.profiling_on = False
        self.instrumentation_on = False
        self.command_line = False

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)}" for name in sorted(self.__slots__))
        return f"Flags({values})"


flags = Flags()

_lock = threading.RLock()
_open: dict[int, OpenSession] = {}
_scheduled: list[OpenSession] = []  # those that follow a schedule
_next_id = 0
_exit_pid: int | None = None  # the process whose exit handler writes what is open


def start(
    name: str | os.PathLike[str] | None = None,
    *,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: Hook | str | None = None,
    schedule: Schedule | str | None = None,
) -> int | None:
    """Open a session; it records from here on.

    Args:
        name: the profile's path; relative ones lie in the folder that is current now, and a
            folder that is missing is made. A suffix that fits (`"run.hatchet_msgpack"`) names the
            format. `~`, `{pid}`, `{rank}` and `{host}` are filled in. `""` and `"-"` are standard
            output. None is `"proton"`.
        context: `"shadow"`: where the work happened is a path of scopes; `"python"`: of Python
            frames; `"blame"`: of scopes, the program's own frames and torch's modules, with
            backward work below its forward path; `"ops"`: with torch's operators too, their calls
            and CPU time.
        data: `"tree"` adds everything up by context; `"trace"` keeps every event.
        backend: `"interpreter"`, `"cupti"`, `"rocprofiler"`, `"instrumentation"`; None picks one.
        mode: the backend's mode, `"name:key=value"`, or an object of `proton.mode`.
        hook: `"triton"` asks each kernel for its launch metadata; or a hook of your own.
        schedule: which steps to record, as `proton.schedule` makes it; None: all the time.

    Returns:
        The session's id; None when `TRITON_PROTON_DISABLE` is set; under the `proton` command the
        id of the command's session, which is then the only one.

    A session of this name that is open already is activated and its id returned; another backend
    is added to it.

    Raises:
        UsageError: an argument or an environment variable has no meaning, or differs from what
            the open session of this name has.
        BackendUnavailable: this machine cannot run the backend.
        WriteError: the profile could not be written under this name.

    Example:
        >>> session = proton.start("matmul", hook="triton")
        >>> proton.finalize(session)  # writes matmul.hatchet
    """
    if flags.command_line:
        return command_session()
    return open_session(SessionRequest(name, context, data, backend, mode, hook, schedule=schedule))


def activate(session: int | None = None) -> None:
    """Go on recording in one session, or in all.

    Raises:
        SessionNotFound: no open session has this id.
    """
    with _lock:
        for opened in _chosen(session):
            opened.activate()


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Pause one session, or all.

    Args:
        session: its id; None for all.
        flushing: wait until all work that was launched is recorded; earlier phases are complete
            then.

    Raises:
        SessionNotFound: no open session has this id.
    """
    with _lock:
        targets = _chosen(session)
        for opened in targets:
            opened.deactivate(flushing=flushing)
    _say_notices(targets)


def step(name: str | None = None) -> None:
    """Say that a step of the program ends here and the next begins, in every open session.

    Profiles then tell how long each step took on the host. A step also begins with a session and
    where one goes on after a pause; what a pause or the end cuts off is no step. Each phase keeps
    the times of 65 536 steps; those beyond are counted, as loss `step`.

    Args:
        name: what to call the step that ends; none is needed. Under a schedule its number.

    Example:
        >>> for batch in batches:
        ...     train(batch)
        ...     proton.step()
    """
    if _scheduled:
        _follow_schedules(name)
    else:
        _native.step(name)


def finalize(session: int | None = None, output_format: str = "") -> None:
    """Write one session, or all, to its file and close it. Unknown ids are ignored.

    Args:
        session: its id; None for all.
        output_format: `"hatchet"` or `"hatchet_msgpack"` for a tree, `"chrome_trace"` or
            `"perfetto"` (a fraction of the size, `.pftrace`) for a trace; `""` is the first that
            suits.

    Raises:
        UsageError: the format is unknown or does not suit; nothing is written or closed.
        WriteError: a profile could not be written where it belongs; the error names the file it
            was written to instead. With no such file the session stays open.
    """
    if flags.command_line:
        return  # the session is the command's
    close_sessions(session, output_format)


def open_session(request: SessionRequest) -> int | None:
    """`start()`, also under the `proton` command."""
    from proton.runtime.environment import is_disabled
    from proton.runtime.open_session import OpenSession
    from proton.runtime.options import resolve

    global _next_id
    if is_disabled():
        return None
    options = resolve(request)
    plan = _plan(request)
    with _lock:
        opened = next(
            (opened for opened in _open.values() if opened.options.key == options.key), None
        )
        if opened is not None:
            _reuse(opened, options, plan)
        else:
            opened = OpenSession(_next_id, options)
            try:
                _say_notices([opened])
            except ProtonWarning:  # warnings are errors here: then there is no session
                opened.discard()
                raise
            _open[opened.id] = opened
            _next_id += 1
            if plan is not None:
                from proton.runtime.schedule import Following

                opened.following = Following(opened, plan)
                _scheduled.append(opened)
        _native.lead_thread()
        call_at_exit(_write_at_exit)
        _follow_flags()
        background.start(catches_signals=options.catches_signals)
    return opened.id


def _plan(request: SessionRequest) -> Schedule | None:
    """The schedule of a request, which may be text."""
    if request.schedule is None:
        return None
    from proton.runtime.schedule import Schedule

    if isinstance(request.schedule, str):
        return Schedule.parse(request.schedule)
    if isinstance(request.schedule, Schedule):
        return request.schedule
    raise UsageError(f"schedule must be what proton.schedule returns, not {request.schedule!r}")


def _follow_schedules(name: str | None) -> None:
    """A step ended: sessions with a schedule do what it has for the next.

    A file has some of the steps only, so a step without a name is called by its number.
    """
    with _lock:
        _scheduled[:] = [opened for opened in _scheduled if _open.get(opened.id) is opened]
        plans = [opened.following for opened in _scheduled if opened.following is not None]
        _native.step(str(plans[0].step) if name is None and plans else name)
        for following in plans:
            following.advance()


def close_sessions(session: int | None, output_format: str) -> None:
    """`finalize()`, also under the `proton` command."""
    with _lock:
        targets = [opened for opened in _open.values() if session is None or opened.id == session]
        formats = [opened.options.format_to_write(output_format) for opened in targets]
        failures: list[Exception] = []
        for opened, chosen in zip(targets, formats, strict=True):
            try:
                _close(opened, chosen)
            except (ProtonError, OSError) as error:
                failures.append(error)
        _follow_flags()
    if failures:
        notes = [notice for opened in targets for notice in _take(opened.notices)]
        for note in (*map(str, failures[1:]), *notes):
            failures[0].add_note(note)
        raise failures[0]
    _say_notices(targets)


def find(session: int) -> OpenSession:
    """The open session of this id.

    Raises:
        SessionNotFound: there is none; the message lists those there are.
        UsageError: under the `proton` command, where there is only its own.
    """
    with _lock:
        if flags.command_line and session != command_session():
            raise UsageError(
                f"session {session!r} does not exist: under the proton command the only session "
                f"is {command_session()!r}"
            )
        opened = _open.get(session)
        if opened is None:
            known = ", ".join(map(str, _open)) or "none"
            raise SessionNotFound(
                f"Session has not been initialized: {session!r}; it was never started or was "
                f"finalized, open sessions: {known}"
            )
        return opened


def with_session(session: int, function: Callable[[OpenSession], T]) -> T:
    """`function` of the open session of this id, with no other thread changing it meanwhile."""
    with _lock:
        opened = find(session)
        result = function(opened)
    _say_notices([opened])
    return result


def open_sessions() -> list[OpenSession]:
    """All open sessions, oldest first."""
    return list(_open.values())


def command_session() -> int:
    """The id of the `proton` command's session: the first one of the process."""
    return next(iter(_open), 0)


def _reuse(opened: OpenSession, options: SessionOptions, plan: Schedule | None) -> None:
    """Answer a `start()` with the name of an open session."""
    if differences := opened.differences(options):
        raise UsageError(
            f"session {options.name!r} is open already with other options: "
            f"{'; '.join(differences)}; finalize it first or use another name"
        )
    known = None if opened.following is None else opened.following.plan
    if plan not in (None, known):
        raise UsageError(
            f"session {options.name!r} is open already with the schedule {str(known or 'none')!r}, "
            f"not {str(plan)!r}; finalize it first or use another name"
        )
    if options.backend not in opened.backends:
        opened.add_backend(options)
    if opened.following is None or opened.following.is_recording:
        opened.activate()


def _close(opened: OpenSession, output_format: str) -> None:
    """Stop, write and forget one session; it stays open if there is no file that has it."""
    try:
        opened.stop()
    finally:
        is_empty = opened.native.is_empty and not opened.files.written
        why_empty = opened.why_empty() if is_empty else ""
        try:
            opened.write(output_format)
        except WriteError as error:
            if error.rescued_to is None:
                raise
            _discard(opened)
            raise
        _discard(opened)
    if is_empty and not flags.command_line:  # the command has its own words for it
        opened.notices.append(f"session {opened.options.name!r} captured nothing: {why_empty}")


def _discard(opened: OpenSession) -> None:
    _open.pop(opened.id, None)
    opened.discard()


def discard_sessions() -> None:
    """Close all sessions and write nothing."""
    with _lock:
        for opened in open_sessions():
            _discard(opened)
        _follow_flags()


def _chosen(session: int | None) -> list[OpenSession]:
    return open_sessions() if session is None else [find(session)]


def _follow_flags() -> None:
    if not _open:
        background.stop()
    flags.profiling_on = bool(_open)
    flags.instrumentation_on = any(
        "instrumentation" in opened.backends for opened in _open.values()
    )


def _say_notices(targets: Iterable[OpenSession]) -> None:
    for opened in targets:
        say_notices(opened.notices)


def say_notices(notices: list[str]) -> None:
    """Warn of each notice once; the list is empty afterwards.

    Raises:
        ProtonWarning: where the program made warnings errors.
    """
    for text in _take(notices):
        warnings.warn(text, ProtonWarning, stacklevel=_outside_level())


def _take(notices: list[str]) -> tuple[str, ...]:
    """What was noted, for whoever tells it; the list is empty afterwards."""
    texts = tuple(notices)
    notices.clear()
    return texts


def _outside_level() -> int:
    """The `stacklevel`, counted from our caller, of the first frame outside this package.

    At the exit of the process there is none: a level past the last frame names no line of ours.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_code.co_filename.startswith(_PACKAGE):
        level += 1
        if frame.f_back is None:
            break
        frame = frame.f_back
    return level


def call_at_exit(function: Callable[[], None]) -> None:
    """Have `function` called once when this process ends; not in children forked from it.

    Only the first call in a process counts.
    """
    global _exit_pid
    if _exit_pid == os.getpid():
        return
    _exit_pid = os.getpid()
    atexit.register(_call_in, function, _exit_pid)
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        # a worker of multiprocessing ends without the handlers of atexit
        from multiprocessing.util import Finalize

        Finalize(None, _call_in, args=(function, _exit_pid), exitpriority=0)


def _call_in(function: Callable[[], None], pid: int) -> None:
    if pid == os.getpid():
        function()


def _write_at_exit() -> None:
    """Write what is still open; an error is a line in the log, where nobody can catch it."""
    background.yield_to_signal()
    if flags.command_line:
        return  # the command writes its session, later in a worker of multiprocessing, and says so
    try:
        close_sessions(None, "")
    except (ProtonError, OSError) as error:
        import logging

        for text in (error, *getattr(error, "__notes__", ())):
            logging.getLogger("proton").error("%s", text)
    finally:
        background.stop()  # it must not live on into the end of the interpreter


def _write_at_signal() -> None:
    """Write what is open, soon: a signal is ending the process.

    The lock is kept: whoever else asks for sessions waits for the end.
    """
    is_rescued = _native.Termination.answer()
    _lock.acquire()
    targets = open_sessions()
    for opened in targets:
        opened.end_by_signal(_native.Termination.caught(), SIGNAL_FLUSH_LIMIT_S)
        if is_rescued:
            opened.autosave.adopt_rescue()
    write_at_signal()
    if _native.Termination.answer() and not is_rescued:  # a child wrote while this thread did
        for opened in targets:
            opened.autosave.drop_rescue()


def _steps() -> list[Callable[[], float]]:
    return [opened.autosave.step for opened in open_sessions()]


background = BackgroundThread(_steps, _write_at_signal)
follow_forks(background)
write_at_signal: Callable[[], None] = _write_at_exit  # the `proton` command sets its own


def _after_fork_in_child() -> None:
    """The parent's sessions are not ours: forget them, without writing or stopping anything."""
    global _lock, _next_id
    _lock = threading.RLock()  # another thread of the parent may have held it
    if flags.command_line:
        _next_id = 0  # the command's session is 0 in every process that it follows
    _native.reset_after_fork()
    targets = open_sessions()
    _open.clear()
    if targets:
        from proton.runtime import frameworks, nvtx
        from proton.runtime.hooks import HookManager

        HookManager.forget()
        nvtx.forget()
        frameworks.forget()
        for opened in targets:
            opened.forget()
    _follow_flags()


os.register_at_fork(after_in_child=_after_fork_in_child)
