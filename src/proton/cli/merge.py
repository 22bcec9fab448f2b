"""`proton merge A B... -o OUT`: the profiles of several ranks or processes as one."""

from __future__ import annotations

import argparse
import os

from proton.cli import say
from proton.cli.outputs import add_force, choose_output, is_through, name_of, write_output
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy, track
from proton.errors import FormatError, UsageError

USAGE = "A B... -o OUT [--by-order] [--skip-broken] [--force]"
DESCRIPTION = """\
Merges the profiles of several ranks or processes into one. A, B, ... are profiles, or folders with
profiles in them. OUT's suffix names its format: .hatchet or .hatchet_msgpack for trees,
.chrome_trace or .pftrace for traces; - is standard output, as JSON, and so are pipes and devices.
Values are summed by path. Every context keeps the spread of its time over ranks: proton-viewer
shows it as rank_min, rank_median, rank_max and slowest_rank.
The rank of a file comes from its header, or from its name, as in rank_3. Files without a rank are
numbered in their order. Profiles that do not fit stop the command, and nothing is written."""

EXAMPLES = """\
examples:
  proton merge run.rank_0.hatchet run.rank_1.hatchet -o run.hatchet
  proton merge profiles/ -o run.hatchet_msgpack
  proton merge --by-order proton.*.hatchet -o all.hatchet
  proton-viewer run.hatchet"""


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    add = parser.add_argument
    add("files", nargs="*")
    add("-o", "--output", action=Option, metavar="OUT", needs="a file; as in: -o run.hatchet",
        help="file to write")  # fmt: skip
    add("--by-order", action="store_true",
        help="number the ranks in the order of the files, whatever the files say")  # fmt: skip
    add("--skip-broken", action="store_true",
        help="skip files that cannot be read; OUT records how many")  # fmt: skip
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, a profile cannot be read, ranks do not match, or the output
            cannot be written.
    """
    from proton.files.detect import files_of
    from proton.files.encoding.schema import FORMAT_OF_SUFFIX
    from proton.files.rank_files import find_files, merge_files  # readers: not for --help
    from proton.files.write import format_for, to_bytes

    if not arguments.files or not arguments.output:
        what = "a place for the result" if arguments.files else "the profiles to merge"
        raise UsageError(
            f"merge needs {what}; as in: proton merge a.hatchet b.hatchet -o all.hatchet"
        )
    output: str = arguments.output
    suffix = os.path.splitext(output)[1].removeprefix(".")
    if suffix not in FORMAT_OF_SUFFIX and not is_through(output):
        endings = ", ".join(f".{known}" for known in FORMAT_OF_SUFFIX)
        raise UsageError(f"{output}: the suffix names no format; end it in {endings}")
    paths = find_files(arguments.files, output)
    if len(paths) < 2:
        if not files_of(paths[0]):
            raise FormatError(f"{paths[0]}: no such file or folder")
        raise UsageError(f"{paths[0]}: one profile alone; merge needs two or more")
    kind = FORMAT_OF_SUFFIX.get(suffix, "")
    output = choose_output(output, kind, inputs=paths, is_forced=arguments.force)
    merged = merge_files(
        paths,
        output,
        by_order=arguments.by_order,
        skip_broken=arguments.skip_broken,
        allow_strangers=arguments.force,
        track=lambda each: track(each, "merging", len(each)),
    )
    with busy(f"writing {name_of(output)}"):
        write_output(output, to_bytes(merged, format_for(merged, output)))
    say([*merged.warnings, f"wrote {name_of(output)}: {len(merged.ranks)} ranks"])
    return 0
