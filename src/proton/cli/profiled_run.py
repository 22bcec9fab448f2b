"""One profiled process: its session from the start to the last line on stderr.

The profile is written however the process ends in Python. At a normal end that is an exit handler,
registered before the target runs and so called after its own handlers and threads. `os._exit` and
the exec family skip those handlers: here they write first. A signal that kills is not caught.
"""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import ParamSpec, Protocol, TypeVar

from proton.cli import say, triton_alias
from proton.cli.target import Target
from proton.errors import ProtonWarning
from proton.runtime import command_line
from proton.runtime.command_line import Ending
from proton.runtime.open_session import list_losses
from proton.runtime.request import SessionRequest

P = ParamSpec("P")
T = TypeVar("T")


class ProfiledRun:
    """The recording of this process, and of what its forked children make of it."""

    def __init__(
        self,
        request: SessionRequest,
        *,
        quiet: bool = False,
        folder: str | None = None,
        is_child: bool = False,
    ) -> None:
        """`folder`: where the user stands, who reads the paths; None: here."""
        self.request = request
        self.quiet = quiet
        self.folder = os.getcwd() if folder is None else folder
        self.is_child = is_child
        self.is_open = False
        self.follows_children = False
        self.target_succeeded = True  # until its end is known
        self._is_disabled = False
        self._pid = 0
        self._watches_exits = False

    def start(self, name: str | os.PathLike[str] | None) -> None:
        """Open the session under this name.

        Raises:
            ProtonError: it cannot be opened; nothing is left behind.
        """
        with _warnings_said():
            session = command_line.start(self.request._replace(name=name))
        self._is_disabled = session is None
        if self._is_disabled:
            command_line.forget()  # the target's own start() answers None too
        triton_alias.install()
        self._pid = os.getpid()
        self.is_open = True
        if not self._watches_exits:  # a forked child inherits what its parent registered
            before_exit(self.finish)
            command_line.call_at_signal(lambda: self.finish(may_fail=False))
            self._watches_exits = True

    def run(self, target: Target) -> int:
        """Run the target; the profile is written when the process ends, after its threads."""
        try:
            refusal = target.run_as_main()
        except SystemExit as error:
            code = error.code  # of any type, with any idea of equality
            self.target_succeeded = code is None or (isinstance(code, int) and code == 0)
            raise
        except BaseException:
            self.target_succeeded = False
            raise
        if refusal is None:
            return 0
        self.discard()
        say([refusal])
        return 2

    def discard(self) -> None:
        """Close the session and write nothing: there was nothing to profile."""
        if self._take():
            triton_alias.remove()
            command_line.discard()

    def finish(self, *, may_fail: bool = True) -> None:
        """Close the session, write the profile and say so; only once, and only in its process.

        A profile that could not be written fails the process, if it `may_fail` and the target
        itself did not; that of a child never does, its parent counts on the code.
        """
        if not self._take():
            return
        triton_alias.remove()
        if self.is_child and command_line.is_empty():
            command_line.discard()  # a child that did nothing of interest leaves no file
            return
        if self._is_disabled:
            say(["nothing was captured: TRITON_PROTON_DISABLE is set; unset it to profile"])
            return
        with _warnings_said(), self._sign_of_life(may_fail):
            # A target that broke off at its start has nothing worth an earlier profile.
            ending = command_line.finish(keeps_earlier=not self.target_succeeded)
        lines = describe(ending, folder=self.folder, quiet=self.quiet)
        if ending.is_empty and not self.follows_children and _started_processes():
            lines.append("the target started Python processes; to profile them: --follow-children")
        say(lines)
        if ending.error and may_fail and self.target_succeeded and not self.is_child:
            _fail()

    def _sign_of_life(self, may_wait: bool) -> AbstractContextManager[object]:
        """Say on a terminal that the profile is being written, if that takes long."""
        if not may_wait or self.is_child or self.quiet:
            return nullcontext()
        from proton.cli.progress import busy  # at the end, so that the target starts sooner

        return busy("proton: writing the profile")

    def _take(self) -> bool:
        """Whether the session is ours to close; it is not a second time."""
        is_ours = self.is_open and self._pid == os.getpid()
        self.is_open = False
        return is_ours


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print our warnings as lines of ours, whatever the target made of Python's filters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtonWarning)
        yield
    say([str(warning.message) for warning in caught if issubclass(warning.category, ProtonWarning)])


def _fail() -> None:
    """End with exit code 1 from inside an exit handler, where only `os._exit` still can."""
    if (logging := sys.modules.get("logging")) is not None:
        logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(1)


class Finish(Protocol):
    """What is done before the end."""

    def __call__(self, *, may_fail: bool = True) -> None:
        """Write the recording; where that goes wrong, end as a failure if it `may_fail`."""


def before_exit(finish: Finish) -> None:
    """Have `finish` called before this process ends or becomes another program.

    It may be called in forked children too, and more than once: it has to look who it is.
    """
    atexit.register(finish)

    def write_before_leaving(status: object) -> None:
        finish(may_fail=status == 0)

    def write_before_program(path: object, *_: object, **__: object) -> None:
        if _will_run(path):
            finish(may_fail=False)

    vars(os).update(  # the other exec functions end in these two
        _exit=_after(write_before_leaving, os._exit),
        execv=_after(write_before_program, os.execv),
        execve=_after(write_before_program, os.execve),
    )


def _after(first: Callable[P, None], function: Callable[P, T]) -> Callable[P, T]:
    """`function`, with another called before it."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        first(*args, **kwargs)
        return function(*args, **kwargs)

    return call


def _will_run(path: object) -> bool:
    """Whether exec can succeed: `execvp` tries one folder after another, and most must fail."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except ValueError:  # a NUL in it
        return False


def describe(ending: Ending, *, folder: str, quiet: bool) -> list[str]:
    """The lines for a run's end, without the `proton: ` in front; paths as seen from `folder`."""
    lines = []
    paths = [path.removeprefix(f"{folder.rstrip('/')}/") for path in ending.paths]
    lines += ending.error.splitlines()
    if ending.kept:
        kept = ending.kept.removeprefix(f"{folder.rstrip('/')}/")
        why = f": {ending.missed}" if ending.missed else ""
        return [*lines, f"nothing was captured{why}; {kept} is still that of an earlier run"]
    if ending.is_empty:
        lines.append(f"nothing was captured: {ending.missed or _why_empty()}")
    if quiet:
        return lines
    if paths:
        what_next = "there is nothing in it to show" if ending.is_empty else _next(paths[0])
        lines.append(f"wrote {_files(paths)}{_losses(ending.losses)}; {what_next}")
        if paths[0].endswith(".chrome_trace") and not ending.is_empty:
            lines.append(_SMALLER)
    elif ending.losses:
        lines.append(f"the profile is not complete{_losses(ending.losses)}")
    return lines


_SMALLER = "as .pftrace it would be much smaller: --output-format perfetto"


def _why_empty() -> str:
    """What the target did not do, and what to do about it."""
    marking = "to time parts of it: with proton.cpu_timed_scope('part'): ..."
    if not {"triton", "torch", "cupy", "jax"} & sys.modules.keys():
        return (
            "the target imported no Triton, launched no kernel and entered no scope; proton times "
            f"kernels and marked parts; {marking}"
        )
    return (
        "the target launched no kernel and entered no scope while it was recorded; "
        f"check the machine with: proton doctor; {marking}"
    )


def _started_processes() -> bool:
    """Whether `multiprocessing` did: it loads one of these with the first process of each kind."""
    kinds = ("fork", "spawn_posix", "forkserver")
    return any(f"multiprocessing.popen_{kind}" in sys.modules for kind in kinds)


def _files(paths: list[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    return f"{len(paths)} files, {paths[0]} to {paths[-1]}"


def _losses(losses: Mapping[str, int]) -> str:
    if not losses:
        return ""
    return f" (lost: {list_losses(losses)})"


def _next(path: str) -> str:
    if path.endswith((".chrome_trace", ".pftrace")):
        return "open it in https://ui.perfetto.dev"
    return f"see it with: proton-viewer {shlex.quote(path)}"
