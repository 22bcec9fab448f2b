"""`proton convert INPUT OUTPUT`: the same profile in another format."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proton.cli.progress import busy
from proton.errors import UsageError
from proton.model.profile import TraceProfile, TreeProfile

USAGE = """\
usage: proton convert INPUT OUTPUT [--output-format FORMAT] [--metric METRIC]

Reads a profile of any format and writes it in the one that OUTPUT's suffix names. A set of .part_N
files is read as one.

formats of proton, which read back as they were:
  hatchet           .hatchet            a tree, as JSON
  hatchet_msgpack   .hatchet_msgpack    a tree, smaller
  chrome_trace      .chrome_trace       a trace, for chrome://tracing and ui.perfetto.dev
  perfetto          .pftrace            a trace, a fraction of that size
formats of other tools, which are only written:
  speedscope        .speedscope.json    tree or trace, for www.speedscope.app
  pprof             .pprof, .pb.gz      tree, for go tool pprof
  collapsed         .collapsed, .folded tree, one metric, for flame graphs
  csv               .csv                a row a context of a tree, or a row a span of a trace
  parquet           .parquet            the same; needs pyarrow
A trace is summed by path where a tree is needed by another tool.

options:
  --output-format FORMAT   the format, where OUTPUT's suffix does not say it
  --metric METRIC          what stacks show (collapsed, speedscope; in pprof: first); default time

examples:
  proton convert run.hatchet_msgpack run.hatchet
  proton convert run.hatchet run.speedscope.json
  proton convert run.hatchet run.pprof           then: go tool pprof -top run.pprof
  proton convert --metric bytes run.hatchet run.folded
  proton convert trace.chrome_trace spans.parquet"""


@dataclass(frozen=True, slots=True)
class Request:
    """The words of the command."""

    source: str
    destination: str
    output_format: str | None = None
    metric: str | None = None


def run(words: Sequence[str]) -> int:
    """Carry out the command; the exit code.

    Raises:
        ProtonError: a word is wrong, the input is no profile, or the output cannot be written.
    """
    if any(word in ("-h", "--help") for word in words):
        print(USAGE)
        return 0
    request = _parse(words)
    from proton.files.detect import open_profile  # readers load msgpack: not for --help
    from proton.files.export import EXPORTS, export_profile
    from proton.files.write import write_file, write_profile

    output_format = request.output_format or _format_of(request.destination)
    if output_format not in EXPORTS and request.metric is not None:
        raise UsageError(f"--metric has no meaning for {output_format!r}, which holds all of them")
    with busy(f"reading {request.source}"):
        profile = open_profile(request.source)
    notes: list[str] = []
    with busy(f"writing {request.destination}"):
        if output_format in EXPORTS:
            if isinstance(profile, TraceProfile) and not EXPORTS[output_format].holds_traces:
                profile = _summed(profile)
                notes.append(f"{request.source} is a trace: its spans were summed by path")
            exported = export_profile(profile, output_format, request.metric)
            notes += exported.notes
            write_file(request.destination, exported.content)
        else:
            write_profile(profile, request.destination, output_format)
    lines = [*profile.warnings, *notes, f"wrote {request.destination}"]
    print(*(f"proton: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def _summed(profile: TraceProfile) -> TreeProfile:
    from proton.analysis.aggregate import tree_of_trace

    return replace(tree_of_trace(profile), trace=None)


def _format_of(destination: str) -> str:
    """The format that a path's suffix names."""
    from proton.files.export import export_of_path, suffixes
    from proton.files.schema import FORMAT_OF_SUFFIX

    known = FORMAT_OF_SUFFIX.get(os.path.splitext(destination)[1].removeprefix("."))
    if (found := known or export_of_path(destination)) is None:
        endings = [*(f".{suffix}" for suffix in FORMAT_OF_SUFFIX), *suffixes()]
        raise UsageError(
            f"{destination}: the suffix names no format; end it in {', '.join(endings)}, "
            "or say --output-format"
        )
    return found


def _parse(words: Sequence[str]) -> Request:
    from proton.files.export import EXPORTS
    from proton.files.schema import FORMATS

    paths: list[str] = []
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag in ("--output-format", "--metric"):
            if not equals and not rest:
                raise UsageError(f"convert: {flag} needs a value; see: proton convert --help")
            options[flag[2:].replace("-", "_")] = value if equals else rest.pop(0)
        elif flag.startswith("-"):
            raise UsageError(f"convert: unknown option {flag!r}; see: proton convert --help")
        else:
            paths.append(flag + equals + value)
    if len(paths) != 2:
        raise UsageError(
            f"convert needs two files and got {len(paths)}; "
            "as in: proton convert run.hatchet_msgpack run.hatchet"
        )
    request = Request(*paths, **options)
    if os.path.realpath(request.source) == os.path.realpath(request.destination):
        raise UsageError(f"{request.destination}: is the input itself; give another name")
    if request.output_format is not None and request.output_format not in (*FORMATS, *EXPORTS):
        raise UsageError.unknown(
            "output format", request.output_format, choices=(*FORMATS, *EXPORTS)
        )
    return request
