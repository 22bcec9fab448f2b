"""`%load_ext proton`: `%%proton` records a cell of a notebook and shows what it recorded.

`%proton STATEMENT` does so with one line. Options are those of the `proton` command.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proton.cli import say
from proton.cli.parser import parse
from proton.cli.run import request_of
from proton.errors import FormatError, PageNotBuilt, ProtonError, ProtonWarning, UsageError

MAGIC = "proton"
_WORDS = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_CELL = "<cell>"  # stands where the command has its target


def register(shell: Any) -> None:
    """Add `%proton` and `%%proton` to an IPython shell."""

    def proton(line: str, cell: str | None = None) -> None:
        """Record a cell, or the statement in a line, and show its profile.

        Options are those of the `proton` command; `%proton --help` lists them.

        Example:
            >>> %proton -n run step()
        """
        __tracebackhide__ = True  # IPython leaves such frames out
        try:
            record(shell, line, cell)
        except ProtonError as error:
            # IPython shows this one as a line, and stops a notebook that runs as a whole.
            from IPython.core.error import UsageError as Refusal

            raise Refusal(str(error)) from None
        except SystemExit:
            pass  # --help and --version have printed

    shell.register_magic_function(proton, "line_cell", MAGIC)


def unregister(shell: Any) -> None:
    """Take both away again."""
    for magics in shell.magics_manager.magics.values():
        magics.pop(MAGIC, None)


def record(shell: Any, line: str, cell: str | None = None) -> None:
    """Run a cell, or what a line has behind its options, and show its profile.

    Args:
        shell: The IPython shell that runs it.
        line: What follows the name of the magic.
        cell: The text below it; None for a line.

    Raises:
        UsageError: An option is wrong, or there is nothing to run.
        ProtonError: The session cannot be opened, or its profile not be written.
    """
    __tracebackhide__ = True
    arguments, code = parse_line(line, cell)
    request = request_of(arguments)
    _refuse_await(shell, code)
    from proton.runtime.phase_files import latest_file  # the recording half: not for --help
    from proton.runtime.sessions import finalize, start

    options = request._asdict()
    output_format = options.pop("output_format")
    said: list[str] = []
    with _warnings_kept(said):
        session = start(**options)
    try:
        with _errors_raised(shell):
            shell.run_cell(code).raise_error()
    finally:
        with _warnings_kept(said):
            finalize(session, output_format)
        say(said)
        if session is not None and not arguments.quiet and (path := latest_file()) is not None:
            _show(shell, str(path), is_warned=bool(said))


def _refuse_await(shell: Any, code: str) -> None:
    """A magic is called inside the loop of a notebook, which then can run nothing else."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if shell.should_run_async(code, transformed_cell=shell.transform_cell(code)):
        raise UsageError(
            f"%%{MAGIC} cannot record a cell that awaits; put proton.start('name') before it and "
            "proton.finalize() after it, then proton.show()"
        )


@contextmanager
def _warnings_kept(texts: list[str]) -> Iterator[None]:
    """Keep what we warn of: the place it would name is one inside IPython."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtonWarning)
        yield
    texts += [str(one.message) for one in caught if issubclass(one.category, ProtonWarning)]


@contextmanager
def _errors_raised(shell: Any) -> Iterator[None]:
    """Let the error of a cell reach whoever called us, who shows it; not shown here as well."""
    names = ("showtraceback", "showsyntaxerror")
    for name in names:
        setattr(shell, name, lambda *_, **__: None)
    try:
        yield
    finally:
        for name in names:
            delattr(shell, name)


def parse_line(line: str, cell: str | None) -> tuple[argparse.Namespace, str]:
    """The options in a line, and what is to run: the cell, else the rest of the line.

    Raises:
        UsageError: There is nothing to run, or an option has no meaning here.
    """
    found = list(_WORDS.finditer(line))
    words = [shlex.split(word[0])[0] if word[0][0] == "-" else word[0] for word in found]
    words = [word[1:-1] if word[:1] in "\"'" and word[-1:] == word[:1] else word for word in words]
    arguments = parse([*words, *([] if cell is None else [_CELL])])
    if arguments.command != "run":
        raise UsageError(f"%{MAGIC} records; for {arguments.command} call: !proton {line.strip()}")
    if arguments.module is not None or arguments.follow_children:
        raise UsageError(f"%{MAGIC} records what stands in the notebook: no --module, no children")
    rest = arguments.target
    if cell is not None:
        if rest != [_CELL]:
            raise UsageError(f"{' '.join(rest[:-1])!r} is no option; the cell is below the line")
        return arguments, cell
    if not rest:
        raise UsageError(f"nothing to record; as in: %{MAGIC} step(), or %%{MAGIC} above a cell")
    return arguments, line[found[len(found) - len(rest)].start() :]


def _show(shell: Any, path: str, *, is_warned: bool) -> None:
    """The page in a notebook, else the tree."""
    from proton.analysis.prepare import prepare
    from proton.files.detect import open_profile

    try:
        prepare(open_profile(path))
    except FormatError as error:  # there is nothing in it
        say([] if is_warned else [str(error)])
        say(["to time parts of a cell: with proton.cpu_timed_scope('part'): ..."])
        return
    if hasattr(shell, "kernel"):
        from proton.notebook import show

        try:
            show(path)
            return
        except PageNotBuilt:
            pass
    from proton.cli.viewer import main

    main([path])
