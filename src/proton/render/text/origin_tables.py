"""Kernels of torch.compile with the lines of the program that they come from, and these by time."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from proton.analysis.measurements import whole_of
from proton.analysis.origins.join_rows import FoundOrigins
from proton.analysis.origins.line_times import KernelTime, LineTime, kernel_times, line_times
from proton.errors import FormatError
from proton.model.metric import TIME_NS
from proton.model.origins import OriginLine
from proton.model.profile import TreeProfile
from proton.render.display_names import cut_end, cut_middle, display_name, printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.head import program_head
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.style import BOLD, Style
from proton.render.units import format_count, format_time

DIVIDED = "divided"
_MOST_ROWS = 20
_OPS_ROOM = 48
_LEAST_OPS = 12
_PLACE_ROOM = 50  # columns of a line for all but its operators
_MEANING = (
    "divided: a kernel has several lines, and each is given an equal share of its time; nobody "
    "measures which of them takes how long"
)
UNITED = "several graphs have a kernel of this name: these are the lines of all of them"
PARTIAL = "its code came from a cache: there may be more lines"


def origin_tables(
    profile: TreeProfile, style: Style, *, full: bool, without_autotune: bool = False
) -> list[str]:
    """Lines by time, then kernels with their lines.

    Raises:
        FormatError: The profile has no kernel whose lines are known.
    """
    kernels = kernel_times(profile)
    if not kernels:
        raise FormatError(
            f"{profile.source}: has no kernel of torch.compile whose lines are known; "
            "open the session before the program compiles"
        )
    if full:
        style = replace(style, width=None)
    most = len(kernels) if full else _MOST_ROWS
    files = shown_files((line.file for each in kernels for line in each.found.lines), full=full)
    lines = program_head(profile, style, without_autotune=without_autotune)
    lines += wrapped(_coverage(profile, kernels), style)
    lines += ["", *_line_table(line_times(kernels), files, style, full=full)]
    for kernel in kernels[:most]:
        lines += ["", *_kernel_lines(kernel, files, style, full=full)]
    if len(kernels) > most:
        lines += ["", f"and {len(kernels) - most} more kernels; --full lists all"]
    if any(kernel.is_divided for kernel in kernels):
        lines += ["", *wrapped(_MEANING, style)]
    return lines


def _coverage(profile: TreeProfile, kernels: Sequence[KernelTime]) -> str:
    known_ns, whole_ns = sum(each.time_ns for each in kernels), whole_of(profile.tree, TIME_NS)
    said = f"lines are known for {format_time(known_ns)}"
    if not whole_ns:
        return said
    return f"{said} of {format_time(whole_ns)} of GPU time ({known_ns / whole_ns:.1%})"


def _line_table(
    times: Sequence[LineTime], files: Mapping[str, str], style: Style, *, full: bool
) -> list[str]:
    most = len(times) if full else _MOST_ROWS
    rows = [
        (
            place_text(each.line, files),
            format_time(each.time_ns),
            DIVIDED if each.is_divided else "",
            format_count(each.kernels),
            _ops(each.line, style, full=full),
        )
        for each in times[:most]
    ]
    titles = ("line", "time", "", "kernels", "operators")
    drawn = table_lines(titles, rows, style, align="<><><", spare=(4, 3))
    more = len(times) - most
    return [*drawn, f"and {more} more lines; --full lists all"] if more > 0 else drawn


def _kernel_lines(
    kernel: KernelTime, files: Mapping[str, str], style: Style, *, full: bool
) -> list[str]:
    name = display_name(kernel.kernel, full=full)
    time = format_time(kernel.time_ns)
    if style.width is not None:
        name = cut_middle(name, max(style.width - len(time) - 3, 12))
    rows = [
        (
            f"  {place_text(line, files)}",
            format_time(kernel.share_ns),
            DIVIDED if kernel.is_divided else "",
            "backward" if line.is_backward else "forward",
            _ops(line, style, full=full),
        )
        for line in kernel.found.lines
    ]
    titles = ("",) * 5
    drawn = table_lines(titles, rows, style, align="<><<<", spare=(4, 3))[1:]
    remarks = [part for text in remarks_of(kernel.found) for part in wrapped(f"  {text}", style)]
    return [f"{style.paint(name, BOLD)}   {time}", *drawn, *remarks]


def remarks_of(found: FoundOrigins) -> list[str]:
    """What to know of the lines of a kernel, a sentence each."""
    more = f"and {found.left_out} more lines, which the file does not keep"
    known = ((UNITED, found.is_united), (PARTIAL, found.is_partial), (more, found.left_out > 0))
    return [text for text, is_so in known if is_so]


def place_text(line: OriginLine, files: Mapping[str, str]) -> str:
    """A line as `file:line in function`: functions are called `forward`, too."""
    function = f" in {line.function}" if line.function else ""
    return printable(f"{files[line.file]}:{line.line}{function}")


def shown_files(files: Iterable[str], *, full: bool) -> dict[str, str]:
    """Files without their folders, as far as that tells them apart."""
    by_name: dict[str, set[str]] = defaultdict(set)
    for file in files:
        by_name[os.path.basename(file)].add(file)
    return {
        file: name if len(alike) == 1 and not full else file
        for name, alike in by_name.items()
        for file in alike
    }


def _ops(line: OriginLine, style: Style, *, full: bool) -> str:
    """The operators; on a narrow terminal the first of them, as places come first."""
    text = printable(", ".join(line.ops or line.nodes))
    room = _OPS_ROOM if style.width is None else min(style.width - _PLACE_ROOM, _OPS_ROOM)
    return text if full else cut_end(text, max(room, _LEAST_OPS))
