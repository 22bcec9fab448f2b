"""CSV: a row a context of a tree, or a row a span of a trace; lists stand as JSON."""

from __future__ import annotations

import csv
import io
import json

from proton.errors import UsageError
from proton.files.export.columns import Cell, columns_of
from proton.files.export.stacks import Exported, loss_notes
from proton.model.profile import TraceProfile, TreeProfile


def export(profile: TreeProfile | TraceProfile, metric: str | None = None) -> Exported:
    """`profile` as CSV in UTF-8 with a line of names on top; what is not known is empty.

    Raises:
        UsageError: A metric was picked, but all have their column.
    """
    refuse_metric(metric)
    columns = columns_of(profile)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(map(_text, column) for column in columns.values()), strict=True))
    return Exported(out.getvalue().encode(), loss_notes(profile))


def refuse_metric(metric: str | None) -> None:
    """Tables hold every metric, so that none can be picked."""
    if metric is not None:
        raise UsageError(f"--metric {metric!r} has no meaning here: a table holds every metric")


def _text(cell: Cell) -> object:
    return json.dumps(cell) if isinstance(cell, tuple) else cell
