"""A digest as Markdown: short tables that fit into a ticket, a chat or a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proton.render.display_names import display_name
from proton.render.units import MISSING, format_count, format_digits, format_time

Entry = Mapping[str, Any]  # an object of the digest; docs/reference/digest.md lists its keys
_LETTERS = 80
_FRAME = "file_function_line"  # folders of Python frames would take all the room


def markdown_lines(digest: Entry) -> list[str]:
    """The lines of a digest, as `digest_of` gives it."""
    lines = [f"# Profile {_code(digest['source'])}", ""]
    lines += [f"- {line}" for line in _facts(digest)]
    for title, table, more in (
        ("Kernels", _kernels(digest["kernels"]), digest["more_kernels"]),
        ("Scopes", _scopes(digest["scopes"]), digest["more_scopes"]),
    ):
        if len(table) > 2:
            lines += ["", f"## {title}", "", *table, *_more(more)]
    if digest["samples"]:
        lines += _samples(digest["samples"])
    if digest["in_kernel"]:
        lines += _in_kernel(digest["in_kernel"])
    return lines


def _facts(digest: Entry) -> list[str]:
    total, ranks = digest["total"], digest["ranks"]
    names = [device["name"] or device["arch"] for device in digest["devices"]]
    said = ", ".join(dict.fromkeys(names)) or "not known"
    facts = [f"device: {said}" + (" (interpreted)" if digest["is_interpreted"] else "")]
    if digest["command"]:
        facts.append(f"command: {_code(' '.join(digest['command']))}")
    what = "GPU time" if digest["time_metric"] == "time (ns)" else "time of scopes"
    if digest["is_interpreted"] and what == "GPU time":
        what = "time (interpreted)"
    kernels = total["kernels"]
    counted = "" if kernels is None else f", {_count(kernels)} kernel{'s' * (kernels != 1)}"
    facts.append(f"{what}: {format_time(total['time_ns'])}{counted}")
    if total["share_of_peak"] is not None:
        facts.append(f"share of peak: {_share(total['share_of_peak'])}, bound by {total['bound']}")
    if ranks:
        said = f"ranks: {ranks['count']}, values are summed over them"
        if ranks["slowest"]:
            least, median, most, _ = _spread(ranks)
            slowest = ranks["slowest"][0]["rank"]
            said += f"; time of a rank {least} to {most}, median {median}, slowest: rank {slowest}"
        facts.append(said)
    lost = [f"{_count(count)} {kind}" for kind, count in digest["losses"].items() if count]
    facts.append(f"lost: {', '.join(lost) or 'nothing'}")
    facts += [f"warning: {_plain(text)}" for text in digest["warnings"]]
    if digest["more_warnings"]:
        facts.append(f"and {digest['more_warnings']} more warnings")
    return facts


def _kernels(rows: Iterable[Entry]) -> list[str]:
    return _table(
        ("kernel", "time", "share", "count", "avg", "p99", "TFLOP/s", "GB/s", "of peak", "bound"),
        (
            (
                _code(row["name"]),
                format_time(row["time_ns"]),
                _share(row["share"]),
                _count(row["count"]),
                format_time(row["avg_ns"]),
                format_time(row["p99_ns"]),
                _scaled(row["flop_per_s"], 1e12),
                _scaled(row["byte_per_s"], 1e9),
                _share(row["share_of_peak"]),
                row["bound"] or MISSING,
            )
            for row in rows
        ),
    )


def _scopes(rows: Sequence[Entry]) -> list[str]:
    has_ranks = any(row["ranks"] for row in rows)
    titles = ("scope", "time", "share", "kernels")
    return _table(
        (*titles, "rank min", "median", "max", "slowest") if has_ranks else titles,
        (
            (
                _code(" / ".join(display_name(name, frame_format=_FRAME) for name in row["path"])),
                format_time(row["time_ns"]),
                _share(row["share"]),
                _count(row["kernels"]),
                *(_spread(row["ranks"]) if has_ranks else ()),
            )
            for row in rows
        ),
    )


def _spread(ranks: Entry | None) -> tuple[str, ...]:
    if ranks is None:
        return (MISSING,) * 4
    times = (format_time(ranks[key]) for key in ("min_ns", "median_ns", "max_ns"))
    return (*times, str(ranks["slowest"]))


def _samples(part: Entry) -> list[str]:
    lines = ["", "## Samples", "", f"{_count(part['count'])} samples. Why warps waited:", ""]
    lines += [
        f"- {each['name']} {_share(each['share'])}: {each['meaning']} Helps: {each['remedy']}"
        for each in part["reasons"]
    ]
    table = _table(
        ("line", "kernel", "samples", "share", "reasons"),
        (
            (
                _code(f"{each['file']}:{each['line'] or '?'}"),
                _code(each["kernel"]),
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
    return f"{_count(kernel['launches'])} launches"


def _in_kernel(part: Entry) -> list[str]:
    lines = ["", "## Inside kernels"]
    for kernel in part["kernels"]:
        lines += [
            "",
            f"{_code(kernel['kernel'])}, mode {_code(kernel['mode'] or 'default')}, "
            f"{_launches(kernel)}, {_count(kernel['recorded_warps'])} warps",
        ]
        lost = [f"{_count(count)} {kind}" for kind, count in kernel["losses"].items()]
        if lost:
            lines.append(f"lost: {', '.join(lost)}")
        if kernel["harm"]:
            lines.append(f"recording changed it: {', '.join(kernel['harm'])}")
        rows = (
            (
                _code(f"{'  ' * region['depth']}{region['name']}"),
                _count(region["count"]),
                f"{region['cycles']:.0f}",
                _share(region["share"]),
            )
            for region in kernel["regions"]
        )
        if kernel["regions"]:
            lines += ["", *_table(("region", "count", "cycles", "share"), rows)]
        lines += _more(kernel["more_regions"])
    return lines + _more(part["more_kernels"])


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(titles)} |", f"|---{'|---:' * (len(titles) - 1)}|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _more(count: int) -> list[str]:
    return ["", f"and {format_count(count)} more"] if count else []


def _plain(text: str) -> str:
    """Text that Markdown leaves alone: one line, without marks of tables."""
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    if len(shown) > _LETTERS:
        shown = f"{shown[: _LETTERS // 2]}...{shown[-_LETTERS // 2 + 3 :]}"
    return "`" + shown.replace("`", "'").replace("|", "\\|") + "`"


def _share(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %"


def _count(count: float | None) -> str:
    return MISSING if count is None else format_count(count)


def _scaled(value: float | None, scale: float) -> str:
    if value is None:
        return MISSING
    return "<0.001" if 0 < abs(value) < 1e-3 * scale else format_digits(value / scale)
