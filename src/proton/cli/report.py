"""`proton report FILE... [-o PAGE]`: profiles as one page that needs nothing but a browser."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import nullcontext

from proton.cli import say, without_collection
from proton.cli.outputs import (
    add_force,
    add_without,
    choose_output,
    is_plain_file,
    name_of,
    write_output,
)
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy
from proton.errors import UsageError

USAGE = "FILE... [-o PAGE] [--without WHAT] [--force]"
DESCRIPTION = """\
Writes one page that shows the profiles: no network, no server, opens from anywhere. FILE is a
profile of any format of proton; a set of .part_N files is read as one. With several files the page
switches between them; with exactly two it also compares the second with the first."""

EXAMPLES = """\
examples:
  proton report run.hatchet
  proton report trace.pftrace -o ticket.html
  proton report run.hatchet --without host,path,source     for people outside
  proton report before.hatchet after.hatchet -o diff.html"""
_SUFFIX = ".html"


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    parser.add_argument("files", nargs="*")
    parser.add_argument("-o", "--output", action=Option, metavar="PAGE",
        needs="a file; as in: -o page.html",
        help="file to write (- is standard output); default: the name of the first file, "
        "with .html")  # fmt: skip
    add_without(parser)
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, a file is no profile, this installation has no page, or the
            page cannot be written.
    """
    from proton.files.recognize import PAGE  # readers: not for --help
    from proton.files.redact import parse_words

    without = parse_words(arguments.without) if arguments.without else frozenset()
    output = choose_output(
        page_path(arguments.files, arguments.output),
        PAGE,
        inputs=arguments.files,
        is_forced=arguments.force,
    )
    with without_collection():
        say(_write(arguments.files, output, without))
    return 0


def _write(sources: Sequence[str], output: str, without: frozenset[str]) -> list[str]:
    """Make the page; what there is to say of it."""
    from proton.files.detect import open_profile  # readers load msgpack: not for --help
    from proton.files.redact import SOURCE, redact
    from proton.files.source_text import withhold_sources
    from proton.render.page import page_data
    from proton.render.page.html import fill, template
    from proton.render.units import format_bytes

    page = template()  # first: what is missing is said before long work
    profiles = []
    for source in sources:
        with busy(f"reading {source}"):
            profiles.append(redact(open_profile(source), without))
    withheld = withhold_sources() if SOURCE in without else nullcontext()
    with busy("laying out the page") as tell, withheld:
        data = page_data(profiles, tell)
        tell(f"compressing {format_bytes(len(data))}")
        content = fill(page, data).encode("utf-8")
        tell(f"writing {name_of(output)} ({format_bytes(len(content))})")
        write_output(output, content)
    lines = [line for profile in profiles for line in profile.warnings]
    remedy = "; open it in a browser" if is_plain_file(output) else ""
    return [*lines, f"wrote {name_of(output)} ({format_bytes(len(content))}){remedy}"]


def page_path(sources: Sequence[str], output: str | None) -> str:
    """Where the page goes.

    Raises:
        UsageError: there is no profile, or the page would be taken for one.
    """
    if not sources:
        raise UsageError("report needs a profile; as in: proton report run.hatchet")
    path = output or _default_output(sources[0])
    if os.path.splitext(path)[1].removeprefix(".") in _known_suffixes():
        raise UsageError(f"{path}: is named like a profile; end the page's name in {_SUFFIX}")
    return path


def _default_output(source: str) -> str:
    """The name of the page: that of the profile with another suffix, in the same folder."""
    stem, suffix = os.path.splitext(source)
    return (stem if suffix.removeprefix(".") in _known_suffixes() else source) + _SUFFIX


def _known_suffixes() -> set[str]:
    from proton.files.encoding.schema import FORMAT_OF_SUFFIX

    return {*FORMAT_OF_SUFFIX, "json"}
