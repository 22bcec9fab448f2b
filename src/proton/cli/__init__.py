"""Command line: one module a command; `main` here runs it and picks the exit code.

`parser` has what the words of all commands have in common. `run` profiles a target (with `target`,
`profiled_run`, `children` and `triton_alias`); `doctor`, `report`, `serve`, `convert`, `merge` and
`recover` are commands of their own, `viewer` and `opt` programs; `completion` is for shells and
`progress` for who waits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from proton.errors import ProtonError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run `proton` with these words (default: the process's own); the exit code.

    An exception of a profiled target, SystemExit included, goes on to the caller.
    """
    try:
        launch = _carry_out(sys.argv[1:] if argv is None else argv)
    except ProtonError as error:  # anything else is a bug and keeps its traceback
        print("proton:", *str(error).splitlines(), file=sys.stderr)  # one line, whatever is quoted
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader has seen enough, as in `proton --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return launch if isinstance(launch, int) else launch()


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
