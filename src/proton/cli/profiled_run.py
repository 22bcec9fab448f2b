"""One profiled process: its session from the start to the last line on stderr."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from proton.cli import triton_alias
from proton.cli.arguments import RunArguments
from proton.cli.exits import before_exit
from proton.cli.summary import describe, say
from proton.errors import ProtonWarning
from proton.runtime import command_line


class ProfiledRun:
    """The recording of this process, and of what its forked children make of it."""

    def __init__(
        self, arguments: RunArguments, *, folder: str | None = None, is_child: bool = False
    ) -> None:
        """`folder`: where the user stands, who reads the paths; None: here."""
        self.arguments = arguments
        self.folder = os.getcwd() if folder is None else folder
        self.is_child = is_child
        self.is_open = False
        self.target_succeeded = True  # until its end is known
        self._is_disabled = False
        self._pid = 0
        self._watches_exits = False

    def start(self, name: str | None) -> None:
        """Open the session.

        Raises:
            ProtonError: it cannot be opened; nothing is left behind.
        """
        with _warnings_said():
            session = command_line.start(
                command_line.Request(
                    name=name,
                    backend=self.arguments.backend,
                    context=self.arguments.context,
                    mode=self.arguments.mode,
                    data=self.arguments.data,
                    hook=self.arguments.hook,
                    output_format=self.arguments.output_format,
                )
            )
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
            ending = command_line.finish()
        say(describe(ending, folder=self.folder, quiet=self.arguments.quiet))
        if ending.error and may_fail and self.target_succeeded and not self.is_child:
            _fail()

    def _sign_of_life(self, may_wait: bool) -> AbstractContextManager[None]:
        """Say on a terminal that the profile is being written, if that takes long."""
        if not may_wait or self.is_child or self.arguments.quiet:
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
    say([str(each.message) for each in caught if issubclass(each.category, ProtonWarning)])


def _fail() -> None:
    """End with exit code 1 from inside an exit handler, where only `os._exit` still can."""
    if (logging := sys.modules.get("logging")) is not None:
        logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(1)
