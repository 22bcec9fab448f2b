"""Parquet: the table of a profile with typed columns. Needs pyarrow, which is loaded when used.

What the profile says of itself (losses, device, command) stands as JSON in the file's metadata
under the key `proton`.
"""

from __future__ import annotations

import io
import json
from typing import Any

from proton.errors import PackageMissing
from proton.files.export.columns import Cell, columns_of
from proton.files.export.comma_separated import refuse_metric
from proton.files.export.stacks import Exported
from proton.files.schema import PROTON_KEY
from proton.files.summary import device_map, summary_object
from proton.model.profile import TraceProfile, TreeProfile

_INT64 = range(-(2**63), 2**63)


def export(profile: TreeProfile | TraceProfile, metric: str | None = None) -> Exported:
    """`profile` as Parquet.

    Raises:
        PackageMissing: pyarrow is not installed.
        UsageError: A metric was picked, but all have their column.
    """
    refuse_metric(metric)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise PackageMissing(
            "Parquet", "pyarrow", remedy='pip install "proton-profiler[parquet]"'
        ) from None
    arrays = {name: _array(pyarrow, name, cells) for name, cells in columns_of(profile).items()}
    said = summary_object(profile) | {"devices": device_map(profile)}
    table = pyarrow.table(arrays).replace_schema_metadata({PROTON_KEY: json.dumps(said)})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return Exported(out.getvalue())


def _array(pyarrow: Any, name: str, cells: list[Cell]) -> Any:
    """A column of one type: whole numbers, numbers, lists of numbers, or texts."""
    known = [cell for cell in cells if cell is not None]
    if not known and name == "file":
        return pyarrow.array(cells, pyarrow.string())
    if all(isinstance(cell, int) and cell in _INT64 for cell in known):
        return pyarrow.array(cells, pyarrow.int64())
    if all(isinstance(cell, int | float) for cell in known):
        numbers = [float(cell) if isinstance(cell, int | float) else None for cell in cells]
        return pyarrow.array(numbers, pyarrow.float64())
    if all(isinstance(cell, tuple) for cell in known):
        return pyarrow.array(cells, pyarrow.list_(pyarrow.float64()))
    return pyarrow.array([_text(cell) for cell in cells], pyarrow.string())


def _text(cell: Cell) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)
