"""`proton-opt`: runs passes over a file of IR and prints what they leave. Needs no Triton."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from proton._version import __version__
from proton.cli import guard
from proton.cli.outputs import STANDARD_OUTPUT, add_force, choose_output, write_output
from proton.cli.parser import Parser
from proton.errors import FormatError, ScopeMismatch, UsageError
from proton.inkernel.compiler.mode_passes import recording_passes
from proton.inkernel.compiler.overridden_files import with_carriers
from proton.inkernel.compiler.pipeline import (
    is_llvm,
    load_passes,
    parse_passes,
    run_passes,
    unrecorded_functions,
)
from proton.inkernel.ir.parse import is_generic, to_usual_form
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.passes import PASSES, Pass, load_pass_class, options_of, registered_passes

PROGRAM = "proton-opt"

_EXAMPLES = """\
examples:
  proton-opt --list
  proton-opt kernel.ttgir --pass=record-around-ops,prepare
  proton-opt kernel.ttgir --pass="record-loops{cap=16 whole=false},prepare"
  proton-opt kernel.ttgir --load=mine.py --pass=record-exp,prepare
  proton-opt kernel.ttgir --mode=ops+loops --print-after=record-loops -o new.ttgir
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `proton-opt`; returns the exit code: 0 done, 1 wrong file or kernel, 2 wrong call."""
    words = sys.argv[1:] if argv is None else argv

    def work() -> int:
        try:
            return _run(make_parser().parse_args(words))
        except ScopeMismatch as error:  # of the file's records: the call was right
            raise FormatError(str(error)) from error

    return guard(PROGRAM, work)


def make_parser() -> Parser:
    """The words of the command."""
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [FILE] [--pass A,B | --mode A+B] [options]",
        description="Run Proton's passes over TTIR, TTGIR or LLVM IR and print the result.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the IR; - reads standard input")
    parser.add_argument("--pass", dest="passes", metavar="A,B{KEY=VALUE}", help="passes, in order")
    parser.add_argument(
        "--mode", metavar="A+B", help="the passes on TTGIR of these in-kernel modes"
    )
    parser.add_argument(
        "--load",
        metavar="MODULE",
        action="append",
        default=[],
        help="import a module or a .py file with passes or tools of your own first",
    )
    parser.add_argument(
        "--print-after",
        metavar="PASS",
        action="append",
        default=[],
        help="print what this pass left on stderr too; `all` for every one",
    )
    parser.add_argument("-o", dest="output", metavar="PATH", help="write to a file")
    add_force(parser)
    parser.add_argument("--list", action="store_true", help="list the passes and their options")
    parser.add_argument(
        "--version",
        action="version",
        version=f"{PROGRAM} {__version__}",
        help="print the version",
    )
    parser.add_help_option()
    return parser


def _run(arguments: argparse.Namespace) -> int:
    for name in arguments.load:
        load_passes(name)
    if arguments.list:
        print(*_listing(), sep="\n")
        return 0
    if arguments.file is None:
        raise UsageError(f"no file to work on; e.g. {PROGRAM} kernel.ttgir --pass=prepare")
    output = STANDARD_OUTPUT
    if arguments.output is not None:
        output = choose_output(arguments.output, "ir", is_forced=arguments.force)
    passes = _passes(arguments)
    wanted = _wanted(arguments.print_after, passes)

    def show(done: Pass, text: str) -> None:
        if done.name in wanted:
            print(f"// after {done.name}\n{text}", file=sys.stderr)

    path = "<stdin>" if arguments.file == "-" else arguments.file
    source = _prepared(_read(arguments.file), path)
    if problem := unrecorded_functions(source, passes):
        print(f"{PROGRAM}: {path}: {problem}", file=sys.stderr)
    text = run_passes(source, passes, path=path, after=show)
    write_output(output, text.encode())
    return 0


def _prepared(text: str, path: str) -> str:
    """TTIR or TTGIR in the form that passes read, `proton.record` lines as operations of ours.

    Nobody but us reads such lines, and not every pass rewrites them.
    """
    if is_llvm(text):
        return text
    text = with_carriers(text, path)
    return to_usual_form(text, path) if is_generic(text) else text


def _passes(arguments: argparse.Namespace) -> tuple[Pass, ...]:
    if arguments.passes is not None and arguments.mode is not None:
        raise UsageError("--pass and --mode exclude each other; a mode is a list of passes")
    if arguments.passes is not None:
        return parse_passes(arguments.passes)
    if arguments.mode is not None:
        return recording_passes(parse_instrumentation(arguments.mode))
    raise UsageError(f"no pass to run; give --pass or --mode, and see: {PROGRAM} --list")


def _wanted(names: Sequence[str], passes: Sequence[Pass]) -> set[str]:
    running = {one_pass.name for one_pass in passes}
    for name in names:
        if name not in {*running, "all"}:
            raise UsageError.unknown("pass to print after", name, choices={*running, "all"})
    return running if "all" in names else set(names)


def _read(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise FormatError(f"{path}: is not text; give TTIR, TTGIR or LLVM IR as text") from None


def _listing() -> list[str]:
    lines = []
    for name in (*PASSES, *registered_passes()):
        kind = load_pass_class(name)
        lines.append(f"{name} ({kind.level}): {(kind.__doc__ or '').splitlines()[0]}")
        for option, default in options_of(kind).items():
            shown = ",".join(default) if isinstance(default, tuple) else str(default).lower()
            lines.append(f"    {option}={shown}")
    return lines
