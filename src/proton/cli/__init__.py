"""Command line: one module a command; `main` here picks the command and the exit code.

`arguments` reads the words, `run` profiles a target (with `target`, `launch`, `triton_alias`,
`children` and `summary`), `doctor`, `report`, `serve`, `convert`, `merge` and `recover` are
commands of their own, `completion` is for shells and `progress` for who waits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from proton.cli.arguments import (
    COMMANDS,
    CommandArguments,
    CompletionArguments,
    Question,
    parse,
)
from proton.errors import ProtonError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run `proton` with these words (default: the process's own); the exit code.

    An exception of a profiled target, SystemExit included, goes on to the caller.
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
        if isinstance(arguments, Question):
            return _answer(arguments)
        if isinstance(arguments, CompletionArguments):
            from proton.cli.completion import completion_script

            print(completion_script(arguments.shell, COMMANDS), flush=True)
            return 0
        if isinstance(arguments, CommandArguments):
            return _command(arguments)
        from proton.cli.run import prepare  # not before it is needed: loads the recording half

        launch = prepare(arguments)
    except ProtonError as error:  # anything else is a bug and keeps its traceback
        print("proton:", *str(error).splitlines(), file=sys.stderr)  # one line, whatever is quoted
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader has seen enough, as in `proton --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return launch()


def _answer(question: Question) -> int:
    from proton.cli.help import VERSION, help_text

    print(VERSION if question is Question.VERSION else help_text(), flush=True)
    return 0


def _command(arguments: CommandArguments) -> int:
    module = import_module(f"proton.cli.{arguments.command}")
    code = int(module.run(arguments.words))
    sys.stdout.flush()  # here, where a reader that is gone can be dealt with
    return code
