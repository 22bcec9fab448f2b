"""Command line: one module a command; `main` here runs it and picks the exit code.

`parser` has what the words of all commands have in common, `help_text` fits help into a terminal.
`run` profiles a target (with `target`, `profiled_run`, `children` and `triton_alias`); `doctor`,
`report`, `compare`, `serve`, `convert`, `merge` and `recover` are commands of their own, `viewer`
and `opt` programs, `pytest_gate` is a plugin; `completion` is for shells, `progress` for who waits,
and `outputs` is the rule of what commands may replace.

Another command: a module with `USAGE`, `DESCRIPTION`, `EXAMPLES`, `add_arguments(parser)` and
`run(arguments)`, its line in `parser.COMMANDS`, its rows in docs/reference/cli.md. Another option
of a session: a field of `runtime.request.SessionRequest` and its check in `runtime.options`, a line
in `run.add_arguments`, a row in docs/reference/cli.md; and an argument of `start` and `profile`, if
programs may set it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from proton.errors import ProtonError, UsageError

T = TypeVar("T")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `proton` with these words (default: the process's own); the exit code.

    An exception of a profiled target, SystemExit included, goes on to the caller.
    """
    words = sys.argv[1:] if argv is None else argv
    launch = guard("proton", lambda: _carry_out(words))
    return launch if isinstance(launch, int) else launch()


def guard(program: str, work: Callable[[], T], *, shown: Callable[[str], str] = str) -> T | int:
    """The result of `work`, or an exit code with one line on stderr: 1 failed, 2 a wrong call.

    Anything but these errors is a bug and keeps its traceback. `shown` makes a text fit to print.
    """
    try:
        return work()
    except ProtonError as error:
        problem, code = str(error), 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader has seen enough, as in `proton --help | head`
        _abandon_output()
        return 0
    except OSError as error:
        if error.filename is None:
            _abandon_output()
        reason = error.strerror or type(error).__name__
        problem, code = f"{error.filename or 'output'}: {reason.lower()}", 1
    print(f"{program}:", *shown(problem).splitlines(), file=sys.stderr)  # one line, whatever it has
    return code


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """No looking for cycles meanwhile: where everything lives until the end, it only costs time."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def say(lines: Iterable[str]) -> None:
    """Print to stderr, where there still is one."""
    if sys.stderr is None:
        return
    try:
        for line in lines:
            print(f"proton: {line}", file=sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):  # closed, or nobody reads it any more
        sys.stderr = io.StringIO()  # what could not be written would fail again, and the exit code


def _abandon_output() -> None:
    """Send what stdout still holds nowhere, so that the end of the process does not fail on it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(words: Sequence[str]) -> int | Callable[[], int]:
    """Run a command; of a target, the function that runs it."""
    from proton.cli.parser import parse  # argparse is slow to load

    try:
        arguments = parse(words)
    except SystemExit:  # --help and the like have been printed
        code: int | Callable[[], int] = 0
    else:
        code = arguments.run(arguments)
    if isinstance(code, int):
        sys.stdout.flush()  # here, where a reader that is gone can be dealt with
    return code
