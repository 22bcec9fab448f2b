"""`proton compare BEFORE AFTER`: what became slower or faster, with an exit status for gates."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proton.cli import without_collection
from proton.cli.parser import Option, Parser
from proton.cli.progress import busy
from proton.errors import FormatError, UsageError

if TYPE_CHECKING:  # readers: not for --help
    from proton.model.profile import TreeProfile
    from proton.render.page.diff import DiffChange, DiffPart
    from proton.render.text.style import Style

USAGE = "BEFORE AFTER [--fail-over PERCENT] [--json]"
DESCRIPTION = """\
Tells which kernels became slower or faster from BEFORE to AFTER, with an interval of 95 %
confidence for each, and what is new or gone. BEFORE and AFTER are profiles of any format of proton,
or folders with several recordings of the same program: how these differ is the best measure of
chance. Runs are compared, not totals: it does not matter which one recorded more steps.

exit status:
  0   no regression beyond PERCENT, or none was asked for
  1   all kernels together, or one that takes 1 % of the time, are slower by more than PERCENT,
      and the whole interval lies beyond it
  2   a wrong call, or a file that cannot be compared"""

EXAMPLES = """\
examples:
  proton compare before.hatchet after.hatchet
  proton compare main/ branch/ --fail-over 3%      folders with several recordings each
  proton compare a.hatchet b.hatchet --json | jq .total"""

SCHEMA = "proton-compare/1"
ALL = "all kernels"
ALL_SCOPES = "all scopes"
_NO_KERNELS = (
    "no kernel was timed: these are times of scopes on the host, "
    "and nothing tells a change from chance"
)
_MOST_ROWS = 20
_MOST_NAMES = 5
_NAME_ROOM = 100  # columns for names in a file
_NUMBERS_ROOM = 58  # columns that the rest of a row takes
_LEAST_NAME_ROOM = 22


@dataclass(frozen=True, slots=True)
class Outcome:
    """The comparison of two sides, and what a gate makes of it."""

    part: DiffPart
    fail_over: float | None  # as a share; None: there is no gate
    regressions: Sequence[str]  # names of kernels, or ALL

    @property
    def verdict(self) -> str:
        """`regression`, or the verdict on all kernels together."""
        return "regression" if self.regressions else self.part.total.verdict


def add_arguments(parser: Parser) -> None:
    """The words of the command."""
    add = parser.add_argument
    add("files", nargs="*")
    add("--fail-over", action=Option, metavar="PERCENT", needs="a percentage; as in: 3%",
        help="end with status 1 where something is slower by more than this")  # fmt: skip
    add("--json", action="store_true", help="print the comparison for scripts")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; the exit code.

    Raises:
        UsageError: a word is wrong, or the files cannot be compared.
    """
    from proton.cli.viewer import style_for
    from proton.render.page.pack import to_json

    if len(arguments.files) != 2:
        raise UsageError(
            f"compare needs two profiles and got {len(arguments.files)}; "
            "as in: proton compare before.hatchet after.hatchet"
        )
    before, after = arguments.files
    fail_over = None if arguments.fail_over is None else parse_percent(arguments.fail_over)
    try:
        with without_collection(), busy(f"comparing {before} and {after}"):
            outcome = compare(before, after, fail_over)
    except FormatError as error:  # status 1 says regression, and nothing else
        raise UsageError(str(error)) from error
    if arguments.json:
        sys.stdout.write(to_json(to_object(outcome)).decode() + "\n")
    else:
        sys.stdout.write("\n".join([*lines_of(outcome, style_for("auto", sys.stdout)), ""]))
    return 1 if outcome.regressions else 0


def parse_percent(text: str) -> float:
    """The share that `3%` or `3` stands for.

    Raises:
        UsageError: it is no percentage.
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{text!r} is no percentage to fail over; give one, as in: 3%")
    return value / 100


def compare(before: str, after: str, fail_over: float | None) -> Outcome:
    """Compare two profiles, or two folders of repeated recordings.

    Raises:
        FormatError: one cannot be read, or no kernel was timed in them.
    """
    from proton.analysis.gate import is_regression, regressions, worst_first
    from proton.render.page.diff import diff_part

    old, old_repeats = open_side(before)
    new, new_repeats = open_side(after)
    part = diff_part(old, new, (old_repeats, new_repeats))
    if part is None:
        raise FormatError(
            f"{before}, {after}: no kernel was timed in them, so there is nothing to compare; "
            "record programs that launch kernels"
        )
    part = replace(part, kernels=worst_first(part.kernels))
    failed: list[str] = []
    if fail_over is not None:
        whole_ns = 0.0 if part.total.after is None else part.total.after.total_ns
        timed = [(one, 0.0 if one.after is None else one.after.total_ns) for one in part.kernels]
        failed = [ALL] if is_regression(part.total, fail_over) else []
        failed += [one.name for one in regressions(timed, whole_ns, fail_over)]
    return Outcome(part, fail_over, failed)


def open_side(path: str) -> tuple[TreeProfile, Sequence[TreeProfile]]:
    """A profile as views show it, without autotuning; and the recordings of a folder one by one.

    Raises:
        FormatError: a file cannot be read, nothing was recorded in it, or it is of another kind
            than the others.
    """
    from proton.analysis.prepare import prepare
    from proton.analysis.tuning_work import without_tuning
    from proton.files.detect import open_profile
    from proton.files.rank_files import find_files
    from proton.model.merge import merge_profiles

    paths = find_files([path]) if os.path.isdir(path) else [path]
    profiles = [open_profile(each) for each in paths]
    if len({type(each) for each in profiles}) > 1:
        raise FormatError(f"{path}: holds trees and traces; compare them apart")
    whole = profiles[0] if len(profiles) == 1 else merge_profiles(profiles, path)
    repeats = profiles if len(profiles) > 1 else []
    shown, *each = (without_tuning(prepare(one)).profile for one in (whole, *repeats))
    return shown, each


def to_object(outcome: Outcome) -> dict[str, object]:
    """The comparison for scripts: a page's diff, and what the gate says."""
    part = outcome.part
    return {
        "schema": SCHEMA,
        "verdict": outcome.verdict,
        "fail_over": outcome.fail_over,
        "regressions": outcome.regressions,
        **{name: getattr(part, name) for name in part.__slots__},
    }


def lines_of(outcome: Outcome, style: Style) -> list[str]:
    """The comparison for a terminal: a table, what is new or gone, and the verdict."""
    from proton.render.text.kernel_remarks import wrapped
    from proton.render.text.style import RED

    part = outcome.part
    room = _NAME_ROOM if style.width is None else max(style.width - _NUMBERS_ROOM, _LEAST_NAME_ROOM)
    lines = [f"{part.before.source} -> {part.after.source}", ""]
    lines += (_host_lines if part.is_host else _kernel_lines)(part, style, room)
    for note in part.notes:
        lines += [style.paint(line, RED) for line in wrapped(f"! {note}", style)]
    said = [line for text in _conclusion(outcome) for line in wrapped(text, style)]
    return [*lines, "", *said]


def _kernel_lines(part: DiffPart, style: Style, room: int) -> list[str]:
    """All kernels and each of them, slower ones first; then those of one side only."""
    from proton.render.display_names import cut_names, shown_names
    from proton.render.text.aligned_table import table_lines
    from proton.render.text.kernel_remarks import wrapped
    from proton.render.text.style import DIM, LESS, MORE

    slower = sum(one.verdict == "slower" for one in part.kernels)  # the first; none is left out
    kernels = part.kernels[: max(_MOST_ROWS, slower)]
    names = shown_names(one.name for one in (*part.kernels, *part.new, *part.gone))
    names = dict(zip(names, cut_names(list(names.values()), room), strict=True))
    rows = [_row(f"{ALL}, total", part.total, is_whole=True)]
    rows += [_row(names[one.name], one) for one in kernels]
    looks = {"slower": MORE, "faster": LESS}
    lines = table_lines(
        ("kernel, mean of a run", "before", "after", "change", "", "verdict"),
        rows,
        style,
        align="<>>>><",
        looks=[looks.get(change.verdict, DIM) for change in (part.total, *kernels)],
    )
    if rest := part.kernels[len(kernels) :]:
        verdicts = Counter(one.verdict for one in rest).most_common()
        listed = ", ".join(f"{count} {verdict}" for verdict, count in verdicts)
        lines.append(f"and {len(rest)} more kernel{'s' * (len(rest) != 1)}: {listed}")
    for text in _equal_runs(part):
        lines += wrapped(text, style)
    lines += [""] if part.new or part.gone or part.notes else []
    for what, found in (("new", part.new), ("gone", part.gone)):
        if found:
            lines += wrapped(f"{what}: {_listed([names[one.name] for one in found])}", style)
    return lines


def _host_lines(part: DiffPart, style: Style, room: int) -> list[str]:
    """Of profiles without kernels: the times of scopes on the host, the largest change first."""
    from proton.render.display_names import cut_names, display_name
    from proton.render.text.aligned_table import table_lines

    scopes = part.scopes[:_MOST_ROWS]
    names = cut_names(["/".join(map(display_name, scope.path)) for scope in scopes], room)
    rows = [_host_row(ALL_SCOPES, part.total)]
    rows += [_host_row(name, scope) for name, scope in zip(names, scopes, strict=True)]
    titles = ("scope, total on the host", "before", "after", "change", "")
    lines = table_lines(titles, rows, style, align="<>>><")
    if more := len(part.scopes) - len(scopes) + part.more_scopes:
        lines.append(f"and {more} more scope{'s' * (more != 1)}")
    return [*lines, ""] if part.notes else lines


def _host_row(name: str, change: DiffChange) -> tuple[str, ...]:
    """A scope that both have stands with its change, another with what became of it."""
    from proton.render.units import MISSING, format_change, format_time

    sides = (change.before, change.after)
    old, new = (None if side is None else side.total_ns for side in sides)
    is_in_both = bool(old) and new is not None
    share = format_change(change.change_ns / old) if old and is_in_both else MISSING
    return (name, format_time(old), format_time(new), share, "" if is_in_both else change.verdict)


def _row(name: str, change: DiffChange, *, is_whole: bool = False) -> tuple[str, ...]:
    """All kernels stand with the time that each file has, a kernel with that of one run."""
    from proton.render.text.verdicts import shares_of
    from proton.render.units import format_time

    sides = (change.before, change.after)
    times = [
        None if side is None else side.total_ns if is_whole else side.mean_ns for side in sides
    ]
    share, half = shares_of(change)
    shown = [format_time(time_ns) for time_ns in times]
    return (name, *shown, share, half, change.verdict)


def _equal_runs(part: DiffPart) -> list[str]:
    """Why all kernels changed otherwise than their times say; nothing where they did not."""
    from proton.render.units import format_digits

    total, ratio = part.total, part.runs_ratio
    if total.before is None or total.expected_ns in (None, total.before.total_ns):
        return []
    said = f"{ALL}: times are those of the files, the change is at equal runs"
    if ratio != 1:
        return [f"{said}: after has {format_digits(ratio)} times as many"]
    return [f"{said} of kernels in both"]


def _conclusion(outcome: Outcome) -> list[str]:
    """One sentence on the whole, and one on how to know more where too little is known."""
    from proton.render.text.verdicts import shares_of

    part, fail_over = outcome.part, outcome.fail_over
    limit = "" if fail_over is None else f"{100 * fail_over:.3g} %"
    if outcome.regressions:
        by_name = {ALL: part.total} | {one.name: one for one in part.kernels}
        texts = [f"{name} {' '.join(shares_of(by_name[name]))}" for name in outcome.regressions]
        return [f"regression beyond {limit}: {_listed(texts)}"]
    lines = [] if fail_over is None else [f"no regression beyond {limit}"]
    if part.is_host:
        return [*lines, _NO_KERNELS]
    if part.total.verdict == "not enough":
        lines.append(
            "too little is known of single runs to judge all kernels: give a folder with three or "
            "more recordings for each side, or record phases"
        )
    return lines or [f"{ALL}: {part.total.verdict}"]


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMES
    return ", ".join(texts[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
