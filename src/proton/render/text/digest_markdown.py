"""A digest as Markdown: short tables that fit into a ticket, a chat or a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proton.analysis.whole_rates import NO_WIDTH, NO_WORK
from proton.model.metric import TIME_NS
from proton.render.display_names import cut_middle, cut_names, display_name
from proton.render.text.head import work_time
from proton.render.units import MISSING, format_count, format_digits, format_time

Entry = Mapping[str, Any]  # an object of the digest; docs/reference/digest.md lists its keys
_LETTERS = 80
_MOST_REMARKED = 3  # kernels that one remark names
_FRAME = "file_function_line"  # folders of Python frames would take all the room


def markdown_lines(digest: Entry) -> list[str]:
    """The lines of a digest, as `digest_of` gives it."""
    lines = [f"# Profile {code(digest['source'])}", ""]
    lines += [f"- {line}" for line in _facts(digest)]
    for title, table, more in (
        ("Kernels", _kernels(digest["kernels"]), digest["more_kernels"]),
        ("Scopes", _scopes(digest["scopes"]), digest["more_scopes"]),
        ("Modules", _groups(digest["modules"], "module"), digest["more_modules"]),
        ("Operators", _groups(digest["operators"], "operator"), digest["more_operators"]),
    ):
        if len(table) > 2:
            lines += ["", f"## {title}", "", *table, *_more(more)]
    lines += _origins(digest["kernels"])
    if digest["samples"]:
        lines += _samples(digest["samples"])
    if digest["in_kernel"]:
        lines += _in_kernel(digest["in_kernel"])
    return lines


def _facts(digest: Entry) -> list[str]:
    total, ranks = digest["total"], digest["ranks"]
    facts = [f"device: {_plain(digest['device']) or 'not known'}"]
    if digest["command"]:
        facts.append(f"command: {code(' '.join(digest['command']))}")
    what = "CPU time" if digest["operators"] else "time of scopes"
    if digest["time_metric"] == TIME_NS:
        what = work_time(is_interpreted=digest["is_interpreted"])
    kernels = total["kernels"]
    counted = "" if kernels is None else f", {_count(kernels)} kernel{'s' * (kernels != 1)}"
    facts.append(f"{what}: {format_time(total['time_ns'])}{counted}")
    if by_device := digest["by_device"]:
        each = [
            f"{_plain(device['name'])} {format_time(device['time_ns'])}" for device in by_device
        ]
        facts.append(f"time by device: {', '.join(each)}")
    if tuning := digest["autotuning"]:
        took = f"{format_time(tuning['time_ns'])} ({_share(tuning['share'])} of the recorded time)"
        facts.append(f"autotuning took {took}, left out below; --with-autotune counts it")
    facts += _peak(total)
    if ranks:
        said = f"ranks: {ranks['count']}, values are summed over them"
        if ranks["slowest"]:
            least, median, most, _ = _spread(ranks)
            slowest = ranks["slowest"][0]["rank"]
            said += f"; time of a rank {least} to {most}, median {median}, slowest: rank {slowest}"
        facts.append(said)
    if steps := digest["steps"]:
        facts.append(_steps(steps, is_interpreted=digest["is_interpreted"]))
    lost = [f"{_count(count)} {kind}" for kind, count in digest["losses"].items()]
    nothing = "nothing" if digest["says_losses"] else "not said by the file"
    facts.append(f"lost: {', '.join(lost) or nothing}")
    facts += [f"warning: {_plain(text)}" for text in digest["warnings"]]
    if digest["more_warnings"]:
        facts.append(f"and {digest['more_warnings']} more warnings")
    return facts


def _steps(steps: Entry, *, is_interpreted: bool) -> str:
    median, p90, most = (format_time(steps[key]) for key in ("median_ns", "p90_ns", "max_ns"))
    whose = "" if steps["slowest_rank"] is None else f" of rank {steps['slowest_rank']}"
    said = (
        f"steps: {_count(steps['count'])}; time of a step on the host: median {median}, p90 {p90}, "
        f"slowest {most} (step {steps['slowest']}{whose})"
    )
    if steps["work_median_ns"] is None:
        return said
    work = f"{work_time(is_interpreted=is_interpreted)} of a step"
    return f"{said}; {work}: median {format_time(steps['work_median_ns'])}"


def _peak(total: Entry) -> list[str]:
    """How good the whole is, and how sure that is."""
    facts = []
    if total["share_of_peak"] is not None:
        said = f"share of peak: {_at_least(total['is_partial'])}{_share(total['share_of_peak'])}"
        said += f", bound by {total['bound']}" if total["bound"] else ""
        if total["is_partial"]:
            said += f" (work is known for {_share(total['declared_share'])} of the time)"
        facts.append(said)
    elif total["remark"]:
        known = total["declared_share"] if total["remark"] == NO_WORK else None
        why = f"work is known for {_share(known)} of the time" if known else total["remark"]
        facts.append(f"share of peak: not known ({why})")
    if total["headroom_ns"] is not None:
        saved = format_time(total["headroom_ns"])
        facts.append(f"could save at best: {saved}, of the work that is known")
    return facts


def _kernels(rows: Sequence[Entry]) -> list[str]:
    titles = ("kernel", "time", "share", "count", "avg", "p50", "p99", "TFLOP/s", "GB/s")
    names = cut_names([row["shown"] for row in rows], _LETTERS)
    lines = markdown_table(
        (*titles, "of peak", "bound", "could save"),
        (
            (
                code(name),
                format_time(row["time_ns"]),
                _share(row["share"]),
                _count(row["count"]),
                format_time(row["avg_ns"]),
                *(_quantile(row, key) for key in ("p50_ns", "p99_ns")),
                _scaled(row["flop_per_s"], 1e12),
                _scaled(row["byte_per_s"], 1e9),
                _at_least(NO_WIDTH in row["remarks"] and row["share_of_peak"] is not None)
                + _share(row["share_of_peak"]),
                row["bound"] or MISSING,
                format_time(row["headroom_ns"]),
            )
            for name, row in zip(names, rows, strict=True)
        ),
    )
    of_text: dict[str, list[str]] = {}
    for name, row in zip(names, rows, strict=True):
        for text in row["remarks"]:
            of_text.setdefault(text, []).append(name)
    remarks = [f"- {_whose(found, len(rows))}: {_plain(text)}" for text, found in of_text.items()]
    return [*lines, "", *remarks] if remarks else lines


def _origins(rows: Sequence[Entry]) -> list[str]:
    """The lines that kernels of torch.compile come from; nothing where none is known."""
    names = cut_names([row["shown"] for row in rows], _LETTERS)
    found = [(name, row["origins"]) for name, row in zip(names, rows, strict=True)]
    table = markdown_table(
        ("kernel", "line", "operators"),
        (
            (
                code(name),
                code(f"{line['file']}:{line['line']}"),
                _plain(", ".join(line["ops"] or line["nodes"]))
                + (" (backward)" if line["is_backward"] else ""),
            )
            for name, origins in found
            if origins
            for line in origins["lines"]
        ),
    )
    if len(table) <= 2:
        return []
    remarks = [
        f"- {code(name)}: {text}"
        for name, origins in found
        if origins
        for text, is_so in (
            ("lines of all kernels of this name", origins["is_united"]),
            ("there may be more lines: its code came from a cache", origins["is_partial"]),
            (f"and {_count(origins['more_lines'])} more lines", origins["more_lines"]),
        )
        if is_so
    ]
    return ["", "## Origins", "", *table, *(["", *remarks] if remarks else [])]


def _whose(names: Sequence[str], of: int) -> str:
    """The kernels that a remark is on, by number where they are many."""
    if len(names) <= _MOST_REMARKED:
        return ", ".join(map(code, names))
    return "all kernels" if len(names) == of else f"{len(names)} kernels"


def _quantile(row: Entry, key: str) -> str:
    """A quantile; one that is estimated from those of several contexts has a mark."""
    return ("~" if key in row["estimated"] else "") + format_time(row[key])


def _at_least(is_partial: bool) -> str:
    return "≥ " if is_partial else ""


def _scopes(rows: Sequence[Entry]) -> list[str]:
    has_ranks = any(row["ranks"] for row in rows)
    titles = ("scope", "time", "share", "kernels")
    return markdown_table(
        (*titles, "rank min", "median", "max", "slowest") if has_ranks else titles,
        (
            (
                _path(row["path"]),
                format_time(row["time_ns"]),
                _share(row["share"]),
                _count(row["kernels"]),
                *(_spread(row["ranks"]) if has_ranks else ()),
            )
            for row in rows
        ),
    )


def _groups(rows: Sequence[Entry], title: str) -> list[str]:
    """Modules or operators: where time went, forward and backward, and how often they ran.

    It is time of the GPU that is split; where no kernel ran, of the CPU.
    """
    phases = ("forward", "backward", "recompute")
    has_gpu = any(row["time_ns"] for row in rows)
    keys = [f"{phase}_ns" if has_gpu else f"cpu_{phase}_ns" for phase in phases]
    first = (("GPU time", "time_ns"),) if has_gpu else ()
    times = (*first, *zip(phases, keys, strict=True), ("CPU time", "cpu_ns"))
    return markdown_table(
        (title, "share", *(name for name, _ in times), "calls"),
        (
            (
                code(row["name"]) if row["name"] else "outside",
                _share(row["share"]),
                *(format_time(row[key] or None) for _, key in times),
                _count(row["calls"] or None),
            )
            for row in rows
        ),
    )


def _path(names: Sequence[str]) -> str:
    return code(" / ".join(display_name(name, frame_format=_FRAME) for name in names))


def _spread(ranks: Entry | None) -> tuple[str, ...]:
    if ranks is None:
        return (MISSING,) * 4
    times = (format_time(ranks[key]) for key in ("min_ns", "median_ns", "max_ns"))
    return (*times, str(ranks["slowest"]))


def _samples(part: Entry) -> list[str]:
    outside = part["non_user"]
    others = f", and {_count(outside)} outside the program's kernels" if outside else ""
    lines = [
        "",
        "## Samples",
        "",
        f"{_count(part['count'])} samples{others}. Why warps waited:",
        "",
    ]
    lines += [
        f"- {each['name']} {_share(each['share'])}: {each['meaning']} Helps: {each['remedy']}"
        for each in part["reasons"]
    ]
    table = markdown_table(
        ("line", "kernel", "samples", "share", "reasons"),
        (
            (
                code(f"{each['file']}:{each['line'] or '?'}"),
                code(each["shown"]),
                _count(each["samples"]),
                _share(each["share"]),
                ", ".join(f"{why['name']} {_share(why['share'])}" for why in each["reasons"]),
            )
            for each in part["lines"]
        ),
    )
    return lines + (["", *table, *_more(part["more_lines"])] if len(table) > 2 else [])


def _launches(kernel: Entry) -> str:
    if kernel["replays"]:
        return f"read {_count(kernel['launches'])} of {_count(kernel['replays'])} replays"
    launches = kernel["launches"]
    return f"{_count(launches)} launch{'es' * (launches != 1)}"


def _in_kernel(part: Entry) -> list[str]:
    lines = ["", "## Inside kernels"]
    for kernel in part["kernels"]:
        where = f", in {_path(kernel['context'])}" if kernel["context"] else ""
        lines += [
            "",
            f"{code(kernel['kernel'])}, mode {code(kernel['mode'] or 'default')}, "
            f"{_launches(kernel)}, {_count(kernel['recorded_warps'])} warps{where}",
        ]
        lost = [f"{_count(count)} {kind}" for kind, count in kernel["losses"].items()]
        if lost:
            lines.append(f"lost: {', '.join(lost)}")
        if kernel["harm"]:
            lines.append(f"recording changed it: {', '.join(kernel['harm'])}")
        rows = (
            (
                code(f"{'  ' * region['depth']}{region['name']}"),
                _count(region["count"]),
                _count(round(region["cycles"])),
                _share(region["share"]),
            )
            for region in kernel["regions"]
        )
        if kernel["regions"]:
            lines += ["", *markdown_table(("region", "count", "cycles", "share"), rows)]
        lines += _more(kernel["more_regions"])
    return lines + _more(part["more_kernels"])


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Titles and rows as a table; the first column stands to the left."""
    lines = [f"| {' | '.join(titles)} |", f"|---{'|---:' * (len(titles) - 1)}|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _more(count: int) -> list[str]:
    return ["", f"and {format_count(count)} more"] if count else []


def _plain(text: str) -> str:
    """Text that Markdown leaves alone: one line, without marks of tables."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as code: on one line, and cut where it is long."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    shown = cut_middle(shown, _LETTERS)
    return "`" + shown.replace("`", "'").replace("|", "\\|") + "`"


def _share(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %"


def _count(count: float | None) -> str:
    return MISSING if count is None else format_count(count)


def _scaled(value: float | None, scale: float) -> str:
    if value is None:
        return MISSING
    return "<0.001" if 0 < abs(value) < 1e-3 * scale else format_digits(value / scale)
