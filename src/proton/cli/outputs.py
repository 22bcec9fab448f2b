"""Where commands write: the one rule of what may be replaced, and `-` as standard output.

A file is replaced if it is empty or of the kind that the command writes, or with `--force`. Inputs
are never replaced. Links, pipes and devices are written through (`files.write.write_file`).
"""

from __future__ import annotations

import os
import stat
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable

from proton.cli.parser import Option, Parser
from proton.errors import UsageError, WriteError

STANDARD_OUTPUT = "-"


def add_force(parser: Parser) -> None:
    """The option that lifts the rule."""
    parser.add_argument("--force", action="store_true",
        help="replace the output even if it is another kind of file")  # fmt: skip


def add_without(parser: Parser) -> None:
    """The option that leaves out what others shall not see."""
    parser.add_argument("--without", action=Option, metavar="WHAT",
        needs="what to leave out; as in: --without host,path,source",
        help="leave out, separated by commas: host (its name), path (folders and the command "
        "line), source (text of source files)")  # fmt: skip


def choose_output(
    path: str, kind: str, *, inputs: Iterable[str] = (), is_forced: bool = False
) -> str:
    """The path to write to, with `~` expanded; asked before long work begins.

    Args:
        path: What the user gave; `-` stands for standard output.
        kind: What will be written, as `files.recognize` names it.
        inputs: Profiles that are read: none of their files is replaced, forced or not.
        is_forced: Another kind of file may be replaced.

    Raises:
        UsageError: The file must stay; the message says which option or name to give.
        WriteError: The folder is not there.
    """
    if path == STANDARD_OUTPUT:
        return path
    path = os.path.expanduser(path)
    from proton.files.detect import files_of  # readers: not for --help
    from proton.files.recognize import is_of_kind

    for source in inputs:
        is_there = os.path.exists(path)
        is_input = any(is_there and os.path.samefile(file, path) for file in files_of(source))
        if is_input or os.path.realpath(source) == os.path.realpath(path):
            raise UsageError(f"{path}: is one of the inputs; give the output another name")
    if os.path.isfile(path) and not is_forced and not is_of_kind(path, kind):
        raise UsageError(
            f"{path}: exists and is not {_NAMES.get(kind, f'a file of format {kind!r}')}; "
            "give the output another name, or replace it with --force"
        )
    folder = os.path.dirname(os.path.realpath(path))
    if not is_through(path) and not os.path.isdir(folder):
        raise WriteError(f"{path}: cannot be written: there is no folder {folder}")
    return path


_NAMES = {
    **dict.fromkeys(("hatchet", "hatchet_msgpack", "chrome_trace", "perfetto"), "a profile"),
    "page": "a page of proton",
    "ir": "TTIR, TTGIR or LLVM IR",
}


def write_output(path: str, content: bytes) -> None:
    """Write `content` to a path from `choose_output`.

    Raises:
        WriteError: It cannot be written; the message starts with the path.
        BrokenPipeError: Whoever reads it has seen enough.
        UsageError: Standard output is a terminal, which cannot show this content.
    """
    from proton.files.write import write_file

    if path != STANDARD_OUTPUT:
        try:
            write_file(path, content)
        except WriteError as error:
            if isinstance(error.__cause__, BrokenPipeError):  # as for standard output
                raise error.__cause__ from None
            raise
        return
    if sys.stdout.isatty() and not _is_text(content[:4096]):
        raise UsageError("-: the terminal cannot show this format; send it to a file: > FILE")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def is_plain_file(path: str) -> bool:
    """Whether what is written to `path` stays: no pipe, device or terminal takes it."""
    try:
        is_standard = path == STANDARD_OUTPUT
        mode = os.fstat(sys.stdout.fileno()).st_mode if is_standard else os.stat(path).st_mode
    except (OSError, ValueError):  # a standard output of Python's own has no number
        return False
    return stat.S_ISREG(mode)


def is_through(path: str) -> bool:
    """Whether `path` is a pipe or device, which is written through: its name tells no format."""
    return path == STANDARD_OUTPUT or (os.path.exists(path) and not os.path.isfile(path))


def name_of(path: str) -> str:
    """What messages call the output."""
    return "standard output" if path == STANDARD_OUTPUT else path


def _is_text(beginning: bytes) -> bool:
    try:
        getincrementaldecoder("utf-8")().decode(beginning)  # it may end inside a letter
    except UnicodeDecodeError:
        return False
    return b"\0" not in beginning
