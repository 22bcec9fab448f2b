"""`proton convert INPUT OUTPUT`: the same profile in another format."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from proton.cli import say
from proton.cli.outputs import (
    STANDARD_OUTPUT,
    add_force,
    add_without,
    choose_output,
    name_of,
    write_output,
)
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy
from proton.errors import UsageError
from proton.model.profile import TraceProfile, TreeProfile

USAGE = "INPUT OUTPUT [--output-format FORMAT] [--metric METRIC] [--without WHAT]"
DESCRIPTION = """\
Reads a profile of any format and writes it in the one that OUTPUT's suffix names. A set of .part_N
files is read as one. As OUTPUT, - is standard output; --output-format names its format.

formats of proton, which it also reads:
  hatchet           .hatchet            a tree, as JSON
  hatchet_msgpack   .hatchet_msgpack    a tree, smaller
  chrome_trace      .chrome_trace       a trace, for chrome://tracing and ui.perfetto.dev
  perfetto          .pftrace            a trace, a fraction of that size
formats of other tools, which it only writes:
  speedscope        .speedscope.json    tree or trace, for www.speedscope.app
  pprof             .pprof, .pb.gz      tree, for go tool pprof
  collapsed         .collapsed, .folded tree, one metric, for flame graphs
  csv               .csv                a row per context of a tree, or per span of a trace
  parquet           .parquet            the same; needs pyarrow
Where another tool needs a tree, the spans of a trace are summed by path."""

EXAMPLES = """\
examples:
  proton convert run.hatchet_msgpack run.hatchet
  proton convert run.hatchet run.speedscope.json
  proton convert run.hatchet run.pprof           then: go tool pprof -top run.pprof
  proton convert --metric bytes run.hatchet run.folded
  proton convert trace.chrome_trace spans.parquet"""


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    parser.add_argument("files", nargs="*")
    needs = f"a value; see: {parser.prog} --help"
    add = partial(parser.add_argument, action=Option, needs=needs)
    add("--output-format", metavar="FORMAT",
        help="the format, where OUTPUT's suffix does not name it")  # fmt: skip
    add("--metric", metavar="METRIC",
        help="metric of the stacks (in pprof: the first one); default: time")  # fmt: skip
    add_without(parser)
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, the input is no profile, or the output cannot be written.
    """
    from proton.files.detect import open_profile  # readers load msgpack: not for --help
    from proton.files.encoding.schema import FORMATS
    from proton.files.export import EXPORTS, export_profile
    from proton.files.redact import parse_words, redact
    from proton.files.write import to_bytes

    source, destination = _paths(arguments.files)
    output_format = arguments.output_format or _format_of(destination)
    if output_format not in (*FORMATS, *EXPORTS):
        raise UsageError.unknown("output format", output_format, choices=(*FORMATS, *EXPORTS))
    if output_format not in EXPORTS and arguments.metric is not None:
        raise UsageError(f"--metric has no meaning for {output_format!r}, which holds all of them")
    destination = choose_output(
        destination, output_format, inputs=[source], is_forced=arguments.force
    )
    without = parse_words(arguments.without) if arguments.without else frozenset()
    with busy(f"reading {source}"):
        profile = redact(open_profile(source), without)
    notes: list[str] = []
    with busy(f"writing {name_of(destination)}"):
        if output_format in EXPORTS:
            if isinstance(profile, TraceProfile) and not EXPORTS[output_format].holds_traces:
                profile = _summed(profile)
                notes.append(f"{source} is a trace: its spans were summed by path")
            exported = export_profile(profile, output_format, arguments.metric)
            notes += exported.notes
            content = exported.content
        else:
            content = to_bytes(profile, output_format)
        write_output(destination, content)
    say([*profile.warnings, *notes, f"wrote {name_of(destination)}"])
    return 0


def _summed(profile: TraceProfile) -> TreeProfile:
    from proton.analysis.aggregate import tree_of_trace

    return replace(tree_of_trace(profile), trace=None)


def _format_of(destination: str) -> str:
    """The format that a path's suffix names."""
    from proton.files.encoding.schema import FORMAT_OF_SUFFIX
    from proton.files.export import export_of_path, suffixes

    if destination == STANDARD_OUTPUT:
        raise UsageError("-: standard output has no suffix; name the format with --output-format")
    known = FORMAT_OF_SUFFIX.get(os.path.splitext(destination)[1].removeprefix("."))
    if (found := known or export_of_path(destination)) is None:
        endings = [*(f".{suffix}" for suffix in FORMAT_OF_SUFFIX), *suffixes()]
        raise UsageError(
            f"{destination}: the suffix names no format; end it in {', '.join(endings)}, "
            "or say --output-format"
        )
    return found


def _paths(files: Sequence[str]) -> tuple[str, str]:
    if len(files) != 2:
        raise UsageError(
            f"convert needs two files and got {len(files)}; "
            "as in: proton convert run.hatchet_msgpack run.hatchet"
        )
    return files[0], files[1]
