"""`proton-viewer`: shows a profile in the terminal. Also `python -m proton.viewer`."""

from __future__ import annotations

import argparse
import codecs
import math
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, TextIO

from proton._version import __version__
from proton.analysis.folding.work_groups import BY
from proton.analysis.prepare import prepare
from proton.cli import guard, without_collection
from proton.cli.parser import Parser
from proton.cli.progress import busy
from proton.errors import UsageError
from proton.files.detect import open_profile
from proton.model.profile import Profile, TreeProfile
from proton.render.display_names import FORMATS, printable
from proton.render.text.style import ASCII, UNICODE, Style
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions

PROGRAM = "proton-viewer"

_METRICS = """\
metrics:
  NAME                  as measured: what -l lists, in any case, without unit
  time/UNIT             time in s, ms, us or ns; likewise cpu_time/UNIT
  self_cpu_time/UNIT    cpu_time of an operator or scope without those inside
  avg_time/UNIT         time divided by count; avg_cpu_time/UNIT by the entries
                        of a scope or the calls of an operator
  min_time/UNIT         shortest run of a kernel; likewise max_time; p50_time
                        and p99_time: half and 99 % of the runs took no longer
  rank_min/UNIT         least time of a rank, of merged profiles; likewise
                        rank_median, rank_max; slowest_rank: which it was
  grid, block           blocks of a launch, threads of a block
  regs, shared          registers of a thread, shared memory of a block
  occupancy             share of a multiprocessor's warps that a launch may
                        fill, by its block, registers and shared memory
  flop/s, byte/s        rates; gflop/s and tflop/s are larger units, tflop16/s
                        counts operations of 16 bits only (8, 16, 32, 64)
  NAME/%                share of the total
  util                  least time this device needs for the flops and bytes,
                        divided by the time taken: 1 is the best possible
  flops_util            the same by flops alone; bytes_util: by bytes alone
  bound                 which of the two is the limit: compute or memory
  intensity             flops per byte
  num_samples           looks at a warp, of profiles with mode="pcsampling"
  stalled_REASON        those in which the warp waited for this reason
  headroom/UNIT         time taken above the least time: what could be saved
  A dash was not measured; n/a needs a peak rate that is not known.

examples:
  proton-viewer run.hatchet
  proton-viewer -m time/ms,time/%,util run.hatchet
  proton-viewer -m time/ms -i ".*matmul.*" run.hatchet
  proton-viewer -m time/ms --print-sorted run.hatchet
  proton-viewer -m time/us --diff-profile before.hatchet after.hatchet
  proton-viewer -m num_samples,stalled_long_scoreboard run.hatchet
  proton-viewer --source kernel.py run.hatchet
  proton-viewer --sass matmul_kernel run.hatchet
  proton-viewer --regions run.hatchet
  proton-viewer --regions matmul_kernel run.hatchet
  proton-viewer --group-by module run.hatchet
  proton-viewer --group-by op -i ".*h.0.attn" run.hatchet
  proton-viewer --origins run.hatchet
  proton-viewer --json run.hatchet | jq .kernels[0]
  proton-viewer --markdown run.hatchet
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the viewer; returns the exit code: 0 done, 1 wrong file, 2 wrong call."""
    _prepare_streams()
    words = sys.argv[1:] if argv is None else argv
    try:
        with without_collection():
            return guard(PROGRAM, lambda: _run(words), shown=printable)
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str]) -> int:
    arguments = make_parser().parse_args(argv)
    options = _options(arguments)
    if arguments.file is None and os.path.isfile(arguments.regions or ""):
        arguments.file, arguments.regions = arguments.regions, ""  # a kernel may be left out
    if arguments.file is None:
        raise _no_file(arguments)
    style = style_for(arguments.color, sys.stdout)
    profile = prepare(_open(arguments.file))
    lines = [*_lines(arguments, profile, options, style), ""]
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()
    return 0


def _no_file(arguments: argparse.Namespace) -> UsageError:
    """Says so of an option that took the file for its own."""
    for option, what in (("source", "PATH"), ("sass", "KERNEL")):
        taken = getattr(arguments, option)
        if taken is not None and os.path.isfile(taken):
            return UsageError(
                f"no file to show: --{option} took {taken!r} for its {what}; "
                f"write proton-viewer --{option} {what} {taken}"
            )
    return UsageError("no file to show; give a profile, e.g. proton-viewer run.hatchet")


def _lines(
    arguments: argparse.Namespace, profile: TreeProfile, options: ViewOptions, style: Style
) -> list[str]:
    """What was asked for. Views that are rare are imported when they are wanted."""
    if arguments.group_by is not None:
        from proton.render.text.group_table import group_view

        form = "json" if arguments.json else "markdown" if arguments.markdown else "text"
        options = replace(options, fold_numbered=arguments.fold == "numbered")  # only if asked for
        return group_view(profile, arguments.group_by, options, style, form)
    if arguments.json or arguments.markdown:
        return _digest(profile, as_json=arguments.json, with_autotune=arguments.with_autotune)
    full, is_program = options.full, options.without_autotune
    if arguments.list:
        from proton.render.text.table import metric_lines

        return metric_lines(profile, style, without_autotune=is_program)
    if arguments.source is not None:
        from proton.render.text.annotated_source import annotated_source

        return annotated_source(
            profile, arguments.source, style, full=full, without_autotune=is_program
        )
    if arguments.sass is not None:
        from proton.render.text.sass import hot_instructions

        return hot_instructions(
            profile, arguments.sass, style, full=full, without_autotune=is_program
        )
    if arguments.regions is not None:
        from proton.render.text.region_tables import region_tables

        return region_tables(
            profile, arguments.regions, style, full=full, without_autotune=is_program
        )
    if arguments.origins:
        from proton.render.text.origin_tables import origin_tables

        return origin_tables(profile, style, full=full, without_autotune=is_program)
    against = None if arguments.diff_profile is None else prepare(_open(arguments.diff_profile))
    return view_lines(profile, options, style, against)


def _digest(profile: TreeProfile, *, as_json: bool, with_autotune: bool) -> list[str]:
    from proton.render.text.digest import digest_of
    from proton.render.text.digest_markdown import markdown_lines

    digest = digest_of(profile, with_autotune=with_autotune)
    if not as_json:
        return markdown_lines(digest)
    import json

    return [json.dumps(digest, indent=2, allow_nan=False)]


def _open(path: str) -> Profile:
    if not path:
        raise UsageError("the name of the file is empty")
    with busy(f"reading {path}"):
        return open_profile(path)


class _Parser(Parser):
    """A parser that says what to do with a second file."""

    def error(self, message: str) -> NoReturn:
        words = message.removeprefix("unrecognized arguments: ").split()
        if not message.startswith("unrecognized") or any(word.startswith("-") for word in words):
            super().error(message)
        raise UsageError(
            f"{message}; one profile is shown: --diff-profile OTHER takes a second away from it, "
            "proton report shows several"
        )


def make_parser() -> Parser:
    """The words of the command."""
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [options] FILE",
        description="Show a profile in the terminal: contexts as a tree, with what they measured.",
        epilog=_METRICS,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="profile: hatchet, msgpack, trace, a .part_N set")
    add("-l", "--list", action="store_true", help="list the metrics of the file and stop")
    add("-m", "--metrics", metavar="A,B", help="what to show (default: time and samples, or "
        "the first metric)")  # fmt: skip
    add("-i", "--include", metavar="RE", help="only contexts whose name matches from its start, "
        "what is below them and the path to them")  # fmt: skip
    add("-e", "--exclude", metavar="RE",
        help="leave out contexts whose name matches, and what is below them")  # fmt: skip
    add("-t", "--threshold", metavar="F", help="only contexts whose first metric is F or more")
    add("-d", "--depth", metavar="N", help="only the first N levels; ROOT is the first")
    add("-f", "--format", choices=FORMATS, default="full", metavar="FORMAT",
        help="parts of Python frames to show: " + ", ".join(FORMATS))  # fmt: skip
    add("--print-sorted", action="store_true",
        help="a list sorted by the first metric, one row per name")  # fmt: skip
    add("--group-by", choices=BY, metavar="WHAT", help="a table by module, op, kernel or line: "
        "time forward and backward, calls; also with --json or --markdown")  # fmt: skip
    add("--sort", metavar="METRIC", help="largest contexts of each parent first, by METRIC, as "
        "on a terminal by the first; recorded: in the order in which they began")  # fmt: skip
    add("--hide", choices=("none", "library"), default="none", metavar="WHAT", help="library: "
        "without frames of installed packages; what they took stands in the row above")  # fmt: skip
    add("--fold", choices=("none", "numbered"), metavar="WHAT", help="numbered: one row step_* for "
        "step_0, step_1, ..., as on a terminal; none: a row each")  # fmt: skip
    add("--diff-profile", "-diff", metavar="OTHER", help="show FILE minus OTHER")
    add("--full", action="store_true",
        help="cut and shorten nothing: whole names, files and kernels")  # fmt: skip
    add("--source", metavar="PATH", help="a source file with the samples of each line in the "
        "margin; the end of its path is enough")  # fmt: skip
    add("--sass", metavar="KERNEL", help="the hottest instructions of a kernel, by address; a part "
        "of its name is enough")  # fmt: skip
    add("--regions", nargs="?", const="", metavar="KERNEL", help="what instrumented kernels "
        "recorded: regions, CTAs, heat maps; a part of a kernel's name is enough")  # fmt: skip
    add("--origins", action="store_true", help="lines of the program that kernels of torch.compile "
        "come from, with their time")  # fmt: skip
    add("--autotune", action="store_true", help="list the configurations that autotuning tried")
    add("--with-autotune", action="store_true", help="count what autotuning ran as part of the "
        "program; all but trees in a pipe or with -m leave it out")  # fmt: skip
    add("--json", action="store_true", help="print a digest for scripts: top kernels, scopes, "
        "losses, reasons, regions")  # fmt: skip
    add("--markdown", action="store_true", help="print the same digest for people and assistants")
    add("--color", choices=("auto", "always", "never"), default="auto", metavar="WHEN",
        help="auto, always or never; auto obeys NO_COLOR")  # fmt: skip
    add("--version", action="version", version=f"{PROGRAM} {__version__} (proton-profiler)",
        help="print the version")  # fmt: skip
    parser.add_help_option()
    return parser


def _options(arguments: argparse.Namespace) -> ViewOptions:
    if arguments.group_by is None:
        _refuse_beside_digest(arguments)
    else:
        _refuse_beside_groups(arguments)
    views = [name for name in ("source", "sass", "regions") if getattr(arguments, name) is not None]
    views += ["origins"] * arguments.origins
    if len(views) > 1:
        raise UsageError(f"--{views[0]} and --{views[1]} are two views; give one of them")
    if arguments.include is not None and arguments.exclude is not None:
        raise UsageError("--include and --exclude exclude each other; give one of them")
    metrics = [] if arguments.metrics is None else arguments.metrics.split(",")
    if any(not metric.strip() for metric in metrics):
        raise UsageError(
            f"--metrics {arguments.metrics!r} has an empty name; write e.g. time/ms,util"
        )
    # Whoever names metrics, or reads the output by a program, gets the tree as it was recorded.
    is_for_people = sys.stdout.isatty() and not metrics
    return ViewOptions(
        metrics=metrics,
        include=arguments.include,
        exclude=arguments.exclude,
        threshold=_number(arguments.threshold),
        depth=_whole(arguments.depth),
        frame_format=arguments.format,
        full=arguments.full,
        is_sorted=arguments.print_sorted,
        autotune=arguments.autotune,
        sort=_sort(arguments.sort, is_for_people=is_for_people),
        without_autotune=(is_for_people or _is_ours(arguments)) and not arguments.with_autotune,
        says_autotune=sys.stdout.isatty() == bool(metrics) and not arguments.with_autotune,
        without_library=arguments.hide == "library",
        fold_numbered=_folds(arguments, is_for_people=is_for_people),
        is_for_people=is_for_people,
    )


def _folds(arguments: argparse.Namespace, *, is_for_people: bool) -> bool:
    """Whether numbered siblings are one row. Who looks for a name may look for one of them."""
    if arguments.fold is not None:
        return bool(arguments.fold == "numbered")
    return is_for_people and arguments.include is None and arguments.exclude is None


def _sort(asked: str | None, *, is_for_people: bool) -> str | None:
    """The metric to sort a tree by: empty for the first that is shown, None for as recorded."""
    if asked is None:
        return "" if is_for_people else None
    return None if asked == "recorded" else asked


def _refuse_beside_digest(arguments: argparse.Namespace) -> None:
    """A digest is of the whole profile and has a shape of its own."""
    wanted = [name for name in ("json", "markdown") if getattr(arguments, name)]
    if not wanted:
        return
    switches = ["list", "print_sorted", "autotune", "full", "origins"]
    filters = [
        "sort",
        "fold",
        "metrics",
        "include",
        "exclude",
        "threshold",
        "depth",
        "diff_profile",
    ]
    views = ["source", "sass", "regions"]
    others = wanted[1:] + [name for name in switches if getattr(arguments, name)]
    others += [name for name in filters + views if getattr(arguments, name) is not None]
    others += ["hide"] * (arguments.hide != "none")
    if others:
        other = others[0].replace("_", "-")
        raise UsageError(f"--{wanted[0]} is a digest of the whole profile; leave out --{other}")


def _is_ours(arguments: argparse.Namespace) -> bool:
    """Whether a view is of no other tool's shape, so that it need not be as it was recorded."""
    views = (arguments.group_by, arguments.source, arguments.sass, arguments.regions)
    return (
        arguments.json
        or arguments.markdown
        or arguments.origins
        or any(view is not None for view in views)
    )


def _refuse_beside_groups(arguments: argparse.Namespace) -> None:
    """A table by module, operator, kernel or line has columns and an order of its own."""
    switches = ["list", "print_sorted", "autotune", "origins"]
    values = ["sort", "metrics", "threshold", "depth", "diff_profile"]
    values += ["source", "sass", "regions"]
    others = [name for name in switches if getattr(arguments, name)]
    others += [name for name in values if getattr(arguments, name) is not None]
    others += ["hide"] * (arguments.hide != "none")
    others += ["json"] * (arguments.json and arguments.markdown)
    if others:
        other = others[0].replace("_", "-")
        raise UsageError(f"--group-by is a table with columns of its own; leave out --{other}")


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"threshold {text!r} is not a number; give a value of the first metric")
    return number


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        depth = int(text)
    except ValueError:
        raise UsageError(f"depth {text!r} is not a whole number; give the levels to show") from None
    if depth < 0:
        raise UsageError(f"depth {depth} is negative; give the levels to show, ROOT is the first")
    return depth


def style_for(color: str, out: TextIO) -> Style:
    """What `out` can show, by what it is and by what the user asked for."""
    is_terminal = out.isatty()
    has_color = color == "always" or (
        color == "auto"
        and is_terminal
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
    # What goes to a file or a pipe is cut only if COLUMNS asks for it: somebody may search it.
    columns = os.environ.get("COLUMNS", "")
    width = shutil.get_terminal_size().columns if is_terminal or columns.isdigit() else None
    try:
        "├─⋯■≥█▏░▂".encode(out.encoding or "ascii")
        glyphs = UNICODE
    except (UnicodeEncodeError, LookupError):
        glyphs = ASCII
    return Style(color=has_color, width=width or None, glyphs=glyphs)


def _prepare_streams() -> None:
    """Let names that the terminal's encoding lacks show as escapes, not as a traceback."""
    codecs.register_error("proton-escapes", _escapes)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="proton-escapes")


def _escapes(error: UnicodeError) -> tuple[str | bytes, int]:
    """Escapes as Python writes them; marks in tables stay one column wide."""
    replaced, end = codecs.backslashreplace_errors(error)
    return str(replaced).replace("\\u2026", "*").replace("\\xb1", "~"), end


if __name__ == "__main__":
    sys.exit(main())
