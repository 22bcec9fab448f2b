"""The formats of other tools that a profile can be written in but not read back from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from proton.errors import UsageError
from proton.files.export.stacks import Exported
from proton.model.profile import Profile


@dataclass(frozen=True, slots=True)
class Format:
    """How files of a format end, what writes it, and whether it can hold a timeline."""

    suffixes: tuple[str, ...]
    writer: str  # module:function of (profile, metric) -> Exported
    holds_traces: bool = False


EXPORTS = {
    "speedscope": Format(
        (".speedscope.json", ".speedscope"), "speedscope:export", holds_traces=True
    ),
    "pprof": Format((".pprof", ".pb.gz"), "pprof:export"),
    "collapsed": Format((".collapsed", ".folded"), "stacks:export_collapsed"),
    "csv": Format((".csv",), "table:export_csv", holds_traces=True),
    "parquet": Format((".parquet",), "table:export_parquet", holds_traces=True),
}


def export_of_path(path: str | os.PathLike[str]) -> str | None:
    """The format that the end of `path` names, or None."""
    name = os.fspath(path)
    for export, known in EXPORTS.items():
        if name.endswith(known.suffixes):
            return export
    return None


def export_profile(profile: Profile, export: str, metric: str | None = None) -> Exported:
    """`profile` in the format called `export`.

    Args:
        profile: One with a tree, or with a trace where the format holds those.
        export: One of EXPORTS.
        metric: The metric to show, for formats of one; by default the time.

    Raises:
        UsageError: There is no such format, or it has no use for a metric.
        MetricNotFound: There is no such metric.
        PackageMissing: The format needs a package that is not installed.
    """
    if (known := EXPORTS.get(export)) is None:
        raise UsageError.unknown("format", export, choices=EXPORTS)
    module, _, function = known.writer.partition(":")
    writer = getattr(import_module(f"proton.files.export.{module}"), function)
    exported: Exported = writer(profile, metric)
    return exported


def suffixes() -> Iterable[str]:
    """How the files of every format here end."""
    return (suffix for known in EXPORTS.values() for suffix in known.suffixes)
